package histdb

import (
	"errors"
	"fmt"
	"os"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"tandem/persist/store"
)

// migrations returns SQL statements. Step n upgrades a database of version n to version n+1;
// version 0 is an empty database. Released steps never change.
func migrations() []string {
	return []string{`
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
			running     INTEGER NOT NULL
		);
		CREATE INDEX history_running ON history (process) WHERE running = 1;`, `
		ALTER TABLE history ADD COLUMN stopped INTEGER NOT NULL DEFAULT 0; -- 1: somebody asked for the end`, `
		ALTER TABLE history ADD COLUMN origin TEXT NOT NULL DEFAULT ''; -- user@host, of another machine`,
	}
}

// migrate upgrades a database to the version after the last step.
func (h *History) migrate(steps []string) error {
	var version int
	if err := h.db.QueryRow(`PRAGMA user_version`).Scan(&version); err != nil {
		return classifyError(err)
	}
	if version > len(steps) {
		return fmt.Errorf("%w (version %d of the history; this one knows %d)", store.ErrNewer, version, len(steps))
	}
	if version == len(steps) {
		return nil
	}
	for ; version < len(steps); version++ {
		err := h.applyStep(steps[version], version+1)
		var s *sqlite.Error
		if version == 0 && errors.As(err, &s) && s.Code() == sqlite3.SQLITE_ERROR {
			return fmt.Errorf("%w: not a history database: %v", ErrDamaged, err)
		}
		if err != nil {
			return classifyError(err)
		}
	}
	// Runs recorded during the migration are not written yet, so it must not change the time
	// returned by Written. If this fails and the engine is then killed, those runs may be missing.
	for _, path := range []string{h.db.Path, h.db.Path + "-wal"} {
		_ = os.Chtimes(path, time.Time{}, h.db.Info.ModTime())
	}
	return nil
}

// applyStep makes one change, and records the new version in the same transaction.
func (h *History) applyStep(change string, version int) error {
	tx, err := h.db.Begin()
	if err != nil {
		return err
	}
	_, err = tx.Exec(change)
	if err == nil {
		_, err = tx.Exec(fmt.Sprintf("PRAGMA user_version = %d", version)) // it takes no parameters
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
