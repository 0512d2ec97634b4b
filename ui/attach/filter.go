package attach

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// filter passes a session's output to a terminal that shows it on its alternate
// screen. The switches between the screens that programs write must not reach
// the terminal, because leaving its alternate screen would uncover what the
// person had before. Entering becomes clearing; leaving is reported, so that
// the screen is fetched anew.
type filter struct {
	held     []byte // an unfinished sequence that may be a switch
	alt      bool   // the session's program is on its alternate screen
	repaint  bool   // what comes next is a repaint
	extended bool   // keys may be reported as escape codes: kitty, modifyOtherKeys
}

// clearedScreen takes the place of a switch: each screen begins empty, and with
// keyboard flags of its own.
const clearedScreen = "\x1b[<99u\x1b[=0u\x1b[2J"

// filterLimit bounds a sequence that is looked at.
const filterLimit = 64

// expectRepaint is called when the output starts anew: its first piece paints
// one screen after the other, the one that is shown last.
func (f *filter) expectRepaint() {
	*f = filter{repaint: true, extended: f.extended}
}

// pass returns what of p is to be written; it is valid until the next call and
// may be p itself. Left says that the program has left its alternate screen;
// nothing after that is returned.
func (f *filter) pass(p []byte) (out []byte, left bool) {
	defer func() { f.repaint = false }()
	if len(f.held) > 0 {
		p = append(f.held, p...)
		f.held = nil
	}
	copied := false // out is a copy of p's first part, with changes
	done := 0       // p up to here is in out
	for at := 0; ; {
		i := bytes.IndexByte(p[at:], 0x1b)
		if i < 0 {
			break
		}
		at += i
		length, insteadOf := f.sequence(p[at:])
		if length == 0 {
			f.held = bytes.Clone(p[at:])
			p = p[:at]
			break
		}
		if insteadOf == nil {
			at += length
			continue
		}
		if !copied {
			out, copied = make([]byte, 0, len(p)+64), true
		}
		out = append(append(out, p[done:at]...), insteadOf.text...)
		at += length
		done = at
		if insteadOf.left {
			return out, true
		}
	}
	if !copied {
		return p, false
	}
	return append(out, p[done:]...), false
}

// A substitute is what is written in place of a sequence.
type substitute struct {
	text string
	left bool // the program has left its alternate screen
}

// sequence looks at the escape sequence at the start of p. It returns its
// length, or as much of it as is of no interest, 0 if p ends before that can be
// told; and what is written instead, nil for the sequence itself.
func (f *filter) sequence(p []byte) (length int, instead *substitute) {
	if len(p) == 1 {
		return 0, nil
	}
	switch p[1] {
	case 'c': // RIS would leave the alternate screen
		f.alt = false
		return 2, &substitute{text: restModes() + home + "\x1b[3J"}
	case '[':
	default:
		return 1, nil
	}
	if len(p) > 2 && (p[2] < '<' || p[2] > '?') {
		return 2, nil
	}
	end := bytes.IndexFunc(p[2:], func(r rune) bool { return r >= 0x40 || r < 0x20 })
	switch {
	case end < 0 && len(p) < filterLimit:
		return 0, nil
	case end < 0 || p[2+end] < 0x40:
		return 2, nil
	}
	return 3 + end, f.private(p[2], string(p[3:2+end]), p[2+end])
}

// private looks at a complete sequence CSI marker parameters final.
func (f *filter) private(marker byte, parameters string, final byte) *substitute {
	switch {
	case marker != '?' && (final == 'u' || final == 'm'):
		f.extended = true
	case marker == '?' && (final == 'h' || final == 'l'):
		return f.modes(parameters, final == 'h')
	}
	return nil
}

// modes takes the switches of the screen out of a list of private modes.
func (f *filter) modes(parameters string, set bool) *substitute {
	all := strings.Split(parameters, ";")
	others := slices.DeleteFunc(slices.Clone(all), switchesScreen)
	if len(others) == len(all) {
		return nil
	}
	var s substitute
	if len(others) > 0 {
		s.text = "\x1b[?" + strings.Join(others, ";") + string("lh"[btoi(set)])
	}
	if set || f.repaint {
		s.text += clearedScreen
	}
	s.left = f.alt && !set && !f.repaint
	f.alt = set
	return &s
}

func switchesScreen(mode string) bool {
	n, err := strconv.Atoi(mode)
	return err == nil && (n == 47 || n == 1047 || n == 1049)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
