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

// noteShellExit reports the command that was running when the shell exited. The screen must
// be locked, and all output must be in the log.
func (s *Session) noteShellExit() {
	// Otherwise the previous engine reported it.
	if s.options.Master != nil {
		s.screen.catchUp()
		s.shell.NoteExit(s.screen.positionAt(s.screen.shown.Load()), s.ended.ExitCode, s.ended.State == api.StateStopped)
	}
}
