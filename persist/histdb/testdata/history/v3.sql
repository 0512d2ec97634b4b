CREATE TABLE history (
	id          INTEGER PRIMARY KEY AUTOINCREMENT,
	command     TEXT NOT NULL,
	cwd         TEXT NOT NULL,
	started_us  INTEGER NOT NULL, -- microseconds since 1970
	duration_us INTEGER NOT NULL, -- -1: unknown, or running
	exit_code   INTEGER,
	exit_signal TEXT NOT NULL,
	actor       TEXT NOT NULL,
	kind        TEXT NOT NULL,
	process     TEXT NOT NULL,
	log_start   INTEGER NOT NULL,
	log_end     INTEGER NOT NULL,
	running     INTEGER NOT NULL,
	stopped     INTEGER NOT NULL DEFAULT 0,
	origin      TEXT NOT NULL DEFAULT ''
);
CREATE INDEX history_running ON history (process) WHERE running = 1;
INSERT INTO history VALUES (1, 'make test' || char(10, 9) || 'echo ''ä''', '/work', 1700000000123456, 1500, 7, 'SIGTERM', 'agent:x/1', 'session', 'abc', 5, 1099511627776, 0, 1, 'me@laptop');
INSERT INTO history VALUES (2, 'ls', '', 1700000001123456, -1, NULL, '', 'person', 'exec', '', 0, 0, 0, 0, '');
INSERT INTO history VALUES (5, 'sleep 1', '', 1700000002123456, -1, NULL, '', '', 'process', 'def', 0, 0, 1, 0, '');
UPDATE sqlite_sequence SET seq = 8 WHERE name = 'history';
PRAGMA user_version = 3;
