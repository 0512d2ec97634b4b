// Package kept keeps the output of sessions and one-shot commands for a while after the engine has
// trimmed their records. Small output is packed together in an SQLite database, more stays in files.
// The user's deletions apply at once. Packages logs and outputs read and search it.
package kept

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"tandem/engine/base/panics"
	"tandem/engine/record/logs"
	"tandem/engine/record/outputs"
	"tandem/persist/datadir"
	"tandem/persist/sqlitefile"
	"tandem/persist/store"
)

const (
	// maxPacked is how many bytes of a log are kept in the database.
	maxPacked    = 64 << 10
	databaseName = "output.db"
)

// An Output is the kept output of a data directory. Its methods are safe for concurrent use, and may
// wait for the disk. Changes survive a crash of the process once they are made.
//
// A run is complete here before its record is removed, so a crash in between leaves both. The next
// start then removes it here, and keeps it again when the record is trimmed.
type Output struct {
	dir    string
	logs   *logs.Logs
	log    *slog.Logger
	notice func(string)
	free   func(dir string) (free, size int64, err error) // freeSpace, except in tests

	// Written is called with the path of each file that was written, to be synced later. It must be
	// set before ready is closed; nil does nothing.
	Written func(path string)

	ready   chan struct{} // closed once the leftovers of a crash are gone
	stop    context.CancelFunc
	ended   <-chan struct{}
	running sync.WaitGroup

	changing sync.Mutex // held during a change

	mu       sync.Mutex // guards what follows
	limits   limits
	db       *database // nil before the first use
	total    total
	oldestUS int64 // exit of the oldest run, or earlier
}

// Start opens the kept output of a data directory; use Close to end it. It changes nothing before
// ready is closed, and checks the limits until ctx ends. notice is called with messages for the user.
func Start(ctx context.Context, dir string, l *logs.Logs, log *slog.Logger, notice func(string), ready <-chan struct{}) *Output {
	ctx, stop := context.WithCancel(ctx)
	o := &Output{
		dir: filepath.Join(dir, datadir.Output), logs: l, log: log, notice: notice, free: freeSpace,
		ready: make(chan struct{}), stop: stop, ended: ctx.Done(), limits: defaultLimits(),
	}
	o.running.Go(panics.Logged(log, "kept output", func() { o.run(ctx, ready) }))
	return o
}

// Close stops the checks and closes the database. The output must not be used afterwards.
func (o *Output) Close() {
	o.stop()
	o.running.Wait()
	o.changing.Lock()
	defer o.changing.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.db != nil {
		if err := o.db.db.Close(); err != nil {
			o.log.Warn("close kept output", "error", err)
		}
	}
}

// KeepFor sets how long output is kept after a run has ended; 0 keeps nothing.
func (o *Output) KeepFor(age time.Duration) {
	o.mu.Lock()
	changed := o.limits.age != age
	o.limits.age = age
	o.mu.Unlock()
	select {
	case <-o.ready:
		if changed {
			o.enforce()
		}
	default: // run does it
	}
}

// Size returns how many runs are kept, and about how many bytes they need.
func (o *Output) Size() (runs int, bytes int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.total.runs, o.total.bytes
}

// run removes what a crash left, and then enforces the limits.
func (o *Output) run(ctx context.Context, ready <-chan struct{}) {
	select {
	case <-ready:
	case <-ctx.Done():
		return
	}
	step := func(f func()) { panics.Log(o.log, "kept output", f) }
	step(o.removeLeftovers)
	close(o.ready)
	check := time.NewTicker(checkGap)
	defer check.Stop()
	for {
		step(o.enforce)
		select {
		case <-check.C:
		case <-ctx.Done():
			return
		}
	}
}

// database returns the open database, or nil if there is none and create is false.
func (o *Output) database(create bool) (*database, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.db != nil && o.db.db.IsDeleted() {
		_ = o.db.db.Close() // its last writes are lost with the file
		o.db, o.total = nil, total{}
	}
	path := filepath.Join(o.dir, databaseName)
	if _, err := os.Stat(path); o.db != nil || errors.Is(err, fs.ErrNotExist) && !create {
		return o.db, nil
	}
	db, err := openDatabase(path)
	if errors.Is(err, errDamaged) {
		if db, err = nil, o.setAside(); err == nil {
			db, err = openDatabase(path)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open kept output %s: %w", path, err)
	}
	if o.total, o.oldestUS, err = db.sum(); err != nil {
		return nil, errors.Join(err, db.db.Close())
	}
	o.db = db
	return db, nil
}

// setAside renames a damaged database. o.mu is held.
func (o *Output) setAside() error {
	if o.db != nil {
		_ = o.db.db.Close() // it writes to a damaged file
		o.db, o.total = nil, total{}
	}
	aside, err := sqlitefile.SetAside(filepath.Join(o.dir, databaseName))
	if err == nil {
		o.notice("the database of kept output was damaged; it was set aside as " + aside + ", and a new one was started")
	}
	return err
}

// failed logs an error, and sets the database aside if the error says that it is damaged.
func (o *Output) failed(what string, err error) error {
	o.log.Warn(what+" kept output", "error", err)
	if errors.Is(err, errDamaged) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.db != nil {
			err = errors.Join(err, o.setAside())
		}
	}
	return fmt.Errorf("%s kept output: %w", what, err)
}

// Keep copies the output of ended runs, before their records are removed. Runs without a log are left
// out. drop deletes the copies of runs whose records stay after all. It is nil if the
// records must stay: the engine exits, or something failed that may work next time.
func (o *Output) Keep(runs []outputs.Target) (drop func(ids []string)) {
	nothing := func([]string) {}
	select {
	case <-o.ready:
	case <-o.ended:
		return nil
	}
	o.changing.Lock()
	defer o.changing.Unlock()
	if o.keepsNothing() || o.lackingSpace() > 0 {
		return nothing
	}
	db, err := o.database(true)
	if err != nil {
		return keepLater(runs, o.failed("open", err))
	}
	var rows []row
	for _, t := range runs {
		switch r, err := o.prepare(t); {
		case errors.Is(err, fs.ErrNotExist): // it has no log
		case err != nil:
			o.log.Warn("keep output", "id", t.Process.ID, "error", err)
			if keepLater(runs, err) == nil {
				o.removePrepared(rows)
				return nil
			}
		default:
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return nothing
	}
	added, err := db.add(rows)
	if err != nil {
		o.removePrepared(rows)
		return keepLater(runs, o.failed("add to", err))
	}
	o.mu.Lock()
	o.total = o.total.plus(added, 1)
	for _, r := range rows {
		o.oldestUS = min(cmp.Or(o.oldestUS, r.endedUS), r.endedUS)
	}
	o.mu.Unlock()
	o.noteWritten(filepath.Join(o.dir, databaseName+"-wal"))
	o.enforceNow()
	return func(ids []string) {
		if len(ids) > 0 {
			_, _ = o.Remove(ids...) // logged
		}
	}
}

// maxLater is how many runs wait until their output can be kept. With more, the list of ended runs would
// grow without end.
const maxLater = 200

// keepLater returns nil, so that the records stay until the next attempt, unless err is likely to remain.
func keepLater(runs []outputs.Target, err error) (drop func([]string)) {
	if errors.Is(err, errDiskFull) || errors.Is(err, store.ErrNewer) || len(runs) > maxLater {
		return func([]string) {}
	}
	return nil
}

// removePrepared deletes the files of runs that are not kept after all.
func (o *Output) removePrepared(rows []row) {
	for _, r := range rows {
		if err := removeFiles(o.dir, r.id); err != nil {
			o.log.Warn("keep output", "id", r.id, "error", err)
		}
	}
}

// prepare moves the output of a run to where it is kept, except for what goes into its row.
func (o *Output) prepare(t outputs.Target) (r row, err error) {
	f := factsOf(t)
	id := t.Process.ID
	if err := removeFiles(o.dir, id); err != nil { // of an attempt that a crash interrupted
		return r, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, removeFiles(o.dir, id))
		}
	}()
	var packs [2][]byte
	streams := t.Source.Streams()
	for i, stream := range streams {
		log, err := f.addLog(o.logs, t.Source, stream)
		if err != nil {
			return r, err
		}
		l := &f.Logs[i]
		if l.End-l.Start <= maxPacked {
			packs[i], err = readAll(log, *l)
		} else {
			l.File = true
			dir := filepath.Join(o.dir, id)
			if err = os.MkdirAll(dir, 0o700); err == nil {
				err = keepFile(log, l, t.Source.PathOf(stream), filepath.Join(dir, l.Name), o.limits.run/int64(len(streams)))
				o.noteWritten(filepath.Join(dir, l.Name))
			}
		}
		r.bytes += l.End - l.Start
		if err := errors.Join(err, log.Close()); err != nil {
			return r, err
		}
	}
	if r.facts, err = json.Marshal(f); err != nil {
		return r, err
	}
	at, kind, failed := outputs.KeptRow(t.Process)
	r.id, r.endedUS, r.kind, r.name, r.failed = id, at.UnixMicro(), kind, t.Process.Name, failed
	r.size = r.bytes + int64(len(r.facts))
	r.first, r.second = packs[0], packs[1]
	return r, nil
}

func (o *Output) noteWritten(path string) {
	if o.Written != nil {
		o.Written(path)
	}
}

// Remove deletes the output of runs at once. It reports whether it was kept.
func (o *Output) Remove(ids ...string) (found bool, err error) {
	o.changing.Lock()
	defer o.changing.Unlock()
	db, err := o.database(false)
	if db == nil || err != nil {
		return false, err
	}
	before, _ := o.Size()
	if err = o.remove(db, ids); err == nil {
		if after, _ := o.Size(); after < before {
			found, err = true, db.reclaim()
		}
	}
	if err != nil {
		err = o.failed("remove", err)
	}
	return found, err
}

// remove deletes runs. Their rows go first, so that a crash leaves no row without its file.
func (o *Output) remove(db *database, ids []string) error {
	removed, err := db.remove(ids)
	if err != nil {
		return err
	}
	o.mu.Lock()
	o.total = o.total.plus(removed, -1)
	o.mu.Unlock()
	for _, id := range ids {
		err = errors.Join(err, removeFiles(o.dir, id))
	}
	return err
}
