package dashboard

import (
	"testing"

	"tandem/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

func TestScripts(t *testing.T) { harness.Scripts(t, "testdata/*.txtar") }

// The README's examples work in terminals of three sizes.
func TestTour(t *testing.T) {
	for _, size := range []string{"80x24", "120x36", "200x60"} {
		t.Run(size, func(t *testing.T) {
			t.Parallel()
			harness.Scripts(t, "../../docs/tour.txtar", "SIZE="+size)
		})
	}
}
