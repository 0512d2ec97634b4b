package api

import (
	"regexp"
	"strings"
	"unicode"
)

// These are the operations on the text in a session's scrollback and screen.
var (
	SessionFind = NewOperation[SessionFindInput, SessionFindOutput]("session.find",
		"Searches a session's scrollback and screen for text, or for the start of a command's prompt or output.", Read,
		Row[SessionFindInput]{Access: Unrestricted, IDs: (*SessionFindInput).ids})
	SessionText = NewOperation[SessionTextInput, SessionTextOutput]("session.text",
		"Reads the text between two points in a session's scrollback and screen.", Read,
		Row[SessionTextInput]{Access: Unrestricted, IDs: (*SessionTextInput).ids})
)

// A Place is a cell in the scrollback or on the screen of a session. Lines are numbered as in a
// Frame.
type Place struct {
	Line int64 `json:"line" jsonschema:"absolute number of the line"`
	Cell int   `json:"cell" jsonschema:"column, from 0"`
}

// Before reports whether p is above q, or in the same line to the left of it.
func (p Place) Before(q Place) bool { return p.Line < q.Line || p.Line == q.Line && p.Cell < q.Cell }

// A Pattern is the text or regular expression of a search.
type Pattern struct {
	Text   string `json:"text,omitempty" jsonschema:"text to search for; case-sensitive if it has an upper-case letter"`
	Regexp bool   `json:"regexp,omitempty" jsonschema:"\"text\" is a regular expression (RE2) instead of plain text"`
	Exact  bool   `json:"exact,omitempty" jsonschema:"case-sensitive even without an upper-case letter"`
}

// maxPattern is the maximum length of Pattern.Text in bytes.
const maxPattern = 4096

// Compile returns the pattern as a regular expression for lines that are not wrapped. The error is
// an *Error with CodeInvalid.
func (p Pattern) Compile() (*regexp.Regexp, error) {
	if len(p.Text) > maxPattern {
		return nil, Errorf(CodeInvalid, "search: the pattern is longer than %d bytes", maxPattern)
	}
	text, fold := p.Expression()
	if fold {
		text = "(?i)" + text
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, Errorf(CodeInvalid, "search: %v", strings.Replace(strings.TrimPrefix(err.Error(), "error parsing regexp: "), "`(?i)", "`", 1))
	}
	return re, nil
}

// Expression returns the pattern as a regular expression, and whether case is ignored: an upper-case
// letter asks for an exact match.
func (p Pattern) Expression() (expr string, fold bool) {
	expr = p.Text
	if !p.Regexp {
		expr = regexp.QuoteMeta(expr)
	}
	return expr, !p.Exact && !hasUpper(p.Text, p.Regexp)
}

// hasUpper reports whether text has an upper-case letter. If escapes is set, a letter after a
// backslash does not count: \S says nothing about case.
func hasUpper(text string, escapes bool) bool {
	escaped := false
	for _, r := range text {
		if unicode.IsUpper(r) && !escaped {
			return true
		}
		escaped = escapes && r == '\\' && !escaped
	}
	return false
}

// Values of SessionFindInput.Mark.
const (
	MarkedPrompt = "prompt"
	MarkedOutput = "output"
)

// SessionFindInput is the input of session.find. Set either Text or Mark.
type SessionFindInput struct {
	ID string `json:"id" jsonschema:"id, unique prefix of an id, or name"`
	Pattern
	Mark     string `json:"mark,omitempty" jsonschema:"prompt or output, instead of \"text\": find the lines at which a shell marked the start of one (OSC 133)"`
	From     Place  `json:"from" jsonschema:"start of the search; a match starting exactly here is skipped"`
	Backward bool   `json:"backward,omitempty" jsonschema:"search upwards"`
	Wrap     bool   `json:"wrap,omitempty" jsonschema:"continue from the other end if there is no match"`
}

// SessionFindOutput is the output of session.find.
type SessionFindOutput struct {
	Match  *SessionMatch `json:"match,omitempty" jsonschema:"the nearest match; missing if there is none"`
	Number int           `json:"number,omitempty" jsonschema:"number of this match, from 1 at the top"`
	Total  int           `json:"total" jsonschema:"total number of matches"`
}

// A SessionMatch is the range of a match.
type SessionMatch struct {
	From Place `json:"from" jsonschema:"the first cell of the match"`
	To   Place `json:"to" jsonschema:"the cell after the last one of the match, in the same line"`
}

// SessionTextInput is the input of session.text. In the text, wrapped lines are joined, and blanks
// at the ends of lines left out. If To is the first cell of a line, the text includes the line end
// before it.
type SessionTextInput struct {
	ID    string `json:"id" jsonschema:"id, unique prefix of an id, or name"`
	From  Place  `json:"from" jsonschema:"the first cell"`
	To    Place  `json:"to" jsonschema:"the cell after the last one"`
	Block bool   `json:"block,omitempty" jsonschema:"return a block: only the cells between the two columns of each line, without joining lines"`
	Max   int    `json:"max,omitempty" jsonschema:"maximum bytes, give or take a line; default and maximum 1 MiB"`
}

// SessionTextOutput is the output of session.text.
type SessionTextOutput struct {
	Text string `json:"text" jsonschema:"the text, lines separated by line feeds"`
	Next *Place `json:"next,omitempty" jsonschema:"pass this as \"from\" in the next call, if there is more"`
}

func (o *SessionTextOutput) Bulk() []Member {
	return []Member{{Name: "text", Text: &o.Text}}
}
