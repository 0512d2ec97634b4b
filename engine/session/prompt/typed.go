package prompt

import (
	"bytes"
	"time"
)

// lineEnds are the characters that end or discard a line: enter, ctrl+c and ctrl+d.
const lineEnds = "\r\n\x03\x04"

// noteTyped records input. If it contains the end of a line, or discards the line, a new prompt
// follows. In a shell that does not mark the start of commands, the end of a line starts a command.
// Input typed before the prompt is shown is left to noteAhead.
func (m *marks) noteTyped(p []byte, now time.Time) {
	if m.nonce == "" || len(p) == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.phase != phaseReady {
		m.noteAhead(p)
		return
	}
	m.touched = true
	at := bytes.IndexAny(p, lineEnds)
	if at < 0 {
		return
	}
	first := !m.entered
	m.sentAt, m.entered = now, true
	if first {
		m.began, m.interruptedAt = now, time.Time{}
	}
	// The first line decides whether a command was dropped. Later input counts only if the shell
	// has asked for more lines. Otherwise it may be for the command.
	if first || len(m.more) > 0 {
		m.dropped = p[at] == '\x03' || p[at] == '\x04'
	}
}

// noteReplayed records that it is unknown whether there was input at the present prompt.
func (m *marks) noteReplayed() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.replayed = m.phase == phaseReady
}

// noteAhead records input that was typed before the prompt is shown: the number of lines, and
// whether part of another one follows. The shell reads it at the prompt, unless the running program
// reads it. An interrupt discards unread input.
func (m *marks) noteAhead(p []byte) {
	if at := bytes.LastIndexByte(p, '\x03'); at >= 0 {
		m.ahead, m.partial, p = 0, false, p[at+1:]
	}
	if len(p) > 0 {
		last := p[len(p)-1]
		m.partial = last != '\r' && last != '\n'
	}
	m.ahead += bytes.Count(p, []byte("\r")) + bytes.Count(p, []byte("\n"))
}

// clearAhead records that the shell has read all lines typed before the prompt.
func (m *marks) clearAhead() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ahead = 0
}
