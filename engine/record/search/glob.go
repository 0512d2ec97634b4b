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
	expr, err := globExpr(body)
	if err != nil {
		return g, err
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

// globExpr translates a glob to a regular expression.
func globExpr(g string) (string, error) {
	var b strings.Builder
	braces := 0
	for i := 0; i < len(g); {
		part, n, err := globPart(g, i, braces)
		switch {
		case err != nil:
			return "", err
		case g[i] == '{':
			braces++
		case g[i] == '}' && braces > 0:
			braces--
		}
		b.WriteString(part)
		i += n
	}
	if braces > 0 {
		return "", errors.New("a { is not closed")
	}
	return b.String(), nil
}

// globPart translates the part of g that begins at i, inside the given number of braces. n is the
// length of the part in bytes.
func globPart(g string, i, braces int) (expr string, n int, err error) {
	switch c := g[i]; {
	case c == '*':
		expr, n = globStars(g, i)
		return expr, n, nil
	case c == '?':
		return "[^/]", 1, nil
	case c == '[':
		return globClass(g[i:])
	case c == '{':
		return "(?:", 1, nil
	case c == '}' && braces > 0:
		return ")", 1, nil
	case c == ',' && braces > 0:
		return "|", 1, nil
	case c == '\\' && i+1 == len(g):
		return "", 0, errors.New("nothing after the \\")
	case c == '\\':
		i++
		n = 1
	}
	_, size := utf8.DecodeRuneInString(g[i:])
	return regexp.QuoteMeta(g[i : i+size]), n + size, nil
}

// globStars translates the stars that begin at i. ** alone between slashes matches any number of
// folders, and at the end everything below. n is the number of bytes translated.
func globStars(g string, i int) (expr string, n int) {
	stars := 0
	for i+stars < len(g) && g[i+stars] == '*' {
		stars++
	}
	begins := i == 0 || g[i-1] == '/'
	switch {
	case stars != 2 || !begins:
	case i+stars == len(g):
		return "(?s:.*)", stars
	case g[i+stars] == '/':
		return "(?:(?s:.*)/)?", stars + len("/")
	}
	return "[^/]*", stars
}

// globClass translates [a-z] and its negation. Neither matches a slash.
func globClass(g string) (expr string, n int, err error) {
	i := 1
	set := "["
	if i < len(g) && (g[i] == '!' || g[i] == '^') {
		set = "[^/"
		i++
	}
	for first := true; i < len(g); first = false {
		switch c := g[i]; {
		case c == ']' && !first:
			return set + "]", i + 1, nil
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
	return "", 0, errors.New("a [ is not closed")
}

// literalInClass quotes a byte for use in a class.
func literalInClass(c byte) string {
	if c < utf8.RuneSelf && !unicode.IsLetter(rune(c)) && !unicode.IsDigit(rune(c)) && c > ' ' {
		return `\` + string(rune(c))
	}
	return string([]byte{c})
}
