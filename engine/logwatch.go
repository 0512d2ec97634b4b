package engine

import (
	"context"
	"errors"
	"io/fs"

	"tandem/engine/api"
	"tandem/persist"
)

// shownLines is how many lines of a failed process's log are shown, and
// shownBytes how far back they are looked for.
const (
	shownLines = 20
	shownBytes = 16 << 10
)

// A logWatch finds lines that match in a log as it grows. It has to be closed.
type logWatch struct {
	open   func() (*persist.FileLog, error)
	search *persist.Search
	log    *persist.FileLog // nil as long as there is none
	at     int64            // start of the line that is looked at next
}

var errNoLine = errors.New("there is no such line")

// watchLog watches the log of a record from an offset on.
func (h *host) watchLog(r persist.Record, expr string, from int64) (*logWatch, error) {
	search, err := persist.NewSearch(expr)
	if err != nil {
		return nil, api.Errorf(api.CodeInvalid, "regular expression %s: %v", shown(expr), err)
	}
	return &logWatch{open: func() (*persist.FileLog, error) { return h.fileLog(r) }, search: search, at: from}, nil
}

// fileLog opens the log of a record for reading. That of a session is longer
// on disk than what was written.
func (h *host) fileLog(r persist.Record) (*persist.FileLog, error) {
	o := persist.FileLogOptions{}
	if r.TTY {
		o.End = func() int64 { return h.written(r.ID) }
	}
	return persist.OpenFileLog(h.logPath(r), o)
}

// written is how much a session has written.
func (h *host) written(id string) int64 {
	n, _ := ask(h.control.ctx, h.control, func() int64 {
		p := h.control.procs[id]
		switch {
		case p == nil:
			return 0
		case p.live != nil:
			return p.live.facts().bytes
		}
		return p.last.bytes
	})
	return n
}

// next looks at what has been written since and gives the first line that
// matches; errNoLine if there is none yet.
func (w *logWatch) next(ctx context.Context) (string, error) {
	if w.log == nil {
		log, err := w.open()
		if errors.Is(err, fs.ErrNotExist) {
			return "", errNoLine
		}
		if err != nil {
			return "", err
		}
		w.log = log
	}
	from, end := max(w.at, w.log.Start()), w.log.End()
	if end <= from {
		return "", errNoLine
	}
	line, found := "", false
	_, err := w.search.Forward(ctx, w.log, from, end, func(l persist.LogLine) bool {
		line, found = string(l.Text), true
		return false
	})
	switch {
	case err != nil:
		return "", err
	case found:
		return line, nil
	}
	// The last line may go on.
	if start, err := persist.LineStart(w.log, end); err == nil {
		w.at = max(w.at, start)
	}
	return "", errNoLine
}

func (w *logWatch) close() {
	if w.log != nil {
		_ = w.log.Close() // it was only read
	}
}
