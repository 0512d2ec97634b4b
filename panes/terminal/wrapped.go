package terminal

import (
	"tandem/engine/api"
	"tandem/panes/kit/look"
)

// maxWrapRows limits the rows of a wrapped line.
const maxWrapRows = 200

// lineBounds returns the first and the last row of the wrapped line that contains row n, as far as
// they are held.
func (s *Screen) lineBounds(n int64) (first, last int64) {
	for first = n; n-first < maxWrapRows; first-- {
		if l, ok := s.lineAt(first - 1); !ok || !l.Wrapped {
			break
		}
	}
	for last = n; last-n < maxWrapRows; last++ {
		if l, ok := s.lineAt(last); !ok || !l.Wrapped {
			break
		}
	}
	return first, last
}

// A joinedLine is the text of a wrapped line, with the rows into which it is wrapped.
type joinedLine struct {
	text  string
	first int64
	rows  [][]cluster
	at    []int // offset of each row in text
}

// joinRows joins the rows of the wrapped line that starts with row first, as far as they are held.
func (s *Screen) joinRows(first int64) joinedLine {
	j := joinedLine{first: first}
	for n := first; len(j.rows) < maxWrapRows; n++ {
		l, ok := s.lineAt(n)
		if !ok {
			break
		}
		row := appendClusters(nil, l)
		j.rows = append(j.rows, row)
		j.at = append(j.at, len(j.text))
		j.text += textOf(row)
		if !l.Wrapped {
			break
		}
	}
	return j
}

// markSpans adds to spans the columns of the text between the byte offsets from and to, by line
// number.
func (j *joinedLine) markSpans(spans map[int64][]span, from, to int, cursor api.Place, look *look.Look) {
	ink := look.Match
	begin := true
	var parts []span
	var lines []int64
	for i, row := range j.rows {
		at := j.at[i]
		s := span{from: -1}
		for _, c := range row {
			if at < to && at+len(c.text) > from {
				if s.from < 0 {
					s.from = c.x
				}
				s.to = c.x + c.w
			}
			at += len(c.text)
		}
		if s.from < 0 {
			continue
		}
		line := j.first + int64(i)
		if begin && cursor.Line == line && cursor.Cell >= s.from && cursor.Cell < s.to {
			ink = look.FoundHere
		}
		begin = false
		parts, lines = append(parts, s), append(lines, line)
	}
	for i, s := range parts {
		s.ink = ink
		spans[lines[i]] = append(spans[lines[i]], s)
	}
}
