package files

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"

	"tandem/engine/base/panics"
	"tandem/engine/record/search"
)

const (
	defaultGrep = 100
	maxWorkers  = 8
	maxAhead    = 1024 // files between the next one to report and the last one begun
	aheadSize   = maxBytes / maxAhead
	maxContext  = 1000
	maxPattern  = 64 << 10 // bytes
)

// A GrepRequest holds the arguments of Grep.
type GrepRequest struct {
	Pattern    string // regular expression (RE2) matched against each line
	Path       string // file or folder
	Glob       string // only files that match; a leading ! inverts it
	IgnoreCase bool
	Context    int   // lines around each match
	Limit      int   // maximum number of matches; 0 is the default
	MaxBytes   int64 // skip larger files below a folder; 0 is no limit
}

// A GrepResult is the result of Grep, sorted by path and line.
type GrepResult struct {
	Lines   []Line
	Matches int  // number of matching lines
	Limited bool // more lines match
	Skipped int  // files skipped for their size
	Binary  int  // binary files skipped or, if the path is that of one, 1
	File    bool // the path is that of a file

	size int // of Lines, in bytes
}

// Grep searches the contents of files. Below a folder, it skips binary files and links and, unless a
// glob includes them, hidden files and those ignored by git. Of a binary file that is named, it
// reports only whether it matches.
func (s Searcher) Grep(ctx context.Context, r GrepRequest) (out GrepResult, err error) {
	err = s.Tree.runConfined(func() (err error) {
		out, err = s.grepPath(ctx, r)
		return err
	})
	return out, err
}

func (s Searcher) grepPath(ctx context.Context, r GrepRequest) (GrepResult, error) {
	if r.Context < 0 || r.Limit < 0 {
		return GrepResult{}, errorf(Invalid, "search %s: context and limit cannot be negative", r.Path)
	}
	if r.Limit == 0 {
		r.Limit = defaultGrep
	}
	r.Context = min(r.Context, maxContext)
	pattern, err := compilePattern(r.Pattern, r.IgnoreCase)
	if err != nil {
		return GrepResult{}, err
	}
	p, err := s.Tree.locate(r.Path, lookup{verb: "search"})
	if err != nil {
		return GrepResult{}, err
	}
	defer p.close()
	info, err := p.root.Stat(p.rel)
	if err != nil {
		return GrepResult{}, fileError("search", p.path, err)
	}
	if !info.IsDir() {
		return p.grepFile(ctx, pattern, r)
	}
	return s.grepAll(ctx, pattern, r)
}

// compilePattern compiles a caller's regular expression, with an Error for an invalid one.
func compilePattern(expr string, ignoreCase bool) (*search.Pattern, error) {
	if len(expr) > maxPattern {
		return nil, errorf(Invalid, "read pattern: it is longer than %d KB", maxPattern>>10)
	}
	pattern, err := search.Compile(expr, ignoreCase)
	if err != nil {
		why := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		return nil, errorf(Invalid, "read pattern %q: %s", expr, why).withHint("it is a regular expression (RE2); escape literal characters with \\")
	}
	return pattern, nil
}

// grepFile searches one file.
func (p location) grepFile(ctx context.Context, pattern *search.Pattern, r GrepRequest) (GrepResult, error) {
	f, _, err := p.openRegular("search")
	if err != nil {
		return GrepResult{}, err
	}
	defer f.Close()
	s := fileSearch{pattern: pattern, context: r.Context, limit: r.Limit}
	st, err := s.searchFile(ctx, filepath.Base(p.path), f)
	if err != nil {
		return GrepResult{}, fileError("search", p.path, err)
	}
	out := GrepResult{Lines: []Line{}, File: true}
	if st.binary {
		out.Binary, out.Matches = 1, st.matches
		return out, nil
	}
	out.addLines(st.lines, r)
	return out, nil
}

// addLines appends the lines of one file, up to the limits of r and of an answer's size.
func (out *GrepResult) addLines(lines []Line, r GrepRequest) {
	trail := 0
	for _, l := range lines {
		switch {
		case l.Match && out.Matches == r.Limit, out.size+l.size() > maxBytes:
			out.Limited = true
			return
		case l.Match:
			out.Matches++
			trail = r.Context
		case out.Matches == r.Limit && trail == 0:
			continue // context before a match over the limit
		default:
			trail--
		}
		out.Lines = append(out.Lines, l)
		out.size += l.size()
	}
}

// A fileResult holds the lines found in one file. Files are numbered in the order of their paths.
type fileResult struct {
	number int
	lines  []Line
	places int // in the queue of files ahead, held for the size of lines
}

// A job is a file to search.
type job struct {
	number int
	entry  entry
}

// grepAll searches all files below a folder: one goroutine walks, several search, and their results
// are put in order.
func (s Searcher) grepAll(ctx context.Context, pattern *search.Pattern, r GrepRequest) (GrepResult, error) {
	skip, err := grepFilter(r.Glob)
	if err != nil {
		return GrepResult{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var crew, workers panics.Group
	defer crew.Wait()
	// Deferred calls run in reverse: cancel first, or the goroutines would not stop.
	defer cancel()
	jobs, results := make(chan job), make(chan fileResult, maxWorkers)
	// One slow file must not let the results of all later ones pile up.
	ahead := make(chan struct{}, maxAhead)
	walked, failed := make(chan error, 1), make(chan error, maxWorkers)
	crew.Start(func() {
		defer close(jobs)
		walked <- s.Tree.runConfined(func() error { return s.queueFiles(ctx, r.Path, skip, jobs, ahead) })
	})
	var skipped, binaries atomic.Int64
	for range min(runtime.GOMAXPROCS(0), maxWorkers) {
		workers.Start(func() {
			finished := false
			defer func() {
				// If this worker panics, no other takes its jobs, so stop the others.
				if !finished {
					cancel()
				}
			}()
			scan := fileSearch{pattern: pattern, context: r.Context, limit: r.Limit, maxBytes: r.MaxBytes, skipped: &skipped, binaries: &binaries}
			err := s.Tree.runConfined(func() error { return searchFiles(ctx, scan, jobs, results) })
			if finished = err == nil; err != nil {
				failed <- err
			}
		})
	}
	crew.Start(func() {
		defer close(results)
		workers.Wait()
	})
	out, enough := collectResults(results, ahead, r)
	if enough {
		cancel()
	}
	crew.Wait()
	out.Skipped, out.Binary = int(skipped.Load()), int(binaries.Load())
	select {
	case err := <-failed:
		return GrepResult{}, err
	default:
	}
	if enough {
		return out, nil
	}
	err = <-walked
	if errors.Is(err, errTooMany) {
		out.Limited, err = true, nil
	}
	if err != nil {
		return GrepResult{}, err
	}
	return out, ctx.Err()
}

// grepFilter returns the filter for a walk. It skips what does not match the glob pattern or, if
// that is "", hidden and ignored entries.
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

// queueFiles walks and sends the files to search. ahead bounds how far the walk may be in front of
// the results.
func (s Searcher) queueFiles(ctx context.Context, path string, skip filter, jobs chan<- job, ahead chan<- struct{}) error {
	number := 0
	return s.walkFolder(ctx, "search", path, ".rgignore", skip, func(e entry) error {
		if !e.mode.IsRegular() {
			return nil
		}
		select {
		case ahead <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		e.dir.retain()
		select {
		case jobs <- job{number, e}:
		case <-ctx.Done():
			e.dir.release()
			return ctx.Err()
		}
		number++
		return nil
	})
}

// searchFiles searches files until jobs is closed. An unreadable file has no matches.
func searchFiles(ctx context.Context, s fileSearch, jobs <-chan job, results chan<- fileResult) error {
	for j := range jobs {
		lines := s.searchEntry(ctx, j.entry)
		j.entry.dir.release()
		select {
		case results <- fileResult{number: j.number, lines: lines}:
		case <-ctx.Done():
		}
	}
	return nil
}

func (s *fileSearch) searchEntry(ctx context.Context, e entry) []Line {
	f, err := e.dir.OpenFile(e.name, openFlags, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Mode().Type() != fs.FileMode(0) {
		return nil
	}
	if s.maxBytes > 0 && info.Size() > s.maxBytes {
		s.skipped.Add(1)
		return nil
	}
	setReadTimeout(f)
	st, err := s.searchFile(ctx, e.rel, f)
	if err != nil {
		return nil
	}
	return st.lines
}

// collectResults puts the results in order until enough is found.
func collectResults(results <-chan fileResult, ahead chan struct{}, r GrepRequest) (out GrepResult, enough bool) {
	out.Lines = []Line{}
	early := make(map[int]fileResult)
	next := 0
	for f := range results {
		if f.number != next {
			f.places = holdPlaces(ahead, sizeOfLines(f.lines))
		}
		early[f.number] = f
		for f, ok := early[next]; ok; f, ok = early[next] {
			delete(early, next)
			for range 1 + f.places {
				<-ahead
			}
			next++
			if out.addLines(f.lines, r); out.Limited {
				return out, true
			}
		}
	}
	return out, false
}

// holdPlaces takes places in ahead while lines of size bytes wait for the result of an earlier
// file. It takes as many as are free, at most one for each aheadSize bytes, and returns their
// number. Once all places are taken, no further file is begun.
func holdPlaces(ahead chan<- struct{}, size int) (places int) {
	for ; places < size/aheadSize; places++ {
		select {
		case ahead <- struct{}{}:
		default:
			return places
		}
	}
	return places
}

// sizeOfLines returns the memory that lines take, in bytes.
func sizeOfLines(lines []Line) (size int) {
	for _, l := range lines {
		size += l.size()
	}
	return size
}
