// Package histdb is the history of commands in SQLite, and the text files that
// it is saved to and loaded from.
package histdb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"tandem/persist/datadir"
	"tandem/persist/store"
)

const fileName = datadir.History

// ErrDamaged is in the error of a history that cannot be read any more; opened
// again it is set aside and an empty one begun.
var ErrDamaged = errors.New("the history is damaged")

// A History is the database of the commands that were run. One engine has it
// open at a time; its methods may be called from any goroutine. What was
// applied survives the end of the process at any moment; a loss of power may
// cost the last of it, and never the rest.
type History struct {
	path string
	file fs.FileInfo // the database file when it was opened
	db   *sql.DB

	checkpoint func() error // empties the journal
	remains    atomic.Bool  // the journal may hold what was removed
}

// A Row is one run of a command. Times are kept to the microsecond.
type Row struct {
	ID         int64
	Command    string
	CWD        string
	StartedAt  time.Time
	Duration   time.Duration // negative if unknown or still running
	ExitCode   *int
	ExitSignal string
	Actor      string
	From       string // user@host, of another machine; "" for this one
	Kind       string // "session", "exec", "process" or "added"
	Process    string // id of the session or process
	LogStart   int64
	LogEnd     int64
	Running    bool // an End of its process will complete it
	Stopped    bool // it ended because somebody asked; false where that was not noted
}

// An End completes the rows of a process that are Running.
type End struct {
	Process    string
	At         time.Time // zero if nobody saw it
	ExitCode   *int
	ExitSignal string
	Stopped    bool // somebody asked for the end
}

// A Change is one of: rows to add, with ids of the caller's choice that
// no row has had; an end; ids to remove; or the removal of everything.
type Change struct {
	Add    []Row
	End    *End
	Remove []int64
	Clear  bool
}

// Open opens the history of a data folder and makes it if need be. One
// that is damaged is set aside, with aside the name it has now, and an empty
// one begun. The error is ErrNewer when a later version of Tandem made it.
func Open(dir string) (h *History, aside string, err error) {
	path := filepath.Join(dir, fileName)
	h, err = open(path, steps())
	if errors.Is(err, ErrDamaged) {
		if aside, err = setAside(path); err == nil {
			h, err = open(path, steps())
		}
	}
	if err != nil {
		return nil, aside, fmt.Errorf("open history %s: %w", path, err)
	}
	return h, aside, nil
}

func open(path string, steps []string) (*History, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) // SQLite would let others read it
	if err != nil {
		return nil, store.Cause(err)
	}
	file, err := f.Stat()
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, store.Cause(err)
	}
	// The path is escaped, as it may hold what means something in a URI.
	uri := url.URL{Scheme: "file", Path: path, RawQuery: "_pragma=busy_timeout(2000)&_pragma=journal_mode(wal)" +
		"&_pragma=synchronous(normal)&_pragma=cache_size(-512)&_pragma=journal_size_limit(1048576)&_pragma=secure_delete(on)"}
	db, err := sql.Open("sqlite", uri.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	h := &History{path: path, file: file, db: db}
	h.checkpoint = h.emptyJournal
	if err := h.migrate(steps); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return h, nil
}

// setAside renames a database and what belongs to it.
func setAside(path string) (string, error) {
	aside, err := store.SetAside(path)
	if err != nil {
		return "", err
	}
	// Of these there may be none; left behind, they would be taken for parts of
	// the next database.
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Rename(path+suffix, aside+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return filepath.Base(aside), nil
}

// SetAside gives a damaged database up, as Open does with one that it
// finds damaged: it is closed, and gets the name aside.
func (h *History) SetAside() (aside string, err error) {
	// Closing writes to a file that is damaged anyway: whether that works does
	// not matter.
	_ = h.db.Close()
	if aside, err = setAside(h.path); err != nil {
		return "", fmt.Errorf("set history %s aside: %w", h.path, store.Cause(err))
	}
	return aside, nil
}

// Close ends the use of the database.
func (h *History) Close() error {
	if err := h.db.Close(); err != nil {
		return fmt.Errorf("close history %s: %w", h.path, err)
	}
	return nil
}

// Deleted reports whether the database file was deleted or replaced, so that writes to it are
// lost.
func (h *History) Deleted() bool {
	now, err := os.Stat(h.path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return !os.SameFile(now, h.file)
}

// writtenSlack is how long after a write a change from before it may still arrive.
const writtenSlack = 250 * time.Millisecond

// Written returns a time up to which the history in the data directory dir is complete, even
// if the engine that wrote it was killed. If there is no history, it creates the file, so that
// later calls know when the history began. ok is false if the time is unknown. Call it before
// Open.
func Written(dir string) (at time.Time, ok bool) {
	path := filepath.Join(dir, fileName)
	if f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		_ = f.Close()
	}
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}, false
	}
	at = info.ModTime()
	if journal, err := os.Stat(path + "-wal"); err == nil && journal.ModTime().After(at) {
		at = journal.ModTime()
	}
	return at.Add(-writtenSlack), true
}

// Processes returns those of the given processes that have rows.
func (h *History) Processes(ids []string) (map[string]bool, error) {
	found := make(map[string]bool)
	for _, id := range ids {
		var n int
		if err := h.db.QueryRow(`SELECT count(*) FROM (SELECT 1 FROM history WHERE process = ? LIMIT 1)`, id).Scan(&n); err != nil {
			return nil, h.failed("read", err)
		}
		found[id] = n > 0
	}
	return found, nil
}

// Last is the greatest id that a row has ever had, 0 if there was none.
func (h *History) Last() (int64, error) {
	var last sql.NullInt64
	err := h.db.QueryRow(`SELECT seq FROM sqlite_sequence WHERE name = 'history'`).Scan(&last)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, h.failed("read", err)
	}
	return last.Int64, nil
}

// Apply makes all of the changes, in order, or none. The text of removed rows may stay in
// SQLite's journal while that cannot be emptied; the next Apply tries again.
func (h *History) Apply(changes []Change) error {
	tx, err := h.db.Begin()
	if err != nil {
		return h.failed("change", err)
	}
	if err := applyAll(tx, changes); err != nil {
		return h.failed("change", errors.Join(err, tx.Rollback()))
	}
	if err := tx.Commit(); err != nil {
		return h.failed("change", err)
	}
	if slices.ContainsFunc(changes, func(c Change) bool { return c.Clear || c.Remove != nil }) {
		h.remains.Store(true)
		defer h.noteRemoval()
	}
	if h.remains.Load() && h.checkpoint() == nil { // an error must not look like one of the commit
		h.remains.Store(false)
	}
	return nil
}

// noteRemoval keeps Written from returning a time before a removal, so that removed rows
// are not added again.
func (h *History) noteRemoval() {
	at := time.Now().Add(writtenSlack)
	_ = os.Chtimes(h.path, time.Time{}, at) // if it fails, a recently removed row may come back
}

// emptyJournal moves what the journal holds to the database.
func (h *History) emptyJournal() error {
	var busy, frames, moved int // https://www.sqlite.org/pragma.html#pragma_wal_checkpoint
	err := h.db.QueryRow(`PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &frames, &moved)
	if err == nil && busy != 0 {
		err = errors.New("the journal is being read")
	}
	return err
}

// loadStep is how many rows Load adds between two looks at its context.
const loadStep = 500

// Load adds rows, whose ids no row has had, until ctx ends: then none of them. It
// tells how many it has added so far.
func (h *History) Load(ctx context.Context, rows []Row, added func(n int)) error {
	tx, err := h.db.Begin()
	if err != nil {
		return h.failed("load", err)
	}
	for n := 0; n < len(rows) && err == nil; n += loadStep {
		added(n)
		if err = ctx.Err(); err == nil {
			err = applyAll(tx, []Change{{Add: rows[n:min(n+loadStep, len(rows))]}})
		}
	}
	if err != nil {
		return h.failed("load", errors.Join(err, tx.Rollback()))
	}
	if err := tx.Commit(); err != nil {
		return h.failed("load", err)
	}
	return nil
}

const (
	insertRow = `INSERT INTO history (id, command, cwd, started_us, duration_us, exit_code, exit_signal, actor, kind,
		process, log_start, log_end, running, stopped, origin) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	endRows = `UPDATE history SET running = 0, duration_us = CASE WHEN ?2 IS NULL THEN -1 ELSE max(0, ?2 - started_us) END,
		exit_code = ?3, exit_signal = ?4, stopped = ?5 WHERE process = ?1 AND running = 1`
	removeRow = `DELETE FROM history WHERE id = ?`
)

func applyAll(tx *sql.Tx, changes []Change) error {
	insert, err := tx.Prepare(insertRow)
	if err != nil {
		return err
	}
	defer insert.Close()
	for _, c := range changes {
		for i := range c.Add {
			if err := addRow(insert, &c.Add[i]); err != nil {
				return err
			}
		}
		if e := c.End; e != nil {
			at := sql.NullInt64{Int64: e.At.UnixMicro(), Valid: !e.At.IsZero()}
			if _, err := tx.Exec(endRows, e.Process, at, e.ExitCode, e.ExitSignal, e.Stopped); err != nil {
				return err
			}
		}
		for _, id := range c.Remove {
			if _, err := tx.Exec(removeRow, id); err != nil {
				return err
			}
		}
		if c.Clear {
			if _, err := tx.Exec(`DELETE FROM history`); err != nil {
				return err
			}
		}
	}
	return nil
}

func addRow(insert *sql.Stmt, r *Row) error {
	duration := int64(-1)
	if r.Duration >= 0 {
		duration = r.Duration.Microseconds()
	}
	_, err := insert.Exec(r.ID, r.Command, r.CWD, r.StartedAt.UnixMicro(), duration, r.ExitCode, r.ExitSignal, r.Actor, r.Kind,
		r.Process, r.LogStart, r.LogEnd, r.Running, r.Stopped, r.From)
	return err
}

// Size is how many rows there are, and how many bytes their commands have.
func (h *History) Size() (rows, bytes int, err error) {
	err = h.db.QueryRow(`SELECT count(*), coalesce(sum(octet_length(command)), 0) FROM history`).Scan(&rows, &bytes)
	if err != nil {
		return 0, 0, h.failed("read", err)
	}
	return rows, bytes, nil
}

// Rows hands every row to f, in the order in which they were added, until ctx
// ends. f must not keep the row.
func (h *History) Rows(ctx context.Context, f func(r *Row)) error {
	conn, err := h.db.Conn(ctx)
	if err != nil {
		return h.failed("read", err)
	}
	// database/sql would convert each value twice; without it a large history is
	// read in half the time.
	err = conn.Raw(func(driverConn any) error { return readRows(ctx, driverConn.(driver.QueryerContext), f) })
	if err := errors.Join(err, conn.Close()); err != nil {
		return h.failed("read", err)
	}
	return nil
}

const selectRows = `SELECT id, command, cwd, started_us, duration_us, exit_code, exit_signal, actor, kind, process,
	log_start, log_end, running, stopped, origin FROM history ORDER BY id`

func readRows(ctx context.Context, conn driver.QueryerContext, f func(r *Row)) error {
	rows, err := conn.QueryContext(context.WithoutCancel(ctx), selectRows, nil)
	if err != nil {
		return err
	}
	defer rows.Close()
	values := make([]driver.Value, len(rows.Columns()))
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		switch err := rows.Next(values); err {
		case nil:
		case io.EOF:
			return nil
		default:
			return err
		}
		row, err := rowOf(values)
		if err != nil {
			return err
		}
		f(&row)
	}
}

// rowOf reads the columns of selectRows. SQLite does not enforce their types.
func rowOf(v []driver.Value) (Row, error) {
	wrong := false
	number := func(i int) int64 {
		n, ok := v[i].(int64)
		wrong = wrong || !ok
		return n
	}
	text := func(i int) string {
		s, ok := v[i].(string)
		wrong = wrong || !ok
		return s
	}
	r := Row{ID: number(0), Command: text(1), CWD: text(2), StartedAt: time.UnixMicro(number(3)), Duration: -1,
		ExitSignal: text(6), Actor: text(7), Kind: text(8), Process: text(9), LogStart: number(10), LogEnd: number(11),
		Running: number(12) != 0, Stopped: number(13) != 0, From: text(14)}
	if d := number(4); d >= 0 {
		r.Duration = time.Duration(d) * time.Microsecond
	}
	if v[5] != nil {
		code := int(number(5))
		r.ExitCode = &code
	}
	if wrong {
		return r, fmt.Errorf("%w: row %d holds what it cannot", ErrDamaged, r.ID)
	}
	return r, nil
}

// failed wraps an error of SQLite, with ErrDamaged where that is what it says.
func (h *History) failed(verb string, err error) error {
	return fmt.Errorf("%s history %s: %w", verb, h.path, explain(err))
}

func explain(err error) error {
	var s *sqlite.Error
	if !errors.As(err, &s) {
		return err
	}
	text := strings.TrimSpace(s.Error())
	switch s.Code() & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%w: %s", ErrDamaged, text)
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("disk full: %s", text)
	}
	return err
}
