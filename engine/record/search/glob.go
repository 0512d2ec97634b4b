package search

import (
	"errors"
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxGlob = 4096 // bytes

// A Glob matches names or, if it contains a slash, paths: * and ? within a name, [a-z] and [!a-z],
// {a,b}, ** for any depth, and \\ to quote the next character.
//
// doublestar is no replacement: it rejects []a], accepts [z-a], lets [!a] match a slash and a/**
// match a, ignores case only while it walks a disk, and takes 10 s for *{a,b} twenty times on a
// name of 120 bytes. A regular expression takes linear time.
type Glob struct {
	re    *regexp.Regexp
	paths bool // matches paths, not names
	dirs  bool // ends with a slash: matches only folders
}

// CompileGlob compiles a pattern. If fold is set, case is ignored.
func CompileGlob(pattern string, fold bool) (Glob, error) {
	g := Glob{}
	body := strings.TrimPrefix(pattern, "./")
	if len(body) > 1 {
		body, g.dirs = strings.CutSuffix(body, "/")
	}
	if g.paths = strings.Contains(body, "/"); g.paths {
		body = strings.TrimPrefix(body, "/")
	}
	switch {
	case body == "":
		return g, errors.New("it is empty")
	case len(body) > maxGlob:
		return g, errors.New("it is too long")
	}
	expr, why := globExpr(body)
	if why != "" {
		return g, errors.New(why)
	}
	if fold {
		expr = "(?i)" + expr
	}
	re, err := regexp.Compile("^" + expr + "$")
	if err != nil {
		return g, errors.New("it is too complex, or a range in [] is wrong")
	}
	g.re = re
	return g, nil
}

// Match reports whether rel matches. rel is a path relative to the folder searched.
func (g Glob) Match(rel string, dir bool) bool {
	if g.dirs && !dir {
		return false
	}
	if !g.paths {
		rel = path.Base(rel)
	}
	return g.re.MatchString(rel)
}

// Smart reports whether a pattern should ignore case, because it has no capitals.
func Smart(pattern string) bool { return !strings.ContainsFunc(pattern, unicode.IsUpper) }

// globExpr translates a glob to a regular expression. why is the reason if it is invalid.
func globExpr(g string) (expr, why string) {
	var b strings.Builder
	braces := 0
	for i := 0; i < len(g); {
		part, n := globPart(g, i, braces)
		switch {
		case n == 0:
			return "", part
		case g[i] == '{':
			braces++
		case g[i] == '}' && braces > 0:
			braces--
		}
		b.WriteString(part)
		i += n
	}
	if braces > 0 {
		return "", "a { is not closed"
	}
	return b.String(), ""
}

// globPart translates the part of g that begins at i. n is its length in bytes. If it is invalid, n
// is 0 and expr is the reason.
func globPart(g string, i, braces int) (expr string, n int) {
	switch c := g[i]; {
	case c == '*':
		return globStars(g, i)
	case c == '?':
		return "[^/]", 1
	case c == '[':
		return globClass(g[i:])
	case c == '{':
		return "(?:", 1
	case c == '}' && braces > 0:
		return ")", 1
	case c == ',' && braces > 0:
		return "|", 1
	case c == '\\' && i+1 == len(g):
		return "nothing after the \\", 0
	case c == '\\':
		i++
		n = 1
	}
	_, size := utf8.DecodeRuneInString(g[i:])
	return regexp.QuoteMeta(g[i : i+size]), n + size
}

// globStars translates stars. ** alone between slashes matches any number of folders, and at the
// end everything below.
func globStars(g string, i int) (expr string, n int) {
	for i+n < len(g) && g[i+n] == '*' {
		n++
	}
	begins := i == 0 || g[i-1] == '/'
	switch {
	case n != 2 || !begins:
	case i+n == len(g):
		return "(?s:.*)", n
	case g[i+n] == '/':
		return "(?:(?s:.*)/)?", n + 1
	}
	return "[^/]*", n
}

// globClass translates [a-z] and its negation. Neither matches a slash.
func globClass(g string) (expr string, n int) {
	i := 1
	set := "["
	if i < len(g) && (g[i] == '!' || g[i] == '^') {
		set = "[^/"
		i++
	}
	for first := true; i < len(g); first = false {
		switch c := g[i]; {
		case c == ']' && !first:
			return set + "]", i + 1
		case c == '\\' && i+1 < len(g):
			set += literalInClass(g[i+1])
			i += 2
		case c == '/':
			i++
		case c == '-':
			set += "-"
			i++
		default:
			set += literalInClass(c)
			i++
		}
	}
	return "a [ is not closed", 0
}

// literalInClass quotes a byte for use in a class.
func literalInClass(c byte) string {
	if c < utf8.RuneSelf && !unicode.IsLetter(rune(c)) && !unicode.IsDigit(rune(c)) && c > ' ' {
		return `\` + string(rune(c))
	}
	return string([]byte{c})
}
