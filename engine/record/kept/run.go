package kept

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"tandem/engine/api"
	"tandem/engine/record/logs"
	"tandem/engine/record/outputs"
	"tandem/persist/linelog"
	"tandem/persist/sparse"
	"tandem/persist/store"
)

// facts describe a run, without its output. They are stored as JSON.
type facts struct {
	Process api.Process `json:"process"`
	Session string      `json:"session,omitempty"` // as in logs.Source
	Logs    []logFacts  `json:"logs"`              // one for each of its streams

	listed *[2][]byte // output, if it was read with the facts
}

// logFacts describe the log of one stream. Offsets are those of the original log, because the history
// refers to them.
type logFacts struct {
	Name  string     `json:"name"` // of its file
	Start int64      `json:"start"`
	End   int64      `json:"end"`
	Times [][2]int64 `json:"times,omitempty"` // offsets, and microseconds since 1970
	File  bool       `json:"file,omitempty"`  // it has a file
}

// factsOf returns the facts of a run, without those of its logs.
func factsOf(t outputs.Target) facts {
	f := facts{Process: t.Process, Session: t.Source.Session}
	if f.Process.Supervision != nil {
		s := *f.Process.Supervision
		s.LastLines = nil // its output has them
		f.Process.Supervision = &s
	}
	f.Process.LogPath, f.Process.ErrorLogPath = "", ""
	return f
}

// decodeFacts decodes the facts of a run. The error is about this run only: the others stay readable.
func decodeFacts(text []byte) (f facts, err error) {
	if err = json.Unmarshal(text, &f); err == nil && len(f.Logs) == 0 {
		err = errors.New("no logs")
	}
	if err != nil {
		return f, fmt.Errorf("read facts of kept output: %w", err)
	}
	return f, nil
}

// addLog adds the facts of the log of a stream, and opens it. The caller closes it.
func (f *facts) addLog(l *logs.Logs, source logs.Source, stream string) (*linelog.File, error) {
	path := source.PathOf(stream)
	log, err := linelog.Open(path, linelog.Options{})
	if err != nil {
		return nil, err
	}
	one := logFacts{Name: filepath.Base(path), Start: log.Start(), End: log.End()}
	if source.End != nil { // space is allocated after the end
		one.End = min(one.End, source.End())
	}
	one.Start = min(one.Start, one.End)
	for _, t := range l.TimesOf(source, stream) {
		one.Times = append(one.Times, [2]int64{t.Offset, t.At.UnixMicro()})
	}
	f.Logs = append(f.Logs, one)
	return log, nil
}

// A run is a kept one. It implements logs.Kept.
type run struct {
	output *Output
	facts
}

// target describes the run for searches. Paths without a file have the names of the original
// logs.
func (o *Output) target(f facts) outputs.Target {
	r := &run{o, f}
	p := f.Process
	path := func(l logFacts) string { return filepath.Join(o.dir, p.ID, l.Name) }
	s := logs.Source{
		Name: p.Name, Path: path(f.Logs[0]), Session: f.Session, Started: p.StartedAt, Kept: r,
		State: func() api.State { return p.State },
	}
	if f.Logs[0].File {
		p.LogPath = s.Path
	}
	if len(f.Logs) > 1 {
		if s.ErrPath = path(f.Logs[1]); f.Logs[1].File {
			p.ErrorLogPath = s.ErrPath
		}
	}
	return outputs.Target{Process: p, Source: s}
}

// log returns the facts of a log, and whether it is the second of two.
func (r *run) log(path string) (l logFacts, second bool) {
	if len(r.Logs) > 1 && r.Logs[1].Name == filepath.Base(path) {
		return r.Logs[1], true
	}
	return r.Logs[0], false
}

func (r *run) Open(path string) (logs.File, error) {
	l, second := r.log(path)
	if l.File {
		f, err := linelog.Open(path, linelog.Options{End: func() int64 { return l.End }})
		if err != nil {
			return nil, err
		}
		return part{f, l.Start}, nil
	}
	data, err := r.read(second)
	if err != nil {
		return nil, err
	}
	if int64(len(data)) != l.End-l.Start {
		return nil, fmt.Errorf("read kept output of %s: %w", r.Process.ID, errDamaged)
	}
	return packed{data, l.Start}, nil
}

// read returns the output of a stream from the database.
func (r *run) read(second bool) ([]byte, error) {
	switch {
	case r.listed == nil:
		return r.output.readRow(r.Process.ID, second)
	case second:
		return r.listed[1], nil
	}
	return r.listed[0], nil
}

func (r *run) Times(path string) []api.LogTime {
	l, _ := r.log(path)
	times := make([]api.LogTime, len(l.Times))
	for i, t := range l.Times {
		times[i] = api.LogTime{Offset: t[0], At: time.UnixMicro(t[1])}
	}
	return times
}

func (r *run) Extent(path string) (start, end int64) {
	l, _ := r.log(path)
	return l.Start, l.End
}

// A part is a file whose first bytes were dropped, whether or not its file system supports holes.
type part struct {
	*linelog.File
	start int64
}

func (p part) Start() int64 { return p.start }

func (p part) ReadAt(b []byte, off int64) (int, error) {
	if off < p.start {
		return 0, dropped(off)
	}
	return p.File.ReadAt(b, off)
}

// A packed is a log whose bytes are in the database.
type packed struct {
	data  []byte
	start int64 // offset of the first byte
}

func (p packed) Start() int64                { return p.start }
func (p packed) End() int64                  { return p.start + int64(len(p.data)) }
func (p packed) Close() error                { return nil }
func (p packed) Written() (time.Time, error) { return time.Time{}, nil }

func (p packed) ReadAt(b []byte, off int64) (int, error) {
	switch {
	case off < p.start:
		return 0, dropped(off)
	case off > p.End():
		return 0, io.EOF
	}
	n := copy(b, p.data[off-p.start:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func dropped(off int64) error {
	return fmt.Errorf("read kept output at %d: %w", off, sparse.ErrDropped)
}

// readAll reads a short log.
func readAll(log *linelog.File, l logFacts) ([]byte, error) {
	data := make([]byte, l.End-l.Start)
	if n, err := log.ReadAt(data, l.Start); n < len(data) {
		return nil, fmt.Errorf("read log %s: %w", l.Name, errors.Join(err, io.ErrUnexpectedEOF))
	}
	return data, nil
}

// keepFile makes a log the file at path. It links it: the log stays readable until the record is
// removed. If it has more than limit bytes, or cannot be linked, its end is copied to the same
// offsets, and l.Start changes to the first whole line there.
func keepFile(log *linelog.File, l *logFacts, source, path string, limit int64) error {
	if l.End-l.Start <= limit && os.Link(source, path) == nil {
		return nil
	}
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return store.Cause(err)
	}
	err = copyEnd(to, log, l, limit)
	return errors.Join(err, to.Close())
}

func copyEnd(to *os.File, log *linelog.File, l *logFacts, limit int64) error {
	if from := l.End - limit; from > l.Start {
		start, err := linelog.LineEnd(log, from)
		if err != nil {
			return err
		}
		l.Start = start
	}
	_, err := io.Copy(io.NewOffsetWriter(to, l.Start), io.NewSectionReader(log, l.Start, l.End-l.Start))
	return err
}

// removeFiles deletes the files of a run.
func removeFiles(dir, id string) error {
	err := os.RemoveAll(filepath.Join(dir, id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
