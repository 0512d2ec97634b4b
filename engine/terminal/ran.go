package terminal

import (
	"tandem/engine/api"
	"tandem/engine/prompt"
)

// ran tells of a command that the shell has run.
func (s *Session) ran(c prompt.Command) {
	c.Session, c.Actor, c.From = s.options.ID, s.options.Actor, s.options.From
	if by := s.keyboard.typist(); by != (typist{}) {
		c.Actor, c.From = by.actor, by.from
	}
	c.Stopped = c.Stopped || s.stopped.Load()
	s.options.Ran(c)
}

// noteLast tells of the command that has ended the shell, when the program has
// ended and all its output is in the log. It runs on the screen goroutine.
func (s *Session) noteLast() {
	if s.options.Master != nil { // else it had ended before, and that was told
		s.screen.catchUp()
		s.shell.NoteExit(s.screen.spot(s.screen.shown.Load()), s.ended.ExitCode, s.ended.State == api.StateStopped)
	}
}
