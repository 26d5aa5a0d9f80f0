PRAGMA application_id = 0x464C4B4C;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE fairleak_accounts (
	name VARCHAR(80) NOT NULL, 
	budget BIGINT NOT NULL, 
	spent BIGINT NOT NULL, 
	PRIMARY KEY (name), 
	CONSTRAINT fairleak_never_overspent CHECK (spent >= 0 AND spent <= budget)
);
INSERT INTO "fairleak_accounts" VALUES('loans',4000000,2600000);
CREATE TABLE fairleak_entries (
	number INTEGER NOT NULL, 
	hash VARCHAR(64) NOT NULL, 
	text TEXT NOT NULL, 
	account VARCHAR(80), 
	question VARCHAR(64), 
	PRIMARY KEY (number), 
	UNIQUE (hash), 
	FOREIGN KEY(account) REFERENCES fairleak_accounts (name), 
	FOREIGN KEY(question) REFERENCES fairleak_questions (digest)
);
INSERT INTO "fairleak_entries" VALUES(1,'cfdbdd4c63fa301dcd6867bacc863ca4df0d4471e4a93b5b1c664638ffc1d537','{"fairleak":"0.1.0","format":1,"key":"cfb9cf91701af6153d56827bbe0cfbbb9ed670db9f519b7d66e76509f3de517d","kind":"opened","time":"2026-11-20T09:00:00Z"}',NULL,NULL);
INSERT INTO "fairleak_entries" VALUES(2,'3b3c2454de00c036eba69821aa32620c6b08bfffc48570519d93c2693e7f3d17','{"another_attribute":false,"budget":4000000,"charged":500000,"columns":{"advantaged":null,"attribute":"sex","id":"id","label":"ok","positive":null},"count":3,"count_epsilon":500000,"form":2,"kind":"registered","n":8,"n_positive":5,"name":"loans","seals":{"people":"8e30c390e2bae1372195e72ea408488c8b9215f44fcfcf559839280ca7619988","whole":"f014e56d2f69a051005266c500b2d3053a1e74da1f3a938aac4ac749f4f44459"},"spent":500000,"time":"2026-11-20T09:00:01Z"}','loans',NULL);
INSERT INTO "fairleak_entries" VALUES(3,'65f604a1df004ed3c5699ecd4925afa2a67481b1647cb81dfc7e53baff88ede3','{"asker":"team A","charged":300000,"count":null,"epsilon":300000,"gap":-0.49224775632222495,"high":0.5000000596046448,"kind":"answered","low":-0.5000000596046448,"metric":"statistical_parity","n":8,"name":"loans","part":0.9229645431041718,"part_from":[[3,"sum",1.0]],"question":"8609bb6ca5583f6b6e32f787a556a0bb1181174fbe3f5926a01328a8238dea61","size":3.0,"size_from":[[2,"count",1.0]],"spent":800000,"standard_error":0.5000000596046448,"sum":{"epsilon":300000,"reach":14680064,"units":30969551},"time":"2026-11-20T09:00:03Z","total":0.0}','loans','8609bb6ca5583f6b6e32f787a556a0bb1181174fbe3f5926a01328a8238dea61');
INSERT INTO "fairleak_entries" VALUES(4,'9546abfa7a323797f2c823b8b6ff073918e8d034eeb31613ea3cc1f8e5773f0e','{"asker":"team B","charged":0,"count":null,"epsilon":300000,"gap":0.49224775632222495,"high":0.5000000596046448,"kind":"answered","low":-0.5000000596046448,"metric":"statistical_parity","n":8,"name":"loans","part":-0.9229645431041718,"part_from":[[3,"sum",-1.0]],"question":"96cce4e2d47c791c70d9ecbaf75ac2fb2544d0c14be45aef53f37077b37c6144","size":3.0,"size_from":[[2,"count",1.0]],"spent":800000,"standard_error":0.5000000596046448,"sum":null,"time":"2026-11-20T09:00:05Z","total":0.0}','loans',NULL);
INSERT INTO "fairleak_entries" VALUES(5,'b55d6638d99269e3e320032b7dc4a40a7ae51b8b9af94cb75159391bbd4aaf17','{"asker":"team A","charged":900000,"count":{"epsilon":500000,"reach":1,"units":3},"epsilon":400000,"gap":0.9252198139826457,"high":1.0,"kind":"answered","low":-1.0,"metric":"equal_opportunity","n":5,"name":"loans","part":-1.4102637767791748,"part_from":[[5,"sum",1.0]],"question":"8d95d92ec1455d5b647e5b5a5290a2593121ffe4742cdba32c757f9d84d1e889","size":3.0,"size_from":[[5,"count",1.0]],"spent":1700000,"standard_error":1.0,"sum":{"epsilon":400000,"reach":16777216,"units":-47320600},"time":"2026-11-20T09:00:07Z","total":-0.5}','loans','8d95d92ec1455d5b647e5b5a5290a2593121ffe4742cdba32c757f9d84d1e889');
INSERT INTO "fairleak_entries" VALUES(6,'e30a00f8cfcf98df8c5e6da6cae8c742320de2f648c58dbcf0922519eccfaf3d','{"asker":"team A","charged":0,"count":null,"epsilon":300000,"gap":-0.24612387816111247,"high":0.2500000596046448,"kind":"answered","low":-0.2500000596046448,"metric":"statistical_parity","n":8,"name":"loans","part":0.4614822715520859,"part_from":[[3,"sum",0.5]],"question":"fad6886c357c53b16f582611f22edc7732cb2add3f5aab03e68fca166b2f1a31","size":3.0,"size_from":[[2,"count",1.0]],"spent":1700000,"standard_error":0.2500000596046448,"sum":null,"time":"2026-11-20T09:00:09Z","total":0.0}','loans',NULL);
INSERT INTO "fairleak_entries" VALUES(7,'43c41e327ed5f6e360b11e35b420edf647e367b5883ab91ab1fa4ad95e17e2fd','{"asker":"team A","charged":900000,"count":null,"epsilon":900000,"gap":-0.5000000596046448,"high":0.5000000596046448,"kind":"answered","low":-0.5000000596046448,"metric":"statistical_parity","n":8,"name":"loans","part":1.313540229201317,"part_from":[[3,"sum",0.1],[7,"sum",0.9]],"question":"8609bb6ca5583f6b6e32f787a556a0bb1181174fbe3f5926a01328a8238dea61","size":3.0,"size_from":[[2,"count",1.0]],"spent":2600000,"standard_error":0.4367917714659203,"sum":{"epsilon":900000,"reach":14680064,"units":45531268},"time":"2026-11-20T09:00:11Z","total":0.0}','loans','8609bb6ca5583f6b6e32f787a556a0bb1181174fbe3f5926a01328a8238dea61');
INSERT INTO "fairleak_entries" VALUES(8,'f4a914b1a2d3235e1c97b62068acb9b71b678947777a224ff434a962133dea36','{"asker":"team A","charged":0,"count":null,"epsilon":300000,"gap":0.0,"high":5.960464477539063e-08,"kind":"answered","low":-5.960464477539063e-08,"metric":"statistical_parity","n":8,"name":"loans","part":0.0,"part_from":[],"question":"d34a4903c9b741b5821a8f4a3c87d67a9256386ab3a8ada1e0c3310304aaeb6b","size":3.0,"size_from":[[2,"count",1.0]],"spent":2600000,"standard_error":0.0,"sum":null,"time":"2026-11-20T09:00:13Z","total":0.0}','loans',NULL);
INSERT INTO "fairleak_entries" VALUES(9,'d615a12bbb112e09503d7aeb83bdbb21809cacb568fd265d8fe2649a531489fc','{"file":"0bea6bb6d7c44641792c7715a42620c327ea9203fd6d43ddde7e6bb372b008ec","kind":"mismatched","name":"loans","time":"2026-11-20T09:00:15Z"}','loans',NULL);
CREATE TABLE fairleak_ledger (
	id INTEGER NOT NULL CHECK (id = 1), 
	"key" VARCHAR(64) NOT NULL, 
	number INTEGER NOT NULL, 
	hash VARCHAR(64) NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "fairleak_ledger" VALUES(1,'6007bcd32b05fb6c0877529de992b6b1641d7d737f7f06076f0135d7a2b67aa7',9,'d615a12bbb112e09503d7aeb83bdbb21809cacb568fd265d8fe2649a531489fc');
CREATE TABLE fairleak_questions (
	digest VARCHAR(64) NOT NULL, 
	content BLOB NOT NULL, 
	PRIMARY KEY (digest)
);
INSERT INTO "fairleak_questions" VALUES('8609bb6ca5583f6b6e32f787a556a0bb1181174fbe3f5926a01328a8238dea61',X'789C6360000105207600E204206E00E205407C00881F30000023200381');
INSERT INTO "fairleak_questions" VALUES('8d95d92ec1455d5b647e5b5a5290a2593121ffe4742cdba32c757f9d84d1e889',X'789C636000810610C1C880850D00153E0183');
COMMIT;
