package attach

import (
	"bytes"

	"tandem/keys"
)

const (
	bel = 0x07
	esc = 0x1b
)

// The engine answers the queries of the session's program. Reports that the user's
// terminal sends by itself, and answers to an earlier owner of the terminal, must not
// reach the program: it would take them for a second answer, or for typed keys.

// maxAnswer is the maximum number of bytes kept of an answer.
const maxAnswer = 1 << 10

// isAnswer reports whether an event is an answer or a report of the terminal, or a part of one. A
// complete answer is passed to the run.
func (in *input) isAnswer(e keys.Event) bool {
	if e.Kind != keys.EventOther {
		in.inAnswer = false
		return false
	}
	p := in.pending[e.Start-in.start:]
	p, behind := p[:e.End-e.Start], p[e.End-e.Start:]
	switch {
	case len(p) == 2 && p[0] == esc && p[1] != '[' && mayBeginAnswer(p):
		in.inAnswer = len(behind) > 0 && isAnswerString(p[1], behind[0])
		in.answer = append(in.answer[:0], p...)
		return in.inAnswer
	case len(p) > 2 && p[0] == esc && p[1] == '[':
		in.inAnswer = false
		if isReport(p) {
			in.run.handleAnswer(p)
			return true
		}
	case in.inAnswer:
		if len(in.answer) < maxAnswer {
			in.answer = append(in.answer, p...)
		}
		if p[len(p)-1] == bel || bytes.HasSuffix(p, []byte("\x1b\\")) {
			in.inAnswer = false
			in.run.handleAnswer(in.answer)
		}
		return true
	}
	return false
}

// mayBeginAnswer reports whether p starts a control sequence or control string, judged by
// its first two bytes.
func mayBeginAnswer(p []byte) bool {
	return len(p) > 1 && p[0] == esc && bytes.IndexByte([]byte("[]P_"), p[1]) >= 0
}

// isAnswerString reports whether a control string of the given kind is an answer, judged
// by its first byte: OSC with a number or an old title report; the answers to DECRQSS,
// XTGETTCAP, XTVERSION and device attribute queries; kitty graphics.
func isAnswerString(kind, first byte) bool {
	switch kind {
	case ']':
		return first >= '0' && first <= '9' || first == 'l' || first == 'L'
	case 'P':
		return first >= '0' && first <= '9' || first == '>' || first == '!'
	}
	return first == 'G'
}

// isReport reports whether a control sequence other than a key is a report: device
// attributes, status, modes, cursor position, sizes or parameters.
func isReport(p []byte) bool {
	final := p[len(p)-1]
	switch {
	case p[2] == '?':
		return bytes.IndexByte([]byte("cnuRySm"), final) >= 0
	case p[2] == '>':
		return final == 'c' || final == 'm'
	}
	return bytes.IndexByte([]byte("cnRtxy"), final) >= 0
}
