package prompt

// A oneTime is a nonce with which a shell marks one command.
type oneTime struct {
	word    string   // the nonce; "" if there is none
	own     bool     // given to the session's own shell, not to one started in it
	phase   phase    // before the command
	command *Command // nil until the command has started
}

// allowOnce lets a shell without marks report one command. word is the nonce in its marks, and is
// typed along with the command. inOwnShell is false if the shell was started inside the session's
// own shell.
func (m *marks) allowOnce(word string, inOwnShell bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.once = oneTime{word: word, own: inOwnShell, phase: m.phase}
}

func (m *marks) onceNonce() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.once.word
}

// noteOnce records a mark with the one-time nonce. If the mark ends a command, it returns the
// command. In the session's own shell, such a mark counts like the shell's other marks. In another
// shell, it applies only to this command.
func (m *marks) noteOnce(f markFound) (ended *Command) {
	m.notes++
	w := m.watch
	switch {
	case f.Mark == 'C' && m.once.command == nil && w != nil:
		m.once.command = &Command{Line: w.line, StartedAt: f.now, LogStart: f.at}
		w.begun, w.start, w.began = true, f.at, f.now
		if m.once.own {
			m.line, m.reported = w.line, true
			m.beginCommand(f)
		}
	case f.Mark == 'D' && m.once.command != nil:
		ended = m.endOnce(f)
		if w != nil {
			w.ended, w.once, w.end, w.exit, w.endedAt = true, true, f.at, f.Exit, f.now
		}
		m.once = oneTime{}
	}
	return ended
}

func (m *marks) endOnce(f markFound) *Command {
	if m.once.own {
		c := m.endCommand(f, f.Exit)
		if m.phase = phaseUnknown; m.once.phase == phaseReady {
			m.phase, m.promptsOnly = phaseBetween, true
		}
		return c
	}
	c := m.once.command
	c.ExitCode, c.LogEnd, c.Duration = f.Exit, f.at, max(0, f.now.Sub(c.StartedAt))
	c.Stopped = f.Exit != nil && *f.Exit != 0 && EndsInterrupt(m.interruptedAt, f.now)
	return c
}
