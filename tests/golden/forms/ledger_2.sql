PRAGMA application_id = 0x464c4b4c;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE fairleak_accounts (
	name VARCHAR(80) NOT NULL, 
	budget BIGINT NOT NULL, 
	spent BIGINT NOT NULL, 
	PRIMARY KEY (name), 
	CONSTRAINT fairleak_never_overspent CHECK (spent >= 0 AND spent <= budget)
);
INSERT INTO "fairleak_accounts" VALUES('loans',2000000,700000);
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
INSERT INTO "fairleak_entries" VALUES(1,'63a9a804ec473cdc749584fc1bfcd54a7ebe8ccf8afa78c6a1332e8a9736e2fc','{"fairleak":"0.1.0","format":1,"key":"fb05c616c57a8cfb0f21ef13ad885992fdb0e1a1f8d428f4f1881b2c11f708de","kind":"opened","time":"2026-11-23T01:48:00Z"}',NULL,NULL);
INSERT INTO "fairleak_entries" VALUES(2,'d1ca19f8d6bc0b03f9ae23bf056490054dbd91ddfb051121cd87527fbcb58f16','{"another_attribute":false,"budget":2000000,"charged":200000,"columns":{"advantaged":"M","attribute":"sex","id":"person","label":null,"positive":null},"count":4,"count_epsilon":200000,"form":2,"kind":"registered","n":7,"n_positive":null,"name":"loans","seals":{"people":"7b40143d1651d63d953bb8e0b98eec5f2782c01b6b12dc6656246dd6f59c46f7","whole":"7bd1f8baf4060bec815887a5b185e8ac2238bf8648f3426ec6dfc3b555252d4e"},"spent":200000,"time":"2026-11-23T01:48:04Z"}','loans',NULL);
INSERT INTO "fairleak_entries" VALUES(3,'d92e3d1208cbeb2a4173bfe149afd88f19cc83245ab1bbd298cef274a0e4a1d9','{"asker":"team A, model 7","charged":500000,"count":null,"epsilon":500000,"gap":0.1883798986673355,"high":0.6458333929379781,"kind":"answered","low":-0.6458333929379781,"metric":"statistical_parity","n":7,"name":"loans","part":-0.537222683429718,"part_from":[[3,"sum",1.0]],"question":"826375c4531c641f72fa01b7e4d61a31019dd834ee823c20f4f70070d92486cc","size":4.0,"size_from":[[2,"count",1.0]],"spent":700000,"standard_error":0.6458333929379781,"sum":{"epsilon":500000,"reach":16777216,"units":-18026202},"time":"2026-11-23T01:48:12Z","total":-0.375}','loans','826375c4531c641f72fa01b7e4d61a31019dd834ee823c20f4f70070d92486cc');
CREATE TABLE fairleak_ledger (
	id INTEGER NOT NULL CHECK (id = 1), 
	"key" VARCHAR(64) NOT NULL, 
	number INTEGER NOT NULL, 
	hash VARCHAR(64) NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "fairleak_ledger" VALUES(1,'ab79464df5a79ffc784d4a17d8c1d0c63d4ed885f420fc858bba18a2aeb1b835',3,'d92e3d1208cbeb2a4173bfe149afd88f19cc83245ab1bbd298cef274a0e4a1d9');
CREATE TABLE fairleak_questions (
	digest VARCHAR(64) NOT NULL, 
	content BLOB NOT NULL, 
	PRIMARY KEY (digest)
);
INSERT INTO "fairleak_questions" VALUES('826375c4531c641f72fa01b7e4d61a31019dd834ee823c20f4f70070d92486cc',X'789C6360686040800520829181E10090726000001AE50222');
COMMIT;
