package panes

import "tandem/panes/kit/text"

// A Count is a number of machines or processes in a state.
type Count struct {
	N    int
	What string
}

// WithCounts returns a text followed by the counts above 0.
func WithCounts(s string, counts ...Count) string {
	for _, c := range counts {
		if c.N > 0 {
			s += ", " + text.Thousands(c.N) + " " + c.What
		}
	}
	return s
}
