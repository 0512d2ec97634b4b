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
	// maxFolders bounds how many folders are followed that a command goes to.
	maxFolders = 16
	// maxSearch bounds the length of all paths that are looked up for an action,
	// and maxPath that of one.
	maxSearch = 64 << 10
	maxPath   = 4096
)

// A location is a path, absolute and clean: one that is known, one of those that a
// glob matches, or any.
type location struct {
	path  string
	glob  bool // the path is one for path.Match
	loose bool // the glob matches more than the word may become
	any   bool
}

// A search finds the paths that commands name.
type search struct {
	action    Action
	arguments bool // look at arguments too
	left      int  // bytes of paths that may still be looked up
}

// parts are all paths of the commands that were found. Each is looked up in all
// folders where a command may run: cd is not sure to have worked.
func (s *search) parts(r *reading) []part {
	var parts []part
	folders := []string{s.action.CWD}
	if r.repeats {
		for _, c := range r.found {
			parts = append(parts, s.enter(&folders, c)...)
		}
	}
	for _, c := range r.found {
		for _, dir := range folders {
			parts = append(parts, s.partsOf(c, dir)...)
			if s.left < 0 {
				return append(parts, anywhere(c, true))
			}
		}
		parts = append(parts, s.enter(&folders, c)...)
	}
	return parts
}

// anywhere is a path that is not known.
func anywhere(c simple, guessed bool) part {
	return part{kind: ofFile, command: c, at: location{any: true}, guessed: guessed, write: true, what: c.String()}
}

// enter follows a command that may change the folder.
func (s *search) enter(folders *[]string, c simple) (parts []part) {
	for _, start := range c.starts() {
		parts = append(parts, s.goTo(folders, start)...)
	}
	return parts
}

func (s *search) goTo(folders *[]string, c simple) []part {
	if len(c.words) == 0 || c.words[0].text != "cd" && c.words[0].text != "pushd" && c.words[0].text != "chdir" {
		return nil
	}
	to := word{text: "~", known: true}
	if len(c.words) > 1 {
		to = c.words[len(c.words)-1]
	}
	dir, ok := s.absolute(to.text, s.action.CWD, false)
	switch {
	case to.text == "-" && len(*folders) > 1: // one of them
	case !to.known || !ok || c.more || to.text == "-" || len(*folders) == maxFolders:
		return []part{anywhere(c, true)}
	case filepath.IsAbs(to.text), strings.HasPrefix(to.text, "~"):
		*folders = append(*folders, dir)
	default:
		for _, from := range slices.Clone(*folders) {
			if len(*folders) == maxFolders {
				return []part{anywhere(c, true)}
			}
			*folders = append(*folders, from+"/"+to.text)
		}
	}
	return nil
}

// partsOf are the paths that a simple command names when it runs in a folder.
func (s *search) partsOf(c simple, dir string) []part {
	var parts []part
	for _, target := range c.reads {
		parts = append(parts, s.target(c, target, dir, false)...)
	}
	for _, target := range c.writes {
		parts = append(parts, s.target(c, target, dir, true)...)
	}
	if !s.arguments {
		return parts
	}
	if c.more {
		parts = append(parts, anywhere(c, true))
	}
	for i, w := range c.words {
		if i > 0 || !w.known {
			parts = append(parts, s.argument(c, w, dir)...)
		}
	}
	for _, w := range c.sets {
		if w.known {
			parts = append(parts, s.argument(c, w, dir)...)
		}
	}
	return parts
}

// target is what a redirection reads or writes.
func (s *search) target(c simple, w word, dir string, write bool) []part {
	parts := []part{anywhere(c, false)}
	if w.known || w.glob != "" {
		parts = s.named(c, w, spelled(w), dir)
	}
	for i := range parts {
		parts[i].write, parts[i].guessed = write, false
	}
	return parts
}

// argument is what an argument may name: also a value in it, and a bare name if
// there is such a file.
func (s *search) argument(c simple, w word, dir string) []part {
	switch {
	case w.stream:
		return nil
	case w.filled || !w.known && w.glob == "":
		return []part{anywhere(c, true)}
	}
	var parts []part
	for text := range pathsIn(spelled(w)) {
		if s.left < 0 {
			break
		}
		bare := !strings.ContainsAny(text, "/~") && text != ".."
		if bare && w.known {
			s.left -= len(text)
			if _, err := os.Lstat(dir + "/" + text); isNoFile(err) {
				continue
			}
		}
		parts = append(parts, s.named(c, w, text, dir)...)
	}
	return parts
}

// isNoFile reports whether err says that no file exists at a path. A permission error does not: the
// file may exist in a directory that cannot be searched.
func isNoFile(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}

// spelled is a word's text, or its glob.
func spelled(w word) string {
	if w.known {
		return w.text
	}
	return w.glob
}

// named are the parts for a path as a word spells it.
func (s *search) named(c simple, w word, text, dir string) []part {
	full, ok := s.absolute(text, dir, !w.known)
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
		parts[i] = part{kind: ofFile, command: c, at: p, guessed: true, write: true, what: at[0].path}
	}
	return parts
}

// absolute is a path as it is looked up from a folder, not clean, as a link may
// stand before a "..". It is not known for a user who is not.
func (s *search) absolute(text, dir string, glob bool) (full string, ok bool) {
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

// pathsIn are the paths that an argument may hold: itself, what stands behind or
// between = @ : and , in it, and what is joined to the letters of an option.
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
			if value := strings.TrimLeft(arg[1:], "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"); isClearly(value) && !yield(value) {
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
				if (ok || isClearly(value)) && !yield(value) {
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

// isClearly reports whether a value is written as a path.
func isClearly(value string) bool {
	if len(value) > maxPath || strings.HasPrefix(value, "//") {
		return false
	}
	return value == "~" || strings.HasPrefix(value, "/") || strings.HasPrefix(value, "~/") ||
		strings.HasPrefix(value, "./") || strings.HasPrefix(value, "../")
}

// locations are a path as it was given and, where links lead elsewhere, as it is
// meant.
func locations(p string) []location {
	at := []location{{path: path.Clean(p)}}
	switch real, unsure := follow(p); {
	case unsure:
		at = append(at, location{any: true})
	case real != at[0].path:
		at = append(at, location{path: real})
	}
	return at
}

// resolved follows links as far as a path exists.
func resolved(p string) string {
	real, _ := follow(p)
	return real
}

// realPattern follows links in the folders before the first glob of a pattern.
func realPattern(pattern string) string {
	parts := strings.Split(pattern, "/")
	n := slices.IndexFunc(parts, isGlob)
	if n < 0 {
		n = len(parts)
	}
	dir := resolved(unquoteGlob(strings.Join(parts[:n], "/")))
	return path.Clean(quoteGlob(dir) + "/" + strings.Join(parts[n:], "/"))
}

// rulePaths are the pattern of a rule without ~ and, where links lead elsewhere,
// as it is meant.
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

// within tells whether a location lies in what a pattern is for, part by part; **
// stands for any number of parts. A pattern for a folder is one for all in it.
// It takes time proportional to the product of both lengths.
func (at location) within(pattern string) match {
	if at.any {
		return maybe
	}
	parts := strings.Split(strings.Trim(at.path, "/"), "/")
	reached := make([]match, len(parts)+1) // by parts that are matched so far
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
				next[i+1] = min(m, at.partWithin(g, parts[i]))
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

func (at location) partWithin(g, part string) match {
	if !at.glob {
		ok, err := path.Match(g, part)
		return matches(ok && err == nil)
	}
	return overlap(part, g)
}

// overlap tells whether a glob can become something that a pattern matches. One
// that only some shells' globs match, as they leave out hidden files, may be.
func overlap(part, pattern string) match {
	switch {
	case !isGlob(part):
		ok, _ := path.Match(pattern, unquoteGlob(part))
		return matches(ok)
	case isGlob(pattern):
		return maybe
	}
	name := unquoteGlob(pattern)
	ok, err := path.Match(part, name)
	switch {
	case err != nil || ok && strings.HasPrefix(name, ".") && !strings.HasPrefix(part, "."):
		return maybe
	}
	return matches(ok)
}
