package preview

import (
	"strings"
	"time"

	"github.com/alecthomas/chroma/v2"

	"tandem/panes/widget"
)

// A inkSpan is a stretch of a line in one class of the syntax.
type inkSpan struct {
	n     int // bytes
	class syntaxClass
}

// A syntaxClass is what a theme has a colour for.
type syntaxClass uint8

const (
	classText syntaxClass = iota
	classKeyword
	classString
	classNumber
	classComment
	className // of types, functions and built-ins where they are told apart
	classHeading
	classBad
)

func (c syntaxClass) ink(look *widget.Look) widget.Ink {
	return [...]widget.Ink{look.Text, look.Accent, look.Good, look.Warn, look.Faint, look.Info, look.Strong, look.Bad}[c]
}

// classOf maps the many kinds of tokens to the few classes.
func classOf(t chroma.TokenType) syntaxClass {
	switch {
	case t == chroma.Error:
		return classText // a part of a file often begins with what looks wrong
	case t == chroma.GenericDeleted:
		return classBad
	case t == chroma.GenericInserted:
		return classString
	case t == chroma.GenericHeading, t == chroma.GenericSubheading, t == chroma.GenericStrong:
		return classHeading
	case t == chroma.NameFunction, t == chroma.NameClass, t == chroma.NameBuiltin, t == chroma.NameTag,
		t == chroma.NameAttribute, t == chroma.NameDecorator, t == chroma.NameNamespace, t == chroma.NameConstant, t == chroma.KeywordType:
		return className
	case t.InCategory(chroma.Keyword), t == chroma.OperatorWord:
		return classKeyword
	case t.InSubCategory(chroma.LiteralString):
		return classString
	case t.InSubCategory(chroma.LiteralNumber), t == chroma.Literal, t == chroma.LiteralDate:
		return classNumber
	case t.InCategory(chroma.Comment):
		return classComment
	}
	return classText
}

// paintBefore is how many lines before those in sight are read too, because
// what they begin may go on.
const paintBefore = 300

// needsPaint reports whether a line in sight has not been painted.
func (p *Preview) needsPaint() bool {
	for i := p.top; i < min(p.top+p.h, len(p.lines)); i++ {
		if _, ok := p.painted[p.lines[i].off]; !ok {
			return true
		}
	}
	return false
}

// unpainted are the lines in sight with some around them, of which those up to
// from are only context.
func (p *Preview) unpainted() (lines []previewLine, from int) {
	first := max(p.top-p.h, 0)
	begin := max(first-paintBefore, 0)
	end := min(p.top+2*p.h+previewAhead/4, len(p.lines))
	return append([]previewLine(nil), p.lines[begin:end]...), first - begin
}

func (p *Preview) takePaint(part Part) {
	const most = 20_000 // lines whose colours are kept
	if p.painted == nil || len(p.painted) > most {
		p.painted = map[int64][]inkSpan{}
	}
	for off, spans := range part.painted {
		p.painted[off] = spans
	}
	for i := p.top; i < min(p.top+p.h, len(p.lines)); i++ { // what could not be painted is not asked for again
		if _, ok := p.painted[p.lines[i].off]; !ok && part.Err != nil {
			p.painted[p.lines[i].off] = []inkSpan{}
		}
	}
}

// paintPatience is how long a language may take for what is in sight.
const paintPatience = 2 * time.Second

// paint finds the colours of lines.
func paint(lexer string, lines []previewLine, from int) (painted map[int64][]inkSpan) {
	painted = make(map[int64][]inkSpan, len(lines))
	for _, l := range lines[from:] {
		painted[l.off] = []inkSpan{}
	}
	l := lexers().Get(lexer)
	if l == nil {
		return painted
	}
	var text strings.Builder
	for _, l := range lines {
		text.WriteString(l.text)
		text.WriteByte('\n')
	}
	defer func() { _ = recover() }() // chroma tells like that what goes wrong on the way
	tokens, err := chroma.Coalesce(l).Tokenise(nil, text.String())
	if err != nil {
		return painted
	}
	at, begin := 0, time.Now()
	for t := range tokens.Stdlib() {
		if time.Since(begin) > paintPatience {
			return painted
		}
		class := classOf(t.Type)
		for i, piece := range strings.Split(t.Value, "\n") {
			if i > 0 {
				at++
			}
			if at >= len(lines) {
				return painted
			}
			if at >= from && piece != "" {
				off := lines[at].off
				painted[off] = append(painted[off], inkSpan{len(piece), class})
			}
		}
	}
	return painted
}
