package files

import (
	"context"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"

	"tandem/engine/panics"
	"tandem/engine/search"
)

const (
	defaultGrep = 100
	mostWorkers = 8
	mostAhead   = 1024 // files between the one whose lines come next and the last one begun
	mostContext = 1000
	mostPattern = 64 << 10 // bytes
)

// A GrepRequest says what to search for, and where.
type GrepRequest struct {
	Pattern    string // regular expression (RE2) for a line
	Path       string // file or folder
	Glob       string // only files that match; a ! in front turns it round
	IgnoreCase bool
	Context    int   // lines around each match
	Limit      int   // matches at most; 0 is the default
	MostBytes  int64 // below a folder, larger files are passed over; 0 is none
}

// A GrepResult is what was found, sorted by path, then line.
type GrepResult struct {
	Lines   []Line
	Matches int  // how many of the lines match
	Limited bool // there are more
	Passed  int  // files that were passed over because they are too large

	size int // bytes of text in Lines
}

// Grep searches the contents of files. It leaves out what git ignores and hidden
// files, unless a glob asks for them, binary files, and links.
func (t *Tree) Grep(ctx context.Context, r GrepRequest) (out GrepResult, err error) {
	err = t.confined(func() (err error) {
		out, err = t.grep(ctx, r)
		return err
	})
	return out, err
}

func (t *Tree) grep(ctx context.Context, r GrepRequest) (GrepResult, error) {
	if r.Context < 0 || r.Limit < 0 {
		return GrepResult{}, errorf(Invalid, "search %s: context and limit cannot be negative", r.Path)
	}
	if r.Limit == 0 {
		r.Limit = defaultGrep
	}
	r.Context = min(r.Context, mostContext)
	pattern, err := compilePattern(r.Pattern, r.IgnoreCase)
	if err != nil {
		return GrepResult{}, err
	}
	p, err := t.locate(r.Path, way{verb: "search"})
	if err != nil {
		return GrepResult{}, err
	}
	defer p.close()
	info, err := p.root.Stat(p.rel)
	if err != nil {
		return GrepResult{}, failure("search", p.path, err)
	}
	if !info.IsDir() {
		return p.grep(ctx, pattern, r)
	}
	return t.grepAll(ctx, pattern, r)
}

// compilePattern reads a regular expression that a caller gave.
func compilePattern(expr string, ignoreCase bool) (*search.Pattern, error) {
	if len(expr) > mostPattern {
		return nil, errorf(Invalid, "read pattern: it is longer than %d KB", mostPattern>>10)
	}
	pattern, err := search.Compile(expr, ignoreCase)
	if err != nil {
		why := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		return nil, errorf(Invalid, "read pattern %q: %s", expr, why).hint("it is a regular expression (RE2); escape literal characters with \\")
	}
	return pattern, nil
}

// grep searches one file.
func (p place) grep(ctx context.Context, pattern *search.Pattern, r GrepRequest) (GrepResult, error) {
	f, _, err := p.open("search")
	if err != nil {
		return GrepResult{}, err
	}
	defer f.Close()
	s := searching{pattern: pattern, context: r.Context, limit: r.Limit}
	lines, _, err := s.file(ctx, filepath.Base(p.path), f)
	if err != nil {
		return GrepResult{}, failure("search", p.path, err)
	}
	out := GrepResult{Lines: []Line{}}
	out.add(lines, r)
	return out, nil
}

// add takes the lines of a file, as far as the limit and the bound of an answer
// allow.
func (out *GrepResult) add(lines []Line, r GrepRequest) {
	trail := 0
	for _, l := range lines {
		switch {
		case l.Match && out.Matches == r.Limit, out.size > mostBytes:
			out.Limited = true
			return
		case l.Match:
			out.Matches++
			trail = r.Context
		case out.Matches == r.Limit && trail == 0:
			continue // it stands before a match that is too many
		default:
			trail--
		}
		out.Lines = append(out.Lines, l)
		out.size += len(l.Path) + len(l.Text)
	}
}

// A found is what was found in a file; files are numbered in the order of their
// paths.
type found struct {
	number int
	lines  []Line
}

// A job is a file to be searched.
type job struct {
	number int
	entry  entry
}

// grepAll searches all files below a folder: one goroutine walks, several
// search, and what they find is put in order.
func (t *Tree) grepAll(ctx context.Context, pattern *search.Pattern, r GrepRequest) (GrepResult, error) {
	skip, err := grepFilter(r.Glob)
	if err != nil {
		return GrepResult{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var crew, workers panics.Group
	defer crew.Wait()
	defer cancel()
	jobs, results := make(chan job), make(chan found, mostWorkers)
	ahead := make(chan struct{}, mostAhead)
	walked, failed := make(chan error, 1), make(chan error, mostWorkers)
	crew.Start(func() {
		defer close(jobs)
		walked <- t.confined(func() error { return t.feed(ctx, r.Path, skip, jobs, ahead) })
	})
	var passed atomic.Int64
	for range min(runtime.GOMAXPROCS(0), mostWorkers) {
		workers.Start(func() {
			finished := false
			defer func() {
				if !finished { // the others must not wait for its files
					cancel()
				}
			}()
			s := searching{pattern: pattern, context: r.Context, limit: r.Limit, most: r.MostBytes, passed: &passed}
			err := t.confined(func() error { return work(ctx, s, jobs, results) })
			if finished = err == nil; err != nil {
				failed <- err
			}
		})
	}
	crew.Start(func() {
		defer close(results)
		workers.Wait()
	})
	out, enough := collect(results, ahead, r)
	if enough {
		cancel()
	}
	crew.Wait()
	out.Passed = int(passed.Load())
	select {
	case err := <-failed:
		return GrepResult{}, err
	default:
	}
	if enough {
		return out, nil
	}
	if err := <-walked; err != nil {
		return GrepResult{}, err
	}
	return out, ctx.Err()
}

// grepFilter tells what to pass over.
func grepFilter(pattern string) (filter, error) {
	plain := func(_, name string, dir, ignored bool) bool { return ignored || name[0] == '.' }
	if pattern == "" {
		return plain, nil
	}
	positive, not := strings.CutPrefix(pattern, "!")
	g, err := compileGlob(positive, false)
	if err != nil {
		return nil, err
	}
	return func(rel, name string, dir, ignored bool) bool {
		switch matches := g.Match(rel, dir); {
		case not:
			return matches || plain(rel, name, dir, ignored)
		case dir:
			return plain(rel, name, dir, ignored)
		default:
			return !matches
		}
	}, nil
}

// feed walks and hands out files to be searched.
func (t *Tree) feed(ctx context.Context, path string, skip filter, jobs chan<- job, ahead chan<- struct{}) error {
	number := 0
	return t.walk(ctx, "search", path, skip, func(e entry) error {
		if !e.mode.IsRegular() {
			return nil
		}
		select {
		case ahead <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		e.folder.keep()
		select {
		case jobs <- job{number, e}:
		case <-ctx.Done():
			e.folder.drop()
			return ctx.Err()
		}
		number++
		return nil
	})
}

// work searches files until there are no more. What cannot be read holds
// nothing.
func work(ctx context.Context, s searching, jobs <-chan job, results chan<- found) error {
	for j := range jobs {
		lines := s.entry(ctx, j.entry)
		j.entry.folder.drop()
		select {
		case results <- found{j.number, lines}:
		case <-ctx.Done():
		}
	}
	return nil
}

func (s *searching) entry(ctx context.Context, e entry) []Line {
	f, err := e.folder.OpenFile(e.name, openFlags, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Mode().Type() != fs.FileMode(0) {
		return nil
	}
	if s.most > 0 && info.Size() > s.most {
		s.passed.Add(1)
		return nil
	}
	impatient(f)
	lines, _, err := s.file(ctx, e.rel, f)
	if err != nil {
		return nil
	}
	return lines
}

// collect puts together what was found until it is enough.
func collect(results <-chan found, ahead <-chan struct{}, r GrepRequest) (out GrepResult, enough bool) {
	out.Lines = []Line{}
	early := make(map[int][]Line)
	next := 0
	for f := range results {
		early[f.number] = f.lines
		for lines, ok := early[next]; ok; lines, ok = early[next] {
			delete(early, next)
			<-ahead
			next++
			if out.add(lines, r); out.Limited {
				return out, true
			}
		}
	}
	return out, false
}
