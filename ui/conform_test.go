package ui

import (
	"testing"

	"tandem/panes/enginetest"
	"tandem/panes/panestest"
)

func TestFakeEngineBehavesLikeTheRealOne(t *testing.T) {
	enginetest.Run(t, func(*testing.T) enginetest.Subject {
		e := newFakeEngine()
		return enginetest.Subject{
			Engine: e,
			Printer: func(*testing.T) ([]string, func(string)) {
				return []string{"printer"}, func(text string) { e.sessions[len(e.sessions)-1].writeLog(text) }
			},
			RecordRun: func(_ *testing.T, command string, code int) { e.history.AddRun(command, panestest.WithExit(code)) },
		}
	})
}
