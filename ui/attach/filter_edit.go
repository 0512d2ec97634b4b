package attach

import "bytes"

// An edit is p with changes. The changes are made from the start to the end, and
// without any the result is p itself.
type edit struct {
	p, out []byte
	done   int // p up to here is in out
	made   bool
}

// replace puts text in place of p from start to end.
func (e *edit) replace(start, end int, text string) {
	e.out = append(append(e.out, e.p[e.done:start]...), text...)
	e.done, e.made = end, true
}

func (e *edit) drop(start, end int) { e.replace(start, end, "") }

func (e *edit) result() []byte {
	if !e.made {
		return e.p
	}
	e.out = append(e.out, e.p[e.done:]...)
	e.done = len(e.p)
	return e.out
}

// A finder finds what is more than text. It looks once for each such byte.
type finder struct {
	p    []byte
	next [3]int // where each of finds is next, unless it is less than asked for
	sure [3]bool
}

// control returns the first of ESC, ENQ and the first byte of a C1 control in p
// from at on, the length of p if there is none.
func (f *finder) control(at int) int {
	first := len(f.p)
	for i, c := range [...]byte{esc, enq, c1} {
		if !f.sure[i] || f.next[i] < at {
			f.sure[i], f.next[i] = true, len(f.p)
			if n := bytes.IndexByte(f.p[at:], c); n >= 0 {
				f.next[i] = at + n
			}
		}
		first = min(first, f.next[i])
	}
	return first
}
