// Package scrub overwrites text in the files of a data directory: in logs and checkpoints of
// terminals, records, the history and the audit log. Sizes and offsets stay the same. It finds the
// places first and writes the list of them, without their text, to a file. So if the process is
// killed meanwhile, the next one completes it.
package scrub

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/engine/api"
	"tandem/persist/datadir"
	"tandem/persist/linelog"
	"tandem/persist/regular"
	"tandem/persist/store"
)

// maxSpans limits a plan.
const maxSpans = 1_000_000

// A Query describes the text to overwrite and its places.
type Query struct {
	Expression string   // RE2, of text in one line
	Texts      []string // instead of Expression
	IDs        []string // of the sessions and processes whose files are searched; nil for all
	Last       *Command // its output and its line too
}

// A Command is one run of a command in a shell.
type Command struct {
	ID       string // of the session
	Row      string // id of its row in the history
	From, To int64  // offsets of its output in the log
}

// A Kind of places.
type Kind string

const (
	kindOutput      Kind = "output"      // logs
	kindScreen      Kind = "screen"      // checkpoints
	kindRecord      Kind = "record"      // of a session or process
	kindHistory     Kind = "history"     // of commands
	kindKept        Kind = "kept output" // of trimmed records
	kindCalls       Kind = "agents' calls"
	kindEngineLog   Kind = "engine log"
	kindEnvironment Kind = "environment"
	kindBuffers     Kind = "tmux"
	kindOther       Kind = "other files"
)

// Places are those of one kind, in files of one session or process.
type Places struct {
	Where  Kind
	ID     string // "" for files of none
	Count  int
	Sample string // a line in which the text is overwritten already
}

// A finder collects the places of a query.
type finder struct {
	Query
	dir     string
	pattern *pattern // nil if there is only a command
	scanned map[string]int64
	before  map[string]int64
	plan    Plan
	places  []Places
	spans   int
}

// A Result has the places found.
type Result struct {
	Plan    Plan
	Places  []Places
	scanned map[string]int64 // how far each log was searched, by its path
}

// Find finds the places of a query in the data directory dir. If earlier is not nil, logs
// are searched from where it has ended, and its places in them are added.
func Find(ctx context.Context, dir string, q Query, earlier *Result) (*Result, error) {
	s := &finder{Query: q, dir: dir, scanned: map[string]int64{}}
	var err error
	if q.Expression != "" || len(q.Texts) > 0 {
		if s.pattern, err = compile(q.Expression, q.Texts); err != nil {
			return nil, err
		}
	}
	if earlier != nil {
		s.before = earlier.scanned
		for _, f := range earlier.Plan.Files {
			if f.Log {
				s.plan.Files = append(s.plan.Files, f)
			}
		}
	}
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		rel, relErr := filepath.Rel(dir, path)
		if err = errors.Join(err, relErr, ctx.Err()); err != nil {
			return err
		}
		switch {
		case e.IsDir() && s.skips(rel):
			return fs.SkipDir
		case !e.Type().IsRegular():
			return nil
		}
		return s.inFile(ctx, rel)
	})
	for _, t := range tables() {
		if err == nil {
			err = s.inTable(ctx, t)
		}
	}
	if err != nil {
		return nil, err
	}
	return &Result{s.plan, s.places, s.scanned}, nil
}

// skips reports whether a directory has no text of the user or of programs, or rules and keys that
// must stay, or belongs to a process outside the search.
func (s *finder) skips(rel string) bool {
	parts := strings.Split(rel, string(filepath.Separator))
	switch parts[0] {
	case datadir.Fleet, datadir.Hub, datadir.Page, datadir.Shell:
		return true
	case datadir.Processes, datadir.Output:
		return len(parts) == 2 && !s.covers(parts[1])
	}
	return false
}

// covers reports whether the files of a session or process are searched.
func (s *finder) covers(id string) bool {
	return s.IDs == nil || slices.Contains(s.IDs, id)
}

// inFile finds the places in a file.
func (s *finder) inFile(ctx context.Context, rel string) (err error) {
	name := filepath.Base(rel)
	folder := filepath.Base(filepath.Dir(rel))
	switch {
	case name == store.LogName, name == store.StdoutName, name == store.StderrName:
		err = s.inLog(ctx, rel, folder)
	case name == "checkpoint", name == "checkpoint.old":
		err = s.inCheckpoint(rel, folder)
	case s.pattern != nil && !isFixed(name):
		err = s.inOther(rel, folder)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && s.spans > maxSpans {
		return api.Errorf(api.CodeInvalid, "scrub: more than %d places", maxSpans).WithHint("give an expression that matches less")
	}
	return err
}

// isFixed reports whether a file has nothing to overwrite: databases, which are searched by row, and
// files that decide what may run or be read.
func isFixed(name string) bool {
	switch name {
	case "sandbox.json", "sizes", "input", "exit.json", datadir.LastEngine, datadir.LastPolicy, datadir.AgentTokens, datadir.AgentSetup, datadir.Scrub:
		return true
	}
	return strings.HasSuffix(name, ".lock") || strings.Contains(name, ".db") && !strings.Contains(name, ".bad")
}

func (s *finder) inLog(ctx context.Context, rel, id string) error {
	log, err := linelog.Open(filepath.Join(s.dir, rel), linelog.Options{})
	if err != nil {
		return err
	}
	defer log.Close()
	from, end := s.before[rel], log.End()
	s.scanned[rel] = end
	var found []span
	var first []byte
	if s.pattern != nil {
		if from > 0 { // the last line may have been incomplete
			if from, err = linelog.LineStart(log, from); err != nil {
				from = 0
			}
		}
		if found, first, err = s.pattern.inLog(ctx, log, from, end); err != nil {
			return fmt.Errorf("search %s: %w", rel, err)
		}
	}
	if s.Last != nil && s.Last.ID == id {
		all := pattern{all: true}
		output, _, err := all.inLog(ctx, log, promptEnd(log, s.Last.From), min(s.Last.To, end))
		if err != nil {
			return fmt.Errorf("search %s: %w", rel, err)
		}
		found = merged(append(found, output...))
	}
	return s.addFile(file{Path: rel, Spans: found, Log: true}, nil, kindOutput, id, first)
}

// maxTyped is how many bytes before its output the line of a command may begin.
const maxTyped = 64 << 10

// promptEnd returns where the line of a command begins whose output begins at an offset: at the last
// mark of the end of a prompt before it (OSC 133;B), or else at the start of the line in the log.
func promptEnd(log linelog.Reader, output int64) int64 {
	from := max(output-maxTyped, log.Start(), 0)
	before := make([]byte, max(output-from, 0))
	n, _ := log.ReadAt(before, from) // an error leaves fewer bytes
	if at := bytes.LastIndex(before[:n], []byte("\x1b]133;B")); at >= 0 {
		return from + int64(at)
	}
	return from + int64(bytes.LastIndexByte(before[:n], '\n')) + 1
}

func (s *finder) inCheckpoint(rel, id string) error {
	content, err := regular.ReadFile(filepath.Join(s.dir, rel))
	if err != nil {
		return err
	}
	c, err := store.DecodeCheckpoint(content)
	if err != nil { // a damaged one is not used; its text is found as in other files
		return s.addText(rel, content, kindScreen, id)
	}
	p := s.pattern
	if s.Last != nil && s.Last.ID == id && c.Offset > s.Last.From-maxTyped {
		p = &pattern{all: true}
	}
	if p == nil {
		return nil
	}
	return s.addFile(file{Path: rel, Spans: p.inLine(c.Repaint), Checkpoint: true}, c.Repaint, kindScreen, id, nil)
}

func (s *finder) inOther(rel, folder string) error {
	content, err := regular.ReadFile(filepath.Join(s.dir, rel))
	if err != nil {
		return err
	}
	where, id := kindOther, ""
	top, _, nested := strings.Cut(rel, string(filepath.Separator))
	switch {
	case nested && top == datadir.Processes:
		where, id = kindRecord, folder
	case nested && top == datadir.Tmux:
		where = kindBuffers
	case strings.HasPrefix(rel, datadir.Audit):
		where = kindCalls
	case strings.HasPrefix(rel, datadir.EngineLog):
		where = kindEngineLog
	case strings.HasPrefix(rel, datadir.Environment):
		where = kindEnvironment
	}
	if strings.Contains(filepath.Base(rel), ".json") {
		found, encoded := s.pattern.inJSON(content, rel)
		return s.addFile(file{Path: rel, Spans: found, Base64: encoded}, content, where, id, nil)
	}
	return s.addText(rel, content, where, id)
}

// addText adds the places in a file of text.
func (s *finder) addText(rel string, content []byte, where Kind, id string) error {
	if s.pattern == nil {
		return nil
	}
	found, _ := s.pattern.addLines(nil, nil, content, 0)
	return s.addFile(file{Path: rel, Spans: found}, content, where, id, nil)
}

// addFile adds the places in a file, if there are any. content is its content, or a checkpoint's
// repaint; nil for a log.
func (s *finder) addFile(f file, content []byte, where Kind, id string, sample []byte) error {
	if len(f.Spans) == 0 && len(f.Base64) == 0 {
		return nil
	}
	if !f.Log {
		f.Sum = f.sumOf(content)
	}
	info, err := os.Lstat(filepath.Join(s.dir, f.Path))
	if err != nil {
		return err
	}
	f.Inode, f.Size = inodeOf(info), info.Size()
	s.plan.Files = append(s.plan.Files, f)
	s.note(where, id, len(f.Spans)+len(f.Base64), sample)
	return nil
}

// note counts places.
func (s *finder) note(where Kind, id string, n int, sample []byte) {
	s.spans += n
	for i := range s.places {
		if p := &s.places[i]; p.Where == where && p.ID == id {
			p.Count += n
			return
		}
	}
	s.places = append(s.places, Places{Where: where, ID: id, Count: n, Sample: string(sample)})
}
