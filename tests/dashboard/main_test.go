package dashboard

import (
	"testing"

	"tandem/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

func TestScripts(t *testing.T) { harness.Scripts(t, "testdata/*.txtar") }

// The README's examples work in terminals of three sizes, and with both emulators.
func TestTour(t *testing.T) {
	for _, c := range [][2]string{{"80x24", "native"}, {"120x36", "native"}, {"200x60", "native"}, {"120x36", "vt10x"}} {
		t.Run(c[0]+" "+c[1], func(t *testing.T) {
			t.Parallel()
			harness.Scripts(t, "../../docs/tour.txtar", "SIZE="+c[0], "EMULATOR="+c[1])
		})
	}
}
