package host

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"tandem/engine/api"
	"tandem/engine/control/launch"
	"tandem/engine/session/terminal"
	"tandem/persist/memfile"
	"tandem/persist/ptylog"
	"tandem/persist/store"
)

// The log of a private session is a file in memory, so everything that reads or writes logs works
// with it too. It is lost with the engine. The next engine finds the child by its record, which has
// no command or folder, and asks the program to draw its screen again.

// maxPrivateLog is how many bytes of a private session's output are kept at most.
const maxPrivateLog = 16 << 20

// lostNote is the beginning of the log of a private session that outlived its engine.
const lostNote = "[tandem: the earlier output is gone: this session is private, so it was only in the memory of the engine, which has been replaced]\r\n"

// privateSessions hold what an engine knows of private sessions. The zero value is ready to use.
type privateSessions struct {
	files memfile.Files // logs, by the path that they would have on disk

	mu    sync.Mutex
	sizes map[string][]store.Resize // by id
}

// openLog opens the log that would be at path, or creates it. If the session has run before, a new
// log begins with lostNote.
func (p *privateSessions) openLog(path string, limit int64, ran bool) (terminal.Log, error) {
	isLost := ran && !p.files.Has(path)
	log, err := ptylog.Open(path, ptylog.Options{Limit: min(limit, maxPrivateLog), Open: p.files.Open})
	if err != nil || !isLost {
		return log, err
	}
	space, err := log.Space(len(lostNote))
	if err == nil {
		_, err = log.Commit(copy(space, lostNote))
	}
	return log, err
}

func (p *privateSessions) remove(id, path string) {
	p.files.Remove(path)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.sizes, id)
}

// maxPrivateSizes is how many sizes of a private session's terminal are remembered.
const maxPrivateSizes = 10_000

// AppendResize implements terminal.Journal.
func (p *privateSessions) AppendResize(id string, r store.Resize) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sizes == nil {
		p.sizes = map[string][]store.Resize{}
	}
	all := p.sizes[id]
	for len(all) > 0 && all[len(all)-1].Offset >= r.Offset {
		all = all[:len(all)-1]
	}
	all = append(all, r)
	p.sizes[id] = all[max(len(all)-maxPrivateSizes, 0):]
	return nil
}

// ReadResizes implements terminal.Journal.
func (p *privateSessions) ReadResizes(id string) ([]store.Resize, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.sizes[id]), nil
}

// SaveCheckpoint implements terminal.Journal. A replay reads the whole log instead.
func (*privateSessions) SaveCheckpoint(string, store.Checkpoint) error { return nil }

// ReadCheckpoints implements terminal.Journal.
func (*privateSessions) ReadCheckpoints(string) ([]store.Checkpoint, error) { return nil, nil }

// journalFor returns the journal of a session's terminal, which is onDisk unless the session is
// private.
func (p *privateSessions) journalFor(r store.Record, onDisk *store.Store) terminal.Journal {
	if r.Private {
		return p
	}
	return onDisk
}

// loggerFor returns the logger for a session.
func loggerFor(r store.Record, log *slog.Logger) *slog.Logger {
	if r.Private {
		return slog.New(withoutValues{log.Handler()})
	}
	return log
}

// withoutValues is a handler that leaves out the values of errors and panics, which may quote what a
// program printed.
type withoutValues struct{ slog.Handler }

func (w withoutValues) Handle(ctx context.Context, r slog.Record) error {
	shown := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "error" || a.Key == "panic" {
			a.Value = slog.StringValue("not logged: the session is private")
		}
		shown.AddAttrs(a)
		return true
	})
	return w.Handler.Handle(ctx, shown)
}

// failLost marks a private session that has not been started, or was about to be restarted, as
// failed: its command was only in the memory of an earlier engine.
func failLost(r *store.Record) {
	if r.Private && (r.State == string(api.StateWaiting) || r.State == string(api.StateBackoff)) {
		r.State, r.Error = string(api.StateFailed), "its command is not known any more: the session is private, and the engine was replaced before it was started"
	}
}

// commandLineOf returns the arguments of a running process, or nil if they cannot be read.
func commandLineOf(pid int) []string {
	line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil || len(line) == 0 || line[0] == 0 {
		return nil
	}
	return strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
}

// isMarkedPrivate reports whether a process was, or may have been, started as the program of a private
// session.
func isMarkedPrivate(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return err != nil || slices.ContainsFunc(bytes.Split(text, []byte{0}), func(pair []byte) bool { return string(pair) == launch.PrivateMark })
}
