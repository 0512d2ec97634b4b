package engine

import (
	"testing"

	"tandem/engine/api"
)

// BenchmarkExecInAShell measures one command line in a live shell.
func BenchmarkExecInAShell(b *testing.B) {
	for _, argv := range [][]string{{"bash", "--norc"}, {"sh"}} {
		b.Run(argv[0], func(b *testing.B) {
			m := startMachine(b)
			p := m.start(argv...)
			m.sh(p.ID, "true")
			for b.Loop() {
				m.sh(p.ID, "true")
			}
		})
	}
}

// BenchmarkUpdateNeed measures one check of a foreground program for input.
func BenchmarkUpdateNeed(b *testing.B) {
	m := startMachine(b)
	p := m.start("cat")
	m.sessionWait(api.SessionWaitInput{ID: p.ID, Input: true})
	for b.Loop() {
		m.get(p.ID)
	}
}
