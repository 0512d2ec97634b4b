package store

import "testing"

// BenchmarkSave is the price of a durable record.
func BenchmarkSave(b *testing.B) {
	s := mustStore(b)
	r := Record{ID: "p", Command: Command{Argv: []string{"sleep", "1000"}, CWD: "/"}}
	for b.Loop() {
		if err := s.Save(r); err != nil {
			b.Fatal(err)
		}
	}
}
