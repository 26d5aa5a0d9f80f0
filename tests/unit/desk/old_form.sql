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
INSERT INTO "fairleak_accounts" VALUES('old',2000000,700000);
INSERT INTO "fairleak_accounts" VALUES('plain',1000000,100000);
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
INSERT INTO "fairleak_entries" VALUES(1,'78a74e1b354afa58ff9c0daeb61b36a15fea182fa3ee7b6f0879e07d94c9b336','{"fairleak":"0.1.0","format":1,"key":"51c835705eda8e41cc502f1aebc8f89c659d060068638aadf0046adb15e8b97f","kind":"opened","time":"2026-11-22T23:48:23Z"}',NULL,NULL);
INSERT INTO "fairleak_entries" VALUES(2,'d3de9da48c9fe64228ea934890094e00d1f2bb6cb27e88c0dbe0266a90530f7e','{"another_attribute":false,"budget":2000000,"charged":200000,"columns":{"advantaged":"M","attribute":"sex","id":"person","label":null,"positive":null},"count":3,"count_epsilon":200000,"kind":"registered","n":8,"n_positive":null,"name":"old","seals":{"people":"f5eabf8504806b1934de16bc21352e590d0a8d661dfc37b95894c1a25abad796","whole":"0ab33a6046cccc44321837772e553da5fe120dafd1676dfc4f88bc4719a8f501"},"spent":200000,"time":"2026-11-22T23:48:25Z"}','old',NULL);
INSERT INTO "fairleak_entries" VALUES(3,'2991b8a907d31e4bde888e5b13c2f0b13cf62dde9e0560b29ecfd1c2719691e7','{"asker":"team A","charged":500000,"count":null,"epsilon":500000,"gap":0.22505510648091637,"high":0.6383333802223206,"kind":"answered","low":-0.6383333802223206,"metric":"statistical_parity","n":8,"name":"old","part":-0.37510332465171814,"part_from":[[3,"sum",1.0]],"question":"2f771df8a11ed801297b4802150eae50ddd1ca4838c927820c886d7a006f30f8","size":3.0,"size_from":[[2,"count",1.0]],"spent":700000,"standard_error":0.6383333802223206,"sum":{"epsilon":500000,"reach":16777216,"units":-12586379},"time":"2026-11-22T23:48:28Z","total":0.125}','old','2f771df8a11ed801297b4802150eae50ddd1ca4838c927820c886d7a006f30f8');
INSERT INTO "fairleak_entries" VALUES(4,'592cb5166187989f0e0555398f07701caf869a16ea4e9846043c8eea3b9790aa','{"another_attribute":false,"budget":1000000,"charged":100000,"columns":{"advantaged":null,"attribute":"sex","id":"id","label":null,"positive":null},"count":19,"count_epsilon":100000,"kind":"registered","n":5,"n_positive":null,"name":"plain","seals":{"people":"cc7f32655b05f830135fe6c2e7baa3970225bf810b3e329549b264364aeafefc","whole":"15a56d04ce95567626dd8f0be434134cffe5c935ed76d7c696f23cd79420a7ed"},"spent":100000,"time":"2026-11-22T23:48:31Z"}','plain',NULL);
CREATE TABLE fairleak_ledger (
	id INTEGER NOT NULL CHECK (id = 1), 
	"key" VARCHAR(64) NOT NULL, 
	number INTEGER NOT NULL, 
	hash VARCHAR(64) NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "fairleak_ledger" VALUES(1,'f18fcba4383f1fde53be0a5c23d0a820022c82cb22287cef830c98cf6fbef8cd',4,'592cb5166187989f0e0555398f07701caf869a16ea4e9846043c8eea3b9790aa');
CREATE TABLE fairleak_questions (
	digest VARCHAR(64) NOT NULL, 
	content BLOB NOT NULL, 
	PRIMARY KEY (digest)
);
INSERT INTO "fairleak_questions" VALUES('2f771df8a11ed801297b4802150eae50ddd1ca4838c927820c886d7a006f30f8',X'789C63606860606038C09096F60C483B3040012303C30286593325190055CC0520');
COMMIT;
