package terminal

import (
	"tandem/engine/api"
	"tandem/engine/session/prompt"
)

// reportCommand reports a command run by the shell.
func (s *Session) reportCommand(c prompt.Command) {
	c.Session, c.Actor, c.From = s.options.ID, s.options.Actor, s.options.From
	if by := s.keyboard.lastTypist(); by != (typist{}) {
		c.Actor, c.From = by.actor, by.from
	}
	c.Stopped = c.Stopped || s.stopped.Load()
	s.options.Host.CommandRan(c)
}

// noteShellExit reports the command during which the shell exited, after all output is in the log.
// The screen is locked.
func (s *Session) noteShellExit() {
	// Otherwise the previous engine reported it.
	if s.options.Master != nil {
		s.screen.catchUp()
		s.shell.NoteExit(s.screen.positionAt(s.screen.shown.Load()), s.ended.ExitCode, s.ended.State == api.StateStopped)
	}
}
