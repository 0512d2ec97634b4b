package store

import (
	"fmt"
	"os"
	"testing"

	"tandem/persist/logtest"
)

const roleSaver = "saver" // saves into the data folder at logtest.PathVar

func TestMain(m *testing.M) {
	logtest.Main(m, map[string]func() error{roleSaver: runSaver})
}

// runSaver repeatedly saves everything about one process, with increasing numbers, and acknowledges
// each number.
func runSaver() error {
	s, err := Open(os.Getenv(logtest.PathVar))
	if err != nil {
		return err
	}
	resizes, err := s.ReadResizes("p")
	if err != nil {
		return err
	}
	n := int64(1)
	if len(resizes) > 0 {
		n = resizes[len(resizes)-1].Offset + 1
	}
	for ; ; n++ {
		save := s.Update
		if n%16 == 0 {
			save = s.Save
		}
		// The lengths of the numbers vary. A mismatch with the other fields would show a torn
		// record.
		if err := save(Record{ID: "p", Terminal: Terminal{Cols: int(n)}, Command: Command{Argv: []string{fmt.Sprint(n)}}}); err != nil {
			return err
		}
		if err := s.AppendResize("p", Resize{Offset: n, Cols: 80, Rows: 24}); err != nil {
			return err
		}
		if err := s.SaveCheckpoint("p", Checkpoint{n, 80, 24, make([]byte, 10_000)}); err != nil {
			return err
		}
		if err := logtest.Ack(n); err != nil {
			return err
		}
	}
}
