package files

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

const mostPattern = 64 << 10 // bytes

// A query finds lines that match a regular expression. What a match needs to
// hold is searched for first, because that is many times faster.
type query struct {
	re      *regexp.Regexp // as it holds for a line
	multi   *regexp.Regexp // the same for many lines at once
	literal []byte         // every match holds it; nil: not known
	fold    bool           // in either case of ASCII; literal is lower-case
	exact   bool           // to hold it is to match
	ends    bool           // it speaks of the end of a line
	single  bool           // it means something else for many lines at once
}

func compileQuery(pattern string, ignoreCase bool) (*query, error) {
	if len(pattern) > mostPattern {
		return nil, errorf(Invalid, "read pattern: it is longer than %d KB", mostPattern>>10)
	}
	flags := ""
	if ignoreCase {
		flags = "i"
	}
	re, err := regexp.Compile("(?" + flags + "m:" + pattern + ")")
	if err == nil {
		_, err = regexp.Compile(pattern) // "a)(b" is none, whatever is around it
	}
	if err != nil {
		why := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		return nil, errorf(Invalid, "read pattern %q: %s", pattern, why).hint("it is a regular expression (RE2); escape what is meant as it is with \\")
	}
	tree, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		return nil, errorf(Invalid, "read pattern %q: %v", pattern, err)
	}
	q := &query{re: re, multi: re}
	q.ends = mentions(tree, syntax.OpEndLine)
	q.single = mentions(tree, syntax.OpBeginText) || mentions(tree, syntax.OpEndText) || crosses(tree)
	tree = tree.Simplify()
	text, fold := required(tree)
	if utf8.RuneCountInString(text) > 0 && !strings.Contains(text, "\n") {
		q.literal, q.fold = []byte(text), fold
		q.exact = tree.Op == syntax.OpLiteral && !fold && string(tree.Rune) == text
	}
	return q, nil
}

func mentions(re *syntax.Regexp, op syntax.Op) bool {
	return re.Op == op || slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return mentions(sub, op) })
}

// crosses reports whether a line ending can be part of what matches.
func crosses(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpAnyChar:
		return true
	case syntax.OpLiteral:
		return slices.Contains(re.Rune, '\n')
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			if re.Rune[i] <= '\n' && '\n' <= re.Rune[i+1] {
				return true
			}
		}
	}
	return slices.ContainsFunc(re.Sub, crosses)
}

// required is the longest text that each match holds, if one is found, and
// whether in either case; then it is in lower case.
func required(re *syntax.Regexp) (text string, fold bool) {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return string(re.Rune), false
		}
		return foldable(re.Rune), true
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if t, f := required(sub); len(t) > len(text) {
				text, fold = t, f
			}
		}
	}
	return text, fold
}

// foldable is the longest run of letters and other characters whose other case,
// if they have one, is ASCII: k and s also stand for signs that are not.
func foldable(runes []rune) string {
	best, run := "", ""
	for _, r := range runes {
		if r >= utf8.RuneSelf || strings.ContainsRune("kKsS", r) {
			run = ""
			continue
		}
		if run += strings.ToLower(string(r)); len(run) > len(best) {
			best = run
		}
	}
	return best
}

// next is the first line of text that matches, from start to end, without its
// line ending; text begins with a line. low is text in lower case if the query
// needs that.
func (q *query) next(text, low []byte, crlf bool) (start, end int, ok bool) {
	switch {
	case q.literal != nil:
		return q.byLiteral(text, low)
	case q.single || q.ends && crlf:
		return q.byLine(text)
	}
	return q.byText(text)
}

// byLiteral looks only at lines that hold the literal.
func (q *query) byLiteral(text, low []byte) (start, end int, ok bool) {
	if !q.fold {
		low = text
	}
	for from := 0; from < len(text); {
		at := bytes.Index(low[from:], q.literal)
		if at < 0 {
			return 0, 0, false
		}
		start, end = lineAt(text, from+at)
		if q.exact || q.re.Match(bare(text[start:end])) {
			return start, end, true
		}
		from = end + 1
	}
	return 0, 0, false
}

// byLine looks at each line.
func (q *query) byLine(text []byte) (start, end int, ok bool) {
	for start < len(text) {
		_, end = lineAt(text, start)
		if q.re.Match(bare(text[start:end])) {
			return start, end, true
		}
		start = end + 1
	}
	return 0, 0, false
}

// byText searches many lines at once and makes sure that the CR of a CRLF is no
// part of what is found.
func (q *query) byText(text []byte) (start, end int, ok bool) {
	for from := 0; from < len(text); {
		found := q.multi.FindIndex(text[from:])
		if found == nil || from+found[0] == len(text) && text[len(text)-1] == '\n' {
			return 0, 0, false // there is no line behind the last line ending
		}
		start, end = lineAt(text, from+found[0])
		line := bare(text[start:end])
		if from+found[1] <= start+len(line) || q.re.Match(line) {
			return start, end, true
		}
		from = end + 1
	}
	return 0, 0, false
}

// lineAt is the line around a byte of text.
func lineAt(text []byte, at int) (start, end int) {
	start = bytes.LastIndexByte(text[:at], '\n') + 1
	end = bytes.IndexByte(text[at:], '\n')
	if end < 0 {
		return start, len(text)
	}
	return start, at + end
}

// bare is a line without the CR of a CRLF.
func bare(line []byte) []byte { return bytes.TrimSuffix(line, []byte{'\r'}) }
