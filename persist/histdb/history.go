// Package histdb stores the history of commands in an SQLite database. It also reads and writes the
// history as text.
package histdb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"tandem/persist/datadir"
	"tandem/persist/sqlitefile"
	"tandem/persist/store"
)

const fileName = datadir.History

// ErrDamaged is wrapped by errors about a history that cannot be read. Open sets such a history
// aside and creates an empty one.
var ErrDamaged = errors.New("the history is damaged")

// A History is the database of the commands that were run. Only one engine opens it at a time. Its
// methods are safe for concurrent use. Changes survive a crash of the process once they are
// applied. A power failure may lose the last ones, but never damages the rest.
type History struct {
	db *sqlitefile.File

	checkpoint     func() error // empties the journal
	removalPending atomic.Bool  // the journal may still contain removed rows
}

// A Row is one run of a command. Times have microsecond precision.
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
	Running    bool // an End for its process completes it
	Stopped    bool // it was stopped on request; false if unknown
}

// An End completes the running rows of a process.
type End struct {
	Process    string
	At         time.Time // zero if the time is unknown
	ExitCode   *int
	ExitSignal string
	Stopped    bool // it was stopped on request
}

// Complete sets the end of a run.
func (r *Row) Complete(e End) {
	r.Running, r.ExitCode, r.ExitSignal, r.Stopped, r.Duration = false, e.ExitCode, e.ExitSignal, e.Stopped, -1
	if !e.At.IsZero() {
		r.Duration = max(0, e.At.Sub(r.StartedAt))
	}
}

// End returns the end of a run that has one.
func (r *Row) End() End {
	e := End{Process: r.Process, ExitCode: r.ExitCode, ExitSignal: r.ExitSignal, Stopped: r.Stopped}
	if r.Duration >= 0 {
		e.At = r.StartedAt.Add(r.Duration)
	}
	return e
}

// A Change is one of the following: rows to add, with new ids chosen by the caller; the end of a
// run; ids to remove; or the removal of all rows.
type Change struct {
	Add    []Row
	End    *End
	Remove []int64
	Clear  bool
}

// Open opens the history in the data directory dir. If there is none, it creates one. If it is
// damaged, Open renames it, returns the new name in aside, and creates an empty one. It returns
// ErrNewer if a later version of Tandem wrote the database.
func Open(dir string) (h *History, aside string, err error) {
	path := filepath.Join(dir, fileName)
	h, err = open(path, migrations())
	if errors.Is(err, ErrDamaged) {
		if aside, err = sqlitefile.SetAside(path); err == nil {
			aside = filepath.Base(aside)
			h, err = open(path, migrations())
		}
	}
	if err != nil {
		return nil, aside, fmt.Errorf("open history %s: %w", path, err)
	}
	return h, aside, nil
}

func open(path string, steps []string) (*History, error) {
	db, err := sqlitefile.Open(path, "")
	if err != nil {
		return nil, err
	}
	h := &History{db: db}
	h.checkpoint = h.emptyJournal
	if err := h.migrate(steps); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return h, nil
}

// SetAside closes a database that turned out to be damaged, and renames it as Open does. aside is
// the new name.
func (h *History) SetAside() (aside string, err error) {
	// The error does not matter: Close writes to a damaged file.
	_ = h.db.Close()
	if aside, err = sqlitefile.SetAside(h.db.Path); err != nil {
		return "", fmt.Errorf("set history %s aside: %w", h.db.Path, store.Cause(err))
	}
	return filepath.Base(aside), nil
}

func (h *History) Close() error {
	if err := h.db.Close(); err != nil {
		return fmt.Errorf("close history %s: %w", h.db.Path, err)
	}
	return nil
}

// Deleted reports whether the database file was deleted or replaced. Then writes to it are lost.
func (h *History) Deleted() bool { return h.db.IsDeleted() }

// writtenSlack is how long a write may be delayed. A change made just before a write may still be
// missing.
const writtenSlack = 250 * time.Millisecond

// Written returns a time up to which the history in the data directory dir is complete, even if the
// engine that wrote it was killed. If there is no history, it creates the file, so later calls know
// when the history began. ok is false if the time is unknown. Call Written before Open.
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
	// Opening a database creates an empty journal, so an empty one is no sign of a write.
	if journal, err := os.Stat(path + "-wal"); err == nil && journal.Size() > 0 && journal.ModTime().After(at) {
		at = journal.ModTime()
	}
	return at.Add(-writtenSlack), true
}

// Has reports whether there is a row for a run, with the same process and start (known), and
// whether the row has no end yet (running).
func (h *History) Has(run Row) (known, running bool, err error) {
	err = h.db.QueryRow(`SELECT running FROM history WHERE process = ? AND started_us = ?`, run.Process, run.StartedAt.UnixMicro()).Scan(&running)
	if errors.Is(err, sql.ErrNoRows) {
		return false, false, nil
	}
	if err != nil {
		return false, false, h.wrapError("read", err)
	}
	return true, running, nil
}

// Last returns the greatest id ever used, or 0.
func (h *History) Last() (int64, error) {
	var last sql.NullInt64
	err := h.db.QueryRow(`SELECT seq FROM sqlite_sequence WHERE name = 'history'`).Scan(&last)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, h.wrapError("read", err)
	}
	return last.Int64, nil
}

// Apply makes the changes in order: all of them, or none. SQLite's journal may still contain the
// text of removed rows until it can be emptied; later calls try again.
func (h *History) Apply(changes []Change) error {
	tx, err := h.db.Begin()
	if err != nil {
		return h.wrapError("change", err)
	}
	if err := applyAll(tx, changes); err != nil {
		return h.wrapError("change", errors.Join(err, tx.Rollback()))
	}
	if err := tx.Commit(); err != nil {
		return h.wrapError("change", err)
	}
	if slices.ContainsFunc(changes, func(c Change) bool { return c.Clear || c.Remove != nil }) {
		h.removalPending.Store(true)
		// This runs last, because emptying the journal changes the time of the file too.
		defer h.noteRemoval()
	}
	// The changes are committed, so an error of the checkpoint must not look like a failed commit.
	if h.removalPending.Load() && h.checkpoint() == nil {
		h.removalPending.Store(false)
	}
	return nil
}

// noteRemoval makes Written return a time after a removal. Otherwise removed rows could be added
// again.
func (h *History) noteRemoval() {
	at := time.Now().Add(writtenSlack)
	_ = os.Chtimes(h.db.Path, time.Time{}, at) // if it fails, a recently removed row may come back
}

// emptyJournal moves the content of the journal to the database and truncates the journal.
func (h *History) emptyJournal() error {
	var busy, frames, moved int // https://www.sqlite.org/pragma.html#pragma_wal_checkpoint
	err := h.db.QueryRow(`PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &frames, &moved)
	if err == nil && busy != 0 {
		err = errors.New("the journal is being read")
	}
	return err
}

// loadStep is how many rows Load adds between two checks of its context.
const loadStep = 500

// Load adds rows with new ids: all of them or, if ctx ends first, none. It calls added with the
// number of rows added so far.
func (h *History) Load(ctx context.Context, rows []Row, added func(n int)) error {
	tx, err := h.db.Begin()
	if err != nil {
		return h.wrapError("load", err)
	}
	for n := 0; n < len(rows) && err == nil; n += loadStep {
		added(n)
		if err = ctx.Err(); err == nil {
			err = applyAll(tx, []Change{{Add: rows[n:min(n+loadStep, len(rows))]}})
		}
	}
	if err != nil {
		return h.wrapError("load", errors.Join(err, tx.Rollback()))
	}
	if err := tx.Commit(); err != nil {
		return h.wrapError("load", err)
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

// Size returns the number of rows and the total length of their commands in bytes.
func (h *History) Size() (rows, bytes int, err error) {
	err = h.db.QueryRow(`SELECT count(*), coalesce(sum(octet_length(command)), 0) FROM history`).Scan(&rows, &bytes)
	if err != nil {
		return 0, 0, h.wrapError("read", err)
	}
	return rows, bytes, nil
}

// Rows calls f with each row in the order in which they were added, until ctx ends. f must not keep
// the row.
func (h *History) Rows(ctx context.Context, f func(r *Row)) error {
	conn, err := h.db.Conn(ctx)
	if err != nil {
		return h.wrapError("read", err)
	}
	// database/sql would convert each value twice. Bypassing it halves the time for a large
	// history.
	err = conn.Raw(func(driverConn any) error { return readRows(ctx, driverConn.(driver.QueryerContext), f) })
	if err := errors.Join(err, conn.Close()); err != nil {
		return h.wrapError("read", err)
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

// rowOf decodes the columns of selectRows. It checks their types, because SQLite does not enforce
// them.
func rowOf(v []driver.Value) (Row, error) {
	// Check every column first: the error names the row once.
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
		return r, fmt.Errorf("%w: row %d has an invalid value", ErrDamaged, r.ID)
	}
	return r, nil
}

// wrapError adds context to an error of SQLite. If SQLite reports a damaged database, the error
// also wraps ErrDamaged.
func (h *History) wrapError(verb string, err error) error {
	return fmt.Errorf("%s history %s: %w", verb, h.db.Path, classifyError(err))
}

func classifyError(err error) error {
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
