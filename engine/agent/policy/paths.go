package policy

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"os/user"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

const (
	// maxFolders limits the directories followed after cd.
	maxFolders = 16
	// maxSearch limits the total length of the paths looked up for an action, maxPath the length of
	// one.
	maxSearch = 64 << 10
	maxPath   = 4096
)

// A location is an absolute, clean path: a known one, the matches of a glob, or any path.
type location struct {
	path  string
	glob  bool // the path is a pattern for path.Match
	loose bool // the glob matches more than the word can become
	any   bool
}

// A pathSearch finds the paths named by commands.
type pathSearch struct {
	action    Action
	arguments bool // include arguments
	left      int  // bytes of paths left to look up
}

// findParts returns all paths of the commands found. Each is looked up in every directory a command
// may run in, because cd may fail.
func (s *pathSearch) findParts(r *analysis) []part {
	var parts []part
	folders := []string{s.action.CWD}
	// In a loop, a cd at its end affects the commands at its start.
	if r.repeats {
		for _, c := range r.found {
			parts = append(parts, s.enterDirs(&folders, c)...)
		}
	}
	for _, c := range r.found {
		for _, dir := range folders {
			parts = append(parts, s.findInCommand(c, dir)...)
			if s.left < 0 {
				return append(parts, anywhere(c, true))
			}
		}
		parts = append(parts, s.enterDirs(&folders, c)...)
	}
	return parts
}

// anywhere returns a part for an unknown path.
func anywhere(c simpleCommand, guessed bool) part {
	return part{kind: filePart, command: c, at: location{any: true}, guessed: guessed, write: true, what: c.String()}
}

// enterDirs follows a command that may change the directory.
func (s *pathSearch) enterDirs(folders *[]string, c simpleCommand) (parts []part) {
	for _, start := range c.starts() {
		parts = append(parts, s.followCD(folders, start)...)
	}
	return parts
}

func (s *pathSearch) followCD(folders *[]string, c simpleCommand) []part {
	if len(c.words) == 0 || c.words[0].text != "cd" && c.words[0].text != "pushd" && c.words[0].text != "chdir" {
		return nil
	}
	to := word{text: "~", known: true}
	if len(c.words) > 1 {
		to = c.words[len(c.words)-1]
	}
	dir, ok := s.absolutePath(to.text, s.action.CWD, false)
	switch {
	case to.text == "-" && len(*folders) > 1: // one of the known directories
	case !to.known || !ok || c.more || to.text == "-" || len(*folders) == maxFolders:
		return []part{anywhere(c, true)}
	case filepath.IsAbs(to.text), strings.HasPrefix(to.text, "~"):
		*folders = append(*folders, dir)
	default:
		for _, from := range slices.Clone(*folders) {
			if len(*folders) == maxFolders {
				return []part{anywhere(c, true)}
			}
			// cd may have failed, so the earlier directories stay in the list.
			*folders = append(*folders, from+"/"+to.text)
		}
	}
	return nil
}

// findInCommand returns the paths named by a simple command running in dir.
func (s *pathSearch) findInCommand(c simpleCommand, dir string) []part {
	var parts []part
	for _, target := range c.reads {
		parts = append(parts, s.findTarget(c, target, dir, false)...)
	}
	for _, target := range c.writes {
		parts = append(parts, s.findTarget(c, target, dir, true)...)
	}
	if !s.arguments {
		return parts
	}
	if c.more {
		parts = append(parts, anywhere(c, true))
	}
	for i, w := range c.words {
		if i > 0 || !w.known {
			parts = append(parts, s.findInArgument(c, w, dir)...)
		}
	}
	for _, w := range c.sets {
		if w.known {
			parts = append(parts, s.findInArgument(c, w, dir)...)
		}
	}
	return parts
}

// findTarget returns the paths read or written by a redirection.
func (s *pathSearch) findTarget(c simpleCommand, w word, dir string, write bool) []part {
	parts := []part{anywhere(c, false)}
	if w.known || w.glob != "" {
		parts = s.partsForPath(c, w, wordText(w), dir)
	}
	for i := range parts {
		parts[i].write, parts[i].guessed = write, false
	}
	return parts
}

// findInArgument returns the paths an argument may name, including values within it, and a bare
// name if there is such a file.
func (s *pathSearch) findInArgument(c simpleCommand, w word, dir string) []part {
	switch {
	case w.stream:
		return nil
	case w.filled || !w.known && w.glob == "":
		return []part{anywhere(c, true)}
	}
	var parts []part
	for text := range pathsIn(wordText(w)) {
		if s.left < 0 {
			break
		}
		// Any bare word could name a file, so only existing ones count.
		bare := !strings.ContainsAny(text, "/~") && text != ".."
		if bare && w.known {
			s.left -= len(text)
			if _, err := os.Lstat(dir + "/" + text); isNoFile(err) {
				continue
			}
		}
		parts = append(parts, s.partsForPath(c, w, text, dir)...)
	}
	return parts
}

// isNoFile reports whether err means that no file exists at a path. A permission error does not:
// the file may exist in a directory that cannot be searched.
func isNoFile(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}

// wordText returns a word's text, or its glob.
func wordText(w word) string {
	if w.known {
		return w.text
	}
	return w.glob
}

// partsForPath returns the parts for a path. text is the path as it is spelled in the word w.
func (s *pathSearch) partsForPath(c simpleCommand, w word, text, dir string) []part {
	full, ok := s.absolutePath(text, dir, !w.known)
	// A lookup takes time for each element, so long paths use up the limit faster.
	if s.left -= len(full); s.left < 0 {
		return nil
	}
	if !ok {
		return []part{anywhere(c, true)}
	}
	at := locations(full)
	if !w.known {
		at = []location{{path: path.Clean(full), glob: true, loose: w.loose}}
		if real := realPattern(full); real != at[0].path {
			at = append(at, location{path: real, glob: true, loose: w.loose})
		}
		if mayBeProcLink(at[len(at)-1].path) {
			at = append(at, location{any: true})
		}
	}
	parts := make([]part, len(at))
	for i, p := range at {
		parts[i] = part{kind: filePart, command: c, at: p, guessed: true, write: true, what: at[0].path}
	}
	return parts
}

// absolutePath returns a path as looked up from dir. It is not clean, because a link may stand
// before a "..". ok is false for the home directory of an unknown user.
func (s *pathSearch) absolutePath(text, dir string, glob bool) (full string, ok bool) {
	quote := func(s string) string { return s }
	if glob {
		quote = quoteGlob
	}
	if strings.HasPrefix(text, "/") {
		return text, true
	}
	if !strings.HasPrefix(text, "~") {
		return quote(dir) + "/" + text, true
	}
	name, rest, _ := strings.Cut(text[1:], "/")
	home := s.action.Home
	switch name {
	case "":
	case "+":
		home = dir
	default:
		u, err := user.Lookup(name)
		if err != nil {
			return "", false
		}
		home = u.HomeDir
	}
	return quote(home) + "/" + rest, home != ""
}

// pathsIn yields the paths an argument may contain: itself, the text after or between = @ : and ,
// in it, and text joined to the letters of an option.
func pathsIn(arg string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		if len(arg) > 5 && strings.EqualFold(arg[:5], "file:") {
			if u, err := url.Parse(arg); err == nil && u.Path != "" && !yield(u.Path) {
				return
			}
		}
		isURL := strings.Contains(arg, "://")
		if !isURL && !strings.HasPrefix(arg, "-") && arg != "" && len(arg) <= maxPath && !yield(arg) {
			return
		}
		if strings.HasPrefix(arg, "-") {
			if value := strings.TrimLeft(arg[1:], "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"); isExplicitPath(value) && !yield(value) {
				return
			}
		}
		for i := range len(arg) {
			if strings.IndexByte("=@:,", arg[i]) < 0 {
				continue
			}
			rest := arg[i+1:]
			part := rest
			if end := strings.IndexAny(rest, "=@:,"); end >= 0 {
				part = rest[:end]
			}
			for _, value := range []string{part, rest} {
				ok := value != "" && len(value) <= maxPath && !strings.HasPrefix(value, "~") && !isURL
				if (ok || isExplicitPath(value)) && !yield(value) {
					return
				}
				if part == rest {
					break
				}
			}
		}
		if first := strings.IndexAny(arg, "=@:,"); first > 0 && !isURL && arg[0] != '-' {
			yield(arg[:first])
		}
	}
}

// isExplicitPath reports whether a value is written as a path.
func isExplicitPath(value string) bool {
	if len(value) > maxPath || strings.HasPrefix(value, "//") {
		return false
	}
	return value == "~" || strings.HasPrefix(value, "/") || strings.HasPrefix(value, "~/") ||
		strings.HasPrefix(value, "./") || strings.HasPrefix(value, "../")
}

// locations returns a path as given and, if its links lead elsewhere, their target.
func locations(p string) []location {
	at := []location{{path: path.Clean(p)}}
	switch real, unsure := followLinks(p); {
	case unsure:
		at = append(at, location{any: true})
	case real != at[0].path:
		at = append(at, location{path: real})
	}
	return at
}

// resolveLinks follows links as far as a path exists.
func resolveLinks(p string) string {
	real, _ := followLinks(p)
	return real
}

// realPattern follows links in the directories before the first glob of a pattern.
func realPattern(pattern string) string {
	parts := strings.Split(pattern, "/")
	n := slices.IndexFunc(parts, isGlob)
	if n < 0 {
		n = len(parts)
	}
	dir := resolveLinks(unquoteGlob(strings.Join(parts[:n], "/")))
	return path.Clean(quoteGlob(dir) + "/" + strings.Join(parts[n:], "/"))
}

// rulePaths returns the pattern of a rule without ~ and, if its links lead elsewhere, their target.
func rulePaths(pattern, home string) []string {
	if rest, ok := strings.CutPrefix(pattern, "~/"); ok {
		pattern = quoteGlob(home) + "/" + rest
	}
	pattern = path.Clean(pattern)
	if real := realPattern(pattern); real != pattern {
		return []string{pattern, real}
	}
	return []string{pattern}
}

func isGlob(pattern string) bool {
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '*', '?', '[':
			return true
		}
	}
	return false
}

func unquoteGlob(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] == '\\' && i+1 < len(pattern) {
			i++
		}
		b.WriteByte(pattern[i])
	}
	return b.String()
}

// matchPattern returns whether a location is covered by a pattern, element by element; ** stands
// for any number of elements. A pattern for a directory covers everything in it. The time is
// proportional to the product of both lengths.
func (at location) matchPattern(pattern string) match {
	if at.any {
		return maybe
	}
	parts := strings.Split(strings.Trim(at.path, "/"), "/")
	reached := make([]match, len(parts)+1) // index: number of elements matched so far
	reached[0] = yes
	for _, g := range strings.Split(strings.Trim(pattern, "/"), "/") {
		next := make([]match, len(parts)+1)
		for i, m := range reached {
			switch {
			case g == "**":
				next[i] = m
				if i > 0 {
					next[i] = max(m, next[i-1])
				}
			case m != no && i < len(parts):
				next[i+1] = min(m, at.matchElement(g, parts[i]))
			}
		}
		reached = next
	}
	m := slices.Max(reached)
	if at.loose {
		m = min(m, maybe)
	}
	return m
}

func (at location) matchElement(g, part string) match {
	if !at.glob {
		ok, err := path.Match(g, part)
		return matchIf(ok && err == nil)
	}
	return overlap(part, g)
}

// overlap returns whether a glob can expand to something the pattern matches. It is maybe if only
// some shells' globs match, as they leave out hidden files.
func overlap(part, pattern string) match {
	switch {
	case !isGlob(part):
		ok, _ := path.Match(pattern, unquoteGlob(part))
		return matchIf(ok)
	case isGlob(pattern):
		return maybe
	}
	name := unquoteGlob(pattern)
	ok, err := path.Match(part, name)
	switch {
	case err != nil || ok && strings.HasPrefix(name, ".") && !strings.HasPrefix(part, "."):
		return maybe
	}
	return matchIf(ok)
}
