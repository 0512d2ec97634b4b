package attach

import (
	"bytes"

	"tandem/keys"
)

const (
	bel = 0x07
	esc = 0x1b
)

// The engine answers what the session's program asks. What the person's terminal
// tells by itself, or answers to somebody who had it before, is not input: the program
// would take it for a second answer, or for what was typed.

// mostAnswer bounds what of an answer is looked at.
const mostAnswer = 1 << 10

// isAnswer reports whether an event is such an answer, or a piece of one. What is whole the
// run takes in.
func (in *input) isAnswer(e keys.Event) bool {
	if e.Kind != keys.EventOther {
		in.answering = false
		return false
	}
	p := in.pending[e.Start-in.start:]
	p, behind := p[:e.End-e.Start], p[e.End-e.Start:]
	switch {
	case len(p) == 2 && p[0] == esc && p[1] != '[' && beginsAnswer(p):
		in.answering = len(behind) > 0 && answersWith(p[1], behind[0])
		in.answer = append(in.answer[:0], p...)
		return in.answering
	case len(p) > 2 && p[0] == esc && p[1] == '[':
		in.answering = false
		if answers(p) {
			in.run.terminalAnswered(p)
			return true
		}
	case in.answering:
		if len(in.answer) < mostAnswer {
			in.answer = append(in.answer, p...)
		}
		if p[len(p)-1] == bel || bytes.HasSuffix(p, []byte("\x1b\\")) {
			in.answering = false
			in.run.terminalAnswered(in.answer)
		}
		return true
	}
	return false
}

// beginsAnswer reports whether p begins what may be an answer: a control
// sequence or string, by its first two bytes.
func beginsAnswer(p []byte) bool {
	return len(p) > 1 && p[0] == esc && bytes.IndexByte([]byte("[]P_"), p[1]) >= 0
}

// answersWith reports whether a control string of that kind is an answer by its
// first byte: a number of OSC or the old reports of titles; what DECRQSS,
// XTGETTCAP, XTVERSION and device attributes are answered with; kitty's graphics.
func answersWith(kind, first byte) bool {
	switch kind {
	case ']':
		return first >= '0' && first <= '9' || first == 'l' || first == 'L'
	case 'P':
		return first >= '0' && first <= '9' || first == '>' || first == '!'
	}
	return first == 'G'
}

// answers reports whether a control sequence that is not a key is a report: device
// attributes, status and modes, the place of the cursor, sizes, parameters.
func answers(p []byte) bool {
	final := p[len(p)-1]
	switch {
	case p[2] == '?':
		return bytes.IndexByte([]byte("cnuRySm"), final) >= 0
	case p[2] == '>':
		return final == 'c' || final == 'm'
	}
	return bytes.IndexByte([]byte("cnRtxy"), final) >= 0
}
