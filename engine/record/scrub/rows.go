package scrub

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"tandem/engine/screen/vt/scan"
	"tandem/persist/datadir"
	"tandem/persist/sqlitefile"
)

// factsColumn is the column of kept output with JSON.
const factsColumn = "facts"

// A table is one with text of the user or of programs.
type table struct {
	database string // path relative to the data directory
	name     string
	process  string // column with the id of a process
	columns  []string
	output   map[string]bool // columns with output
}

func tables() []table {
	return []table{
		{database: datadir.History, name: "history", process: "process", columns: []string{"command", "cwd"}},
		{
			database: filepath.Join(datadir.Output, "output.db"), name: "runs", process: "id",
			columns: []string{"name", factsColumn, "first", "second"}, output: map[string]bool{"first": true, "second": true},
		},
	}
}

// inTable finds the spans to overwrite in a table.
func (s *finder) inTable(ctx context.Context, t table) error {
	db, err := openExisting(filepath.Join(s.dir, t.database))
	if db == nil {
		return err
	}
	var made bool // an engine that has not used the history yet has an empty file
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master WHERE name = ?", t.name).Scan(&made); err != nil || !made {
		return errors.Join(err, db.Close())
	}
	query := "SELECT id, " + t.process
	values := make([]any, 2+len(t.columns))
	for i, c := range t.columns {
		query += ", " + c
		values[2+i] = new([]byte)
	}
	var key, process string
	values[0], values[1] = &key, &process
	rows, err := db.QueryContext(ctx, query+" FROM "+t.name)
	if err != nil {
		return errors.Join(fmt.Errorf("read %s: %w", t.database, err), db.Close())
	}
	for err == nil && rows.Next() {
		if err = rows.Scan(values...); err != nil || !s.covers(process) {
			continue
		}
		for i, c := range t.columns {
			s.addRow(row{Database: t.database, Table: t.name, Column: c, Key: key}, process, *values[2+i].(*[]byte), t.output[c])
		}
	}
	if err = errors.Join(err, rows.Err(), rows.Close(), db.Close()); err != nil {
		return fmt.Errorf("read %s: %w", t.database, err)
	}
	return nil
}

// addRow adds the matches in a value of a row.
func (s *finder) addRow(r row, process string, value []byte, isOutput bool) {
	var first []byte
	switch {
	case s.Last != nil && r.Table == "history" && r.Key == s.Last.Row && r.Column == "command":
		r.Spans = []span{{0, int64(len(value))}}
	case s.pattern == nil:
	case isOutput:
		r.Spans, first = s.pattern.addLines(nil, nil, value, 0)
	case r.Column == factsColumn:
		r.Spans, _ = s.pattern.inJSON(value, factsColumn)
	default:
		r.Spans = s.pattern.inText(value)
	}
	if len(r.Spans) == 0 {
		return
	}
	s.plan.Rows = append(s.plan.Rows, r)
	where := kindHistory
	if r.Table == "runs" {
		where = kindKept
	}
	if where == kindHistory {
		first = bytes.Clone(value[:min(len(value), maxSample)])
		overwrite(first, r.Spans)
		first = first[:scan.CompleteLen(first)]
	}
	s.note(where, process, len(r.Spans), first)
}

// overwriteRows overwrites spans in databases, and empties their journals, which may still have the
// text.
func overwriteRows(dir string, rows []row) error {
	var errs []error
	for _, t := range tables() {
		var own []row
		for _, r := range rows {
			if r.Database == t.database {
				own = append(own, r)
			}
		}
		if len(own) > 0 {
			errs = append(errs, overwriteTable(filepath.Join(dir, t.database), own))
		}
	}
	return errors.Join(errs...)
}

func overwriteTable(path string, rows []row) error {
	db, err := openExisting(path)
	if db == nil {
		return err
	}
	tx, err := db.Begin()
	for _, r := range rows {
		if err == nil {
			err = overwriteRow(tx, r)
		}
	}
	switch {
	case tx == nil:
	case err == nil:
		err = tx.Commit()
	default:
		err = errors.Join(err, tx.Rollback())
	}
	if err == nil {
		var busy, frames, moved int // https://www.sqlite.org/pragma.html#pragma_wal_checkpoint
		if err = db.QueryRow(`PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &frames, &moved); err == nil && busy != 0 {
			err = errors.New("the journal is being read")
		}
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("overwrite rows of %s: %w", path, err)
	}
	// The time of the history's file says up to when it is complete.
	return os.Chtimes(path, time.Time{}, db.Info.ModTime())
}

func overwriteRow(tx *sql.Tx, r row) error {
	var value any
	err := tx.QueryRow(`SELECT `+r.Column+` FROM `+r.Table+` WHERE id = ?`, r.Key).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	switch v := value.(type) {
	case string:
		data := []byte(v)
		overwrite(data, r.Spans)
		value = string(data)
	case []byte:
		overwrite(v, r.Spans)
	default:
		return nil
	}
	_, err = tx.Exec(`UPDATE `+r.Table+` SET `+r.Column+` = ? WHERE id = ?`, value, r.Key)
	return err
}

// openExisting opens a database; nil without an error if there is none.
func openExisting(path string) (*sqlitefile.File, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return sqlitefile.Open(path, "")
}
