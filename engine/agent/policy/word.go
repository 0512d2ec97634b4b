package policy

import (
	"errors"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A word is one word of a command. known is false if only the shell that runs the command can tell
// its text.
type word struct {
	text   string
	known  bool
	glob   string // unless known: its possible values, as a pattern for path.Match
	loose  bool   // the glob matches more than the word can become
	one    bool   // it stays a single word, whatever its value
	stream bool   // it names the output of a command, like <(…)
	filled bool   // the program before it inserts a file's path
}

func literalWords(argv []string) []word {
	words := make([]word, len(argv))
	for i, a := range argv {
		words[i] = word{text: a, known: true, one: true}
	}
	return words
}

// readWord returns a word with no expansions but $HOME and $PWD.
func (r *analysis) readWord(w *syntax.Word) word {
	s := spelling{home: r.home, known: true}
	s.addParts(w.Parts, false, "")
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

// A spelling collects the parts of a word: as text, and as a glob with a backslash before quoted
// characters.
type spelling struct {
	home       string
	text, glob strings.Builder
	known      bool
	special    bool // it may contain a glob or a brace
	loose      bool // the glob matches more than the word can become
}

const (
	special = `*?[]{},\`
	digit   = "[0-9]" // means the same to every shell and to path.Match
)

func (s *spelling) addLiteral(text string) {
	s.text.WriteString(text)
	s.glob.WriteString(quoteGlob(text))
}

// quoteGlob returns a glob matching only the text.
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

// addParts adds the parts of a word. In quotes, a backslash escapes only the characters listed in
// escaped.
func (s *spelling) addParts(parts []syntax.WordPart, quoted bool, escaped string) {
	dollar := false // $'…' in a grammar without it
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			s.addUnquoted(p.Value, quoted, escaped)
			dollar = strings.HasSuffix(p.Value, "$")
			continue
		case *syntax.SglQuoted:
			s.known = s.known && !p.Dollar && !dollar
			s.addLiteral(p.Value)
		case *syntax.DblQuoted:
			s.known = s.known && !dollar
			s.addParts(p.Parts, true, "$`\"\\\n")
		case *syntax.ParamExp:
			s.addParameter(p)
		default:
			s.known = false
		}
		dollar = false
	}
}

// addParameter adds an expansion. $HOME is known, $PWD is the start of relative paths, and $? and
// the like are numbers.
func (s *spelling) addParameter(p *syntax.ParamExp) {
	plain := p.Param != nil && int(p.End().Offset()-p.Pos().Offset()) <= len("${}")+len(p.Param.Value) // the braces contain nothing else
	switch {
	case plain && p.Param.Value == "HOME" && s.home != "":
		s.addLiteral(s.home)
	case plain && p.Param.Value == "PWD":
		s.addLiteral(".")
	case plain && strings.Contains("?#$!", p.Param.Value): // a number
		s.special, s.loose = true, true
		s.text.WriteString("$" + p.Param.Value)
		s.glob.WriteString(digit + "*")
	default:
		s.known = false
	}
}

// addUnquoted adds text without its backslashes.
func (s *spelling) addUnquoted(text string, quoted bool, escaped string) {
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text) && (!quoted || strings.IndexByte(escaped, text[i+1]) >= 0):
			// A backslash before a newline joins the lines.
			if i++; text[i] != '\n' {
				s.addLiteral(text[i : i+1])
			}
		case quoted || strings.IndexByte(special, c) < 0:
			s.addLiteral(text[i : i+1])
		default:
			s.special = true
			s.text.WriteByte(c)
			s.glob.WriteByte(c)
		}
	}
}

// shellGlob converts an unquoted word to a pattern for path.Match. Brackets and braces become *,
// and then loose is true. Without a glob in it, the word is known. A glob that may match across
// directories has no pattern.
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
			// In some shells ** matches across directories, which path.Match cannot express.
			if strings.HasPrefix(text[i:], "**") {
				return "", false, false
			}
			globs = true
			b.WriteByte(text[i])
			continue
		case '{':
			width = braceLength(text[i:])
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

// braceLength returns the length of the brace expansion at the start of a text, or 0 if the text
// does not start with one.
func braceLength(text string) int {
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

// patternWords parses a command pattern: words with globs, quoted as in a shell if they contain
// blanks.
func patternWords(pattern string) ([]string, error) {
	var found []string
	for w, err := range syntax.NewParser().WordsSeq(strings.NewReader(pattern)) {
		var wrong syntax.ParseError
		switch {
		case errors.As(err, &wrong):
			return nil, errors.New(wrong.Text) // its position is relative to this text alone
		case err != nil:
			return nil, err
		}
		s := spelling{}
		s.addParts(w.Parts, false, "")
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
