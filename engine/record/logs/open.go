package logs

import (
	"errors"
	"io"
	"math"
	"os"
	"sort"
	"time"

	"tandem/engine/api"
	"tandem/persist/linelog"
)

// A File is an open log. *linelog.File is one.
type File interface {
	linelog.Reader
	io.Closer
	Written() (time.Time, error) // time of the last write; zero if unknown
}

// Kept has the logs of a process without a record, by their paths. It is safe for concurrent use.
type Kept interface {
	// Open opens a log. The error is fs.ErrNotExist if it was deleted meanwhile.
	Open(path string) (File, error)
	// Times returns when the parts of a log were written, as far as known, in ascending order.
	Times(path string) []api.LogTime
	// Extent returns the offsets of a log's first byte and of the end, without opening it.
	Extent(path string) (start, end int64)
}

type reader struct {
	linelog.Reader
	file File
}

func (r *reader) Close() error                { return r.file.Close() }
func (r *reader) Written() (time.Time, error) { return r.file.Written() }

// openLog opens the log. If there is none yet, it returns nil without an error.
func (p Source) openLog() (*reader, error) {
	l, err := p.openFile()
	if errors.Is(err, os.ErrNotExist) {
		return nil, p.errDeleted()
	}
	if err != nil {
		return nil, err
	}
	return &reader{Hide(l, p.secret), l}, nil
}

func (p Source) openFile() (File, error) {
	if p.Kept != nil {
		return p.Kept.Open(p.Path)
	}
	return linelog.Open(p.Path, linelog.Options{End: p.End, Open: p.open})
}

// errDeleted returns an error if the process is running although its log is missing. Logs are
// created before processes start, so someone has deleted the log.
func (p Source) errDeleted() error {
	if p.State == nil {
		return nil
	}
	switch p.State() {
	case api.StateRunning, api.StateStopping:
		return api.Errorf(api.CodeNotFound, "read log of %s: %s was deleted", p.Name, p.Path).
			WithHint("restart the process to get a new log")
	}
	return nil
}

// TimesOf returns when the parts of the log of a stream from Streams were written, as far as known,
// in ascending order.
func (s *Logs) TimesOf(p Source, stream string) []api.LogTime {
	p.Path = p.PathOf(stream)
	return s.timesOf(p, 0, math.MaxInt64)
}

// timesBetween returns the times that cover part of a log.
func timesBetween(t []api.LogTime, from, to int64) []api.LogTime {
	first := max(sort.Search(len(t), func(i int) bool { return t[i].Offset > from })-1, 0)
	last := sort.Search(len(t), func(i int) bool { return t[i].Offset >= to })
	return t[min(first, last):last]
}
