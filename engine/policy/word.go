package policy

import (
	"errors"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A word of a command; what a shell would only know when it runs is not known.
type word struct {
	text   string
	known  bool
	glob   string // with known false: what it may become, as path.Match reads it
	loose  bool   // the glob matches more than the word may become
	one    bool   // it stays one word whatever the shell puts into it
	stream bool   // it names the output of a command, as <(…) does
	filled bool   // the program before it puts a file's path into it
}

func literal(argv []string) []word {
	words := make([]word, len(argv))
	for i, a := range argv {
		words[i] = word{text: a, known: true, one: true}
	}
	return words
}

// word is what a word says before the shell expands more than $HOME and $PWD.
func (r *reading) word(w *syntax.Word) word {
	s := spelling{home: r.home, known: true}
	s.parts(w.Parts, false, "")
	found := word{text: s.text.String(), known: s.known, one: true}
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit, *syntax.SglQuoted:
		case *syntax.DblQuoted:
			found.one = found.one && !slices.ContainsFunc(p.Parts, isList)
		case *syntax.ProcSubst:
			found.stream, found.one = len(w.Parts) == 1, false
		default:
			found.one = false
		}
	}
	if s.known && s.special {
		found.glob, found.loose, found.known = shellGlob(s.glob.String())
		found.loose = found.loose || s.loose
		found.one = found.known
	}
	return found
}

// isList reports whether a part of a quoted word stands for several words.
func isList(p syntax.WordPart) bool {
	e, ok := p.(*syntax.ParamExp)
	return ok && (e.Param == nil || e.Param.Value == "@" || e.Index != nil)
}

// A spelling is what the parts of a word say: as a text, and as a glob in which
// a backslash stands before what was quoted.
type spelling struct {
	home       string
	text, glob strings.Builder
	known      bool
	special    bool // something may be a glob or a brace
	loose      bool // the glob matches more than the word may become
}

const (
	special = `*?[]{},\`
	digit   = "[0-9]" // means the same to every shell and to path.Match
)

func (s *spelling) literally(text string) {
	s.text.WriteString(text)
	s.glob.WriteString(quoteGlob(text))
}

// quoteGlob makes a glob that matches the text alone.
func quoteGlob(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if strings.IndexByte(special, c) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// parts reads the parts of a word; in quotes a backslash counts before the
// escaped characters alone.
func (s *spelling) parts(parts []syntax.WordPart, quoted bool, escaped string) {
	dollar := false // $'…', where the grammar does not know it
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			s.literal(p.Value, quoted, escaped)
			dollar = strings.HasSuffix(p.Value, "$")
			continue
		case *syntax.SglQuoted:
			s.known = s.known && !p.Dollar && !dollar
			s.literally(p.Value)
		case *syntax.DblQuoted:
			s.known = s.known && !dollar
			s.parts(p.Parts, true, "$`\"\\\n")
		case *syntax.ParamExp:
			s.parameter(p)
		default:
			s.known = false
		}
		dollar = false
	}
}

// parameter reads one: $HOME is known, $PWD is what paths begin at anyway, and $?
// and its like are numbers.
func (s *spelling) parameter(p *syntax.ParamExp) {
	plain := p.Param != nil && int(p.End().Offset()-p.Pos().Offset()) <= len("${}")+len(p.Param.Value) // nothing else is in it
	switch {
	case plain && p.Param.Value == "HOME" && s.home != "":
		s.literally(s.home)
	case plain && p.Param.Value == "PWD":
		s.literally(".")
	case plain && strings.Contains("?#$!", p.Param.Value): // a number
		s.special, s.loose = true, true
		s.text.WriteString("$" + p.Param.Value)
		s.glob.WriteString(digit + "*")
	default:
		s.known = false
	}
}

// literal takes backslashes away.
func (s *spelling) literal(text string, quoted bool, escaped string) {
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text) && (!quoted || strings.IndexByte(escaped, text[i+1]) >= 0):
			if i++; text[i] != '\n' {
				s.literally(text[i : i+1])
			}
		case quoted || strings.IndexByte(special, c) < 0:
			s.literally(text[i : i+1])
		default:
			s.special = true
			s.text.WriteByte(c)
			s.glob.WriteByte(c)
		}
	}
}

// shellGlob makes a glob for path.Match of an unquoted word: brackets and braces
// become *, which is loose. Without a glob in it the word is known; one that may
// match several folders deep is neither.
func shellGlob(text string) (glob string, loose, known bool) {
	var b strings.Builder
	globs := false
	for i := 0; i < len(text); i++ {
		width := 0
		switch text[i] {
		case '\\':
			b.WriteString(text[i:min(i+2, len(text))])
			i++
			continue
		case '*', '?':
			if strings.HasPrefix(text[i:], "**") {
				return "", false, false
			}
			globs = true
			b.WriteByte(text[i])
			continue
		case '{':
			width = braces(text[i:])
		case '[':
			if strings.HasPrefix(text[i:], digit) {
				globs = true
				b.WriteString(digit)
				i += len(digit) - 1
				continue
			}
			segment, _, _ := strings.Cut(text[i:], "/")
			width = strings.LastIndexByte(segment, ']') + 1
		}
		if strings.Contains(text[i:i+width], "/") {
			return "", false, false
		}
		if width > 0 {
			globs, loose = true, true
			b.WriteByte('*')
			i += width - 1
			continue
		}
		b.WriteString(quoteGlob(text[i : i+1]))
	}
	if !globs {
		return "", false, true
	}
	return b.String(), loose, false
}

// braces is the length of the braces that a text begins with, 0 if they stay as
// they are.
func braces(text string) int {
	depth, expands := 0, false
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '{':
			depth++
		case ',':
			expands = true
		case '.':
			expands = expands || strings.HasPrefix(text[i:], "..")
		case '}':
			if depth--; depth == 0 && expands {
				return i + 1
			}
			if depth == 0 {
				return 0
			}
		}
	}
	return 0
}

// patternWords reads a command pattern: words with globs, quoted as in a shell
// where they contain blanks.
func patternWords(pattern string) ([]string, error) {
	var found []string
	for w, err := range syntax.NewParser().WordsSeq(strings.NewReader(pattern)) {
		var wrong syntax.ParseError
		switch {
		case errors.As(err, &wrong):
			return nil, errors.New(wrong.Text) // its place is one in the text alone
		case err != nil:
			return nil, err
		}
		s := spelling{}
		s.parts(w.Parts, false, "")
		if _, err := path.Match(s.text.String(), ""); err != nil {
			return nil, err
		}
		found = append(found, s.text.String())
	}
	if len(found) == 0 {
		return nil, errors.New("it is empty")
	}
	return found, nil
}
