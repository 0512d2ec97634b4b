package prompt

// A loan is a nonce with which a shell reports one command.
type loan struct {
	word    string   // the nonce; "" if none is lent
	own     bool     // lent to the session's own shell, not to one started in it
	phase   phase    // before the command
	command *Command // nil until the command has started
}

// lendNonce lets a shell without marks report one command: word is the nonce for its marks, typed
// along with the command. own is false for a shell started in the session's own.
func (m *marks) lendNonce(word string, own bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lent = loan{word: word, own: own, phase: m.phase}
}

func (m *marks) lentNonce() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lent.word
}

// noteLent records a mark with the lent nonce and returns the command that it ends, or nil. In the
// session's own shell such a mark counts like the shell's other marks; in another shell it applies
// only to this command.
func (m *marks) noteLent(f markFound) (ended *Command) {
	m.notes++
	w := m.watch
	switch {
	case f.Mark == 'C' && m.lent.command == nil && w != nil:
		m.lent.command = &Command{Line: w.line, StartedAt: f.now, LogStart: f.at}
		w.begun, w.start, w.began = true, f.at, f.now
		if m.lent.own {
			m.line, m.reported = w.line, true
			m.beginCommand(f)
		}
	case f.Mark == 'D' && m.lent.command != nil:
		ended = m.endLent(f)
		if w != nil {
			w.ended, w.lent, w.end, w.exit, w.endedAt = true, true, f.at, f.Exit, f.now
		}
		m.lent = loan{}
	}
	return ended
}

func (m *marks) endLent(f markFound) *Command {
	if m.lent.own {
		c := m.endCommand(f, f.Exit)
		if m.phase = phaseUnknown; m.lent.phase == phaseReady {
			m.phase, m.promptsOnly = phaseBetween, true
		}
		return c
	}
	c := m.lent.command
	c.ExitCode, c.LogEnd, c.Duration = f.Exit, f.at, max(0, f.now.Sub(c.StartedAt))
	c.Stopped = f.Exit != nil && *f.Exit != 0 && EndsInterrupt(m.interruptedAt, f.now)
	return c
}
