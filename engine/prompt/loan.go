package prompt

// A loan is a word with which a shell reports one command.
type loan struct {
	word    string   // "" if there is none
	own     bool     // the session's own shell has it, not one that it started
	phase   phase    // before
	command *Command // once it has begun
}

// lend gives a shell that tells nothing a word, typed along with one command, with
// which it tells about that command. own is false for a shell that the session's own has
// started.
func (m *marks) lend(word string, own bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lent = loan{word: word, own: own, phase: m.phase}
}

func (m *marks) word() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lent.word
}

// noteLent notes a mark with the word that was lent, and returns the command that has
// ended with it. Of the session's own shell it says what the shell's marks would; of
// another shell, nothing but how that command went.
func (m *marks) noteLent(f markFound) (ended *Command) {
	m.notes++
	w := m.watch
	switch {
	case f.Mark == 'C' && m.lent.command == nil && w != nil:
		m.lent.command = &Command{Line: w.line, StartedAt: f.now, LogStart: f.at}
		w.begun, w.start, w.began = true, f.at, f.now
		if m.lent.own {
			m.line, m.told = w.line, true
			m.begin(f)
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
		c := m.finish(f, f.Exit)
		if m.phase = phaseUnknown; m.lent.phase == phaseReady {
			m.phase, m.bare = phaseBetween, true
		}
		return c
	}
	c := m.lent.command
	c.ExitCode, c.LogEnd, c.Duration = f.Exit, f.at, max(0, f.now.Sub(c.StartedAt))
	c.Stopped = f.Exit != nil && *f.Exit != 0 && EndsInterrupt(m.broken, f.now)
	return c
}
