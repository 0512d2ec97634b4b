package api

import (
	"regexp"
	"strings"
	"unicode"
)

// The operations on the text of a session's scrollback and screen.
var (
	SessionFind = NewOperation[SessionFindInput, SessionFindOutput]("session.find",
		"Searches a session's scrollback and screen for text, or for where a command's prompt or output begins.", Read)
	SessionText = NewOperation[SessionTextInput, SessionTextOutput]("session.text",
		"Reads the text between two places of a session's scrollback and screen.", Read)
)

// A Place is a cell in the sequence of a session's scrollback and screen. Lines
// are numbered as in a Frame.
type Place struct {
	Line int64 `json:"line" jsonschema:"absolute number of the line"`
	Cell int   `json:"cell" jsonschema:"column, from 0"`
}

// Before reports whether p is above q, or in the same line to the left of it.
func (p Place) Before(q Place) bool { return p.Line < q.Line || p.Line == q.Line && p.Cell < q.Cell }

// A Pattern is what a search is for.
type Pattern struct {
	Text   string `json:"text,omitempty" jsonschema:"what to look for; upper-case letters in it make case count"`
	Regexp bool   `json:"regexp,omitempty" jsonschema:"text is a regular expression (RE2) instead of plain text"`
	Exact  bool   `json:"exact,omitempty" jsonschema:"case counts, also without an upper-case letter"`
}

// maxPattern bounds the text of a Pattern, in bytes.
const maxPattern = 4096

// Compile gives the pattern as a regular expression. Lines that wrapped are one
// for it. The error is an *Error with CodeInvalid.
func (p Pattern) Compile() (*regexp.Regexp, error) {
	if len(p.Text) > maxPattern {
		return nil, Errorf(CodeInvalid, "search: the pattern is longer than %d bytes", maxPattern)
	}
	text := p.Text
	if !p.Regexp {
		text = regexp.QuoteMeta(text)
	}
	if !p.Exact && !hasUpper(p.Text, p.Regexp) {
		text = "(?i)" + text
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, Errorf(CodeInvalid, "search: %v", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return re, nil
}

// hasUpper reports whether a pattern has an upper-case letter; in a regular
// expression one behind a backslash is none.
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

// Marks that session.find looks for.
const (
	MarkedPrompt = "prompt"
	MarkedOutput = "output"
)

// SessionFindInput is the input of session.find. Either Text or Mark is set.
type SessionFindInput struct {
	ID string `json:"id" jsonschema:"id or name, or the beginning of one that no other has"`
	Pattern
	Mark     string `json:"mark,omitempty" jsonschema:"instead of text: prompt or output, the lines where a shell told that one begins (OSC 133)"`
	From     Place  `json:"from" jsonschema:"where to begin; what begins just there is not looked at"`
	Backward bool   `json:"backward,omitempty" jsonschema:"look above instead of below"`
	Wrap     bool   `json:"wrap,omitempty" jsonschema:"go on at the other end when there is no match"`
}

// SessionFindOutput is the output of session.find.
type SessionFindOutput struct {
	Match  *SessionMatch `json:"match,omitempty" jsonschema:"the nearest match; missing if there is none"`
	Number int           `json:"number,omitempty" jsonschema:"which of all matches it is, from 1 at the top"`
	Total  int           `json:"total" jsonschema:"how many matches there are in all"`
}

// A SessionMatch is where a match begins and where it ends.
type SessionMatch struct {
	From Place `json:"from" jsonschema:"its first cell"`
	To   Place `json:"to" jsonschema:"the cell behind its last one, in the same line as that"`
}

// SessionTextInput is the input of session.text. Lines that wrapped are joined,
// and blanks at the end of lines left out. A To at the first cell of a line
// ends with the line end before it.
type SessionTextInput struct {
	ID    string `json:"id" jsonschema:"id or name, or the beginning of one that no other has"`
	From  Place  `json:"from" jsonschema:"the first cell"`
	To    Place  `json:"to" jsonschema:"the cell behind the last one"`
	Block bool   `json:"block,omitempty" jsonschema:"of every line from the first to the last, only the cells from one column up to the other, each line by itself"`
	Max   int    `json:"max,omitempty" jsonschema:"bytes at most, a line more or less; default and limit 1 MiB"`
}

// SessionTextOutput is the output of session.text.
type SessionTextOutput struct {
	Text string `json:"text" jsonschema:"the text, lines divided by line feeds"`
	Next *Place `json:"next,omitempty" jsonschema:"from of the next call, when there is more"`
}

func (o *SessionTextOutput) Bulk() []Member {
	return []Member{{Name: "text", Text: &o.Text}}
}
