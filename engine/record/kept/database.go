package kept

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"tandem/engine/record/outputs"
	"tandem/persist/sqlitefile"
	"tandem/persist/store"
)

// maxIdle is how long the database stays open after its last use.
const maxIdle = 40 * time.Second

// errDamaged is wrapped by errors about an unreadable database, errDiskFull by those about a full disk.
var (
	errDamaged  = errors.New("the database of kept output is damaged")
	errDiskFull = errors.New("disk full")
)

// schema creates the database of version 1. Output comes last in a row: listing runs does not
// read it.
const schema = `
	CREATE TABLE runs (
		id       TEXT PRIMARY KEY,
		ended_us INTEGER NOT NULL, -- microseconds since 1970
		bytes    INTEGER NOT NULL, -- of output
		size     INTEGER NOT NULL, -- with the facts
		kind     TEXT NOT NULL,
		name     TEXT NOT NULL,
		failed   INTEGER NOT NULL,
		facts    TEXT NOT NULL,
		first    BLOB, -- output, or NULL if it is in a file
		second   BLOB  -- standard error, if it has a log of its own
	);
	CREATE INDEX runs_order ON runs (ended_us DESC, id, bytes, size);
	PRAGMA user_version = 1;`

// A database holds a row for each kept run. It is safe for concurrent use. An idle
// connection is closed.
type database struct {
	db *sqlitefile.File
}

// A row is one run.
type row struct {
	id            string
	endedUS       int64
	bytes, size   int64
	kind, name    string
	failed        bool
	facts         []byte
	first, second []byte // nil if in a file
}

// openDatabase opens the database at path, or creates it with its directory.
func openDatabase(path string) (*database, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, store.Cause(err)
	}
	// auto_vacuum must come before the first page is written.
	db, err := sqlitefile.Open(path, "&_pragma=auto_vacuum(incremental)")
	if err != nil {
		return nil, err
	}
	db.SetConnMaxIdleTime(maxIdle)
	d := &database{db}
	if err := d.create(); err != nil {
		return nil, errors.Join(classifyError(err), db.Close())
	}
	return d, nil
}

func (d *database) create() error {
	var version int
	if err := d.db.QueryRow(`PRAGMA user_version`).Scan(&version); err != nil {
		return err
	}
	switch {
	case version > 1:
		return fmt.Errorf("%w (version %d of the database; this one knows 1)", store.ErrNewer, version)
	case version == 1:
		return nil
	}
	return d.change(func(tx *sql.Tx) error {
		_, err := tx.Exec(schema)
		var s *sqlite.Error
		if errors.As(err, &s) && s.Code() == sqlite3.SQLITE_ERROR {
			return fmt.Errorf("%w: not a database of kept output: %v", errDamaged, err)
		}
		return err
	})
}

// classifyError adds to an error of SQLite whether the database is damaged, or the disk full.
func classifyError(err error) error {
	var s *sqlite.Error
	if !errors.As(err, &s) {
		return err
	}
	switch s.Code() & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%w: %w", errDamaged, s)
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w: %w", errDiskFull, s)
	}
	return err
}

// change calls f in a transaction.
func (d *database) change(f func(tx *sql.Tx) error) error {
	tx, err := d.db.Begin()
	if err != nil {
		return classifyError(err)
	}
	if err := f(tx); err != nil {
		return classifyError(errors.Join(err, tx.Rollback()))
	}
	return classifyError(tx.Commit())
}

// add adds or replaces rows: all of them, or none. It returns the net amount added.
func (d *database) add(rows []row) (added total, err error) {
	err = d.change(func(tx *sql.Tx) error {
		insert, err := tx.Prepare(`INSERT OR IGNORE INTO runs (id, ended_us, bytes, size, kind, name, failed, facts, first, second) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
		if err != nil {
			return err
		}
		defer insert.Close()
		for _, r := range rows {
			for tries := 0; ; tries++ {
				result, err := insert.Exec(r.id, r.endedUS, r.bytes, r.size, r.kind, r.name, r.failed, r.facts, r.first, r.second)
				if err != nil {
					return err
				}
				if n, err := result.RowsAffected(); n > 0 || err != nil || tries > 0 {
					added = added.plus(total{1, r.size}, 1)
					break
				}
				old, err := removeRow(tx, r.id)
				if err != nil {
					return err
				}
				added = added.plus(old, -1)
			}
		}
		return nil
	})
	return added, err
}

// remove removes rows: all of them, or none. It returns their amount.
func (d *database) remove(ids []string) (removed total, err error) {
	err = d.change(func(tx *sql.Tx) error {
		for _, id := range ids {
			one, err := removeRow(tx, id)
			if err != nil {
				return err
			}
			removed = removed.plus(one, 1)
		}
		return nil
	})
	return removed, err
}

func removeRow(tx *sql.Tx, id string) (removed total, err error) {
	err = tx.QueryRow(`DELETE FROM runs WHERE id = ? RETURNING 1, size`, id).Scan(&removed.runs, &removed.bytes)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return removed, err
}

// reclaim returns the space of removed rows to the file system, and empties the journal, which may still
// have their content.
func (d *database) reclaim() error {
	rows, err := d.db.Query(`PRAGMA incremental_vacuum`) // each step is a row
	if err == nil {
		for rows.Next() {
		}
		err = errors.Join(rows.Err(), rows.Close())
	}
	var busy, frames, moved int // https://www.sqlite.org/pragma.html#pragma_wal_checkpoint
	return classifyError(errors.Join(err, d.db.QueryRow(`PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &frames, &moved)))
}

// sum returns the amount of all rows, and the exit of the oldest.
func (d *database) sum() (all total, oldestUS int64, err error) {
	err = d.db.QueryRow(`SELECT count(*), coalesce(sum(size), 0), coalesce(min(ended_us), 0) FROM runs`).Scan(&all.runs, &all.bytes, &oldestUS)
	return all, oldestUS, classifyError(err)
}

// oldest returns the first n rows in the order of their removal, without facts and output.
func (d *database) oldest(n int) (all []row, err error) {
	err = d.query(context.Background(), func(scan func(...any) error) error {
		var r row
		err := scan(&r.id, &r.endedUS, &r.size)
		all = append(all, r)
		return err
	}, `SELECT id, ended_us, size FROM runs ORDER BY ended_us, id DESC LIMIT ?`, n)
	return all, err
}

// facts returns the facts of a run, by its id or by a prefix of one.
func (d *database) facts(ctx context.Context, id string, prefix bool) (all [][]byte, err error) {
	query, args := `SELECT facts FROM runs WHERE id = ?`, []any{id}
	if prefix {
		query, args = `SELECT facts FROM runs WHERE id >= ? AND id < ? LIMIT 2`, []any{id, id + "\x7f"}
	}
	err = d.query(ctx, func(scan func(...any) error) error {
		var f []byte
		err := scan(&f)
		all = append(all, f)
		return err
	}, query, args...)
	return all, err
}

// output returns the output of one stream, if the database has it.
func (d *database) output(id string, second bool) (data []byte, found bool, err error) {
	query := `SELECT first FROM runs WHERE id = ? AND first IS NOT NULL`
	if second {
		query = `SELECT second FROM runs WHERE id = ? AND second IS NOT NULL`
	}
	err = d.db.QueryRow(query, id).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	return data, err == nil, classifyError(err)
}

// maxListed is how many bytes of output list returns of a run.
const maxListed = 4 << 10

// list returns the facts of up to n runs meeting the conditions, from a cursor on, with output of at
// most maxListed bytes: a query for each run would take most of the time of a search.
func (d *database) list(ctx context.Context, f outputs.KeptFilter, from outputs.KeptCursor, n int) (all []row, err error) {
	where, args := conditions(f, from)
	err = d.query(ctx, func(scan func(...any) error) error {
		var r row
		err := scan(&r.facts, &r.bytes, &r.first, &r.second)
		all = append(all, r)
		return err
	}, `SELECT facts, bytes, iif(bytes <= `+strconv.Itoa(maxListed)+`, first, NULL), iif(bytes <= `+strconv.Itoa(maxListed)+`, second, NULL) FROM runs WHERE `+where+` ORDER BY ended_us DESC, id LIMIT ?`, append(args, n)...)
	return all, err
}

// count returns the number of runs meeting the conditions, from a cursor on, and of bytes of output.
func (d *database) count(ctx context.Context, f outputs.KeptFilter, from outputs.KeptCursor) (n int, bytes int64, err error) {
	where, args := conditions(f, from)
	err = d.db.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(bytes), 0) FROM runs WHERE `+where, args...).Scan(&n, &bytes)
	return n, bytes, classifyError(err)
}

// conditions returns the conditions of a filter and a cursor as an SQL expression with arguments.
func conditions(f outputs.KeptFilter, from outputs.KeptCursor) (where string, args []any) {
	all := []string{"1"}
	add := func(condition string, values ...any) {
		all, args = append(all, condition), append(args, values...)
	}
	if from.ID != "" {
		at, compare := from.At.UnixMicro(), ">="
		if from.After {
			compare = ">"
		}
		add(`ended_us <= ? AND (ended_us < ? OR id `+compare+` ?)`, at, at, from.ID)
	}
	if !f.Since.IsZero() {
		add(`ended_us >= ?`, f.Since.UnixMicro())
	}
	if f.Name != "" {
		add(`(name = ? OR id = ?)`, f.Name, f.Name)
	}
	if f.Failed {
		add(`failed`)
	}
	if len(f.Kinds) < outputs.Kinds { // otherwise the index has all that is needed
		values := make([]any, len(f.Kinds))
		for i, kind := range f.Kinds {
			values[i] = kind
		}
		add(`kind IN (?`+strings.Repeat(", ?", len(values)-1)+`)`, values...)
	}
	return strings.Join(all, " AND "), args
}

// query calls f for each row of a query.
func (d *database) query(ctx context.Context, f func(scan func(...any) error) error, query string, args ...any) error {
	rows, err := d.db.QueryContext(ctx, query, args...)
	if err != nil {
		return classifyError(err)
	}
	for err == nil && rows.Next() {
		err = f(rows.Scan)
	}
	return classifyError(errors.Join(err, rows.Err(), rows.Close()))
}
