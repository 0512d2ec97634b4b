package terminal

import (
	"tandem/engine/api"
	"tandem/panes/widget"
)

// longestWrap bounds how many rows a line that wrapped is taken to have.
const longestWrap = 200

// whole is the first and the last row of the line that a row is part of, as far
// as it is held.
func (s *Screen) whole(n int64) (first, last int64) {
	for first = n; n-first < longestWrap; first-- {
		if l, ok := s.line(first - 1); !ok || !l.Wrapped {
			break
		}
	}
	for last = n; last-n < longestWrap; last++ {
		if l, ok := s.line(last); !ok || !l.Wrapped {
			break
		}
	}
	return first, last
}

// A joinedLine is a line with the rows that it wrapped into.
type joinedLine struct {
	text  string
	first int64
	rows  [][]cluster
	at    []int // where each row begins in text
}

// join is the line that begins with a row, as far as it is held.
func (s *Screen) join(first int64) joinedLine {
	j := joinedLine{first: first}
	for n := first; len(j.rows) < longestWrap; n++ {
		l, ok := s.line(n)
		if !ok {
			break
		}
		row := clusters(nil, l)
		j.rows = append(j.rows, row)
		j.at = append(j.at, len(j.text))
		j.text += textOf(row)
		if !l.Wrapped {
			break
		}
	}
	return j
}

// mark adds the spans of the text from byte from up to byte to.
func (j *joinedLine) mark(spans map[int64][]span, from, to int, cursor api.Place, look *widget.Look) {
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
