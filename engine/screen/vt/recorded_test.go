package vt_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/screen/vt"
)

// TestRecordedOutputReproducesTheRecordedScreen replays the output of real programs
// (testdata/recorded) at once, and in pieces cut inside sequences and characters.
func TestRecordedOutputReproducesTheRecordedScreen(t *testing.T) {
	eachRecording(t, func(t *testing.T, term func() *vt.Terminal, data []byte, want string) {
		whole := term()
		whole.Write(data)
		if diff := cmp.Diff(want, whole.Text()); diff != "" {
			t.Fatalf("screen (-want +got)\n%s", diff)
		}
		state := whole.Diff(0)
		for _, size := range []int{1, 7, 61, 997} {
			pieces := term()
			for rest := data; len(rest) > 0; {
				n := min(size, len(rest))
				pieces.Write(rest[:n])
				rest = rest[n:]
			}
			if diff := cmp.Diff(state, pieces.Diff(0)); diff != "" {
				t.Fatalf("in pieces of %d bytes (-whole +pieces)\n%s", size, diff)
			}
		}
	})
}

func TestRecordedScreensSurviveResizeAndBack(t *testing.T) {
	eachRecording(t, func(t *testing.T, term func() *vt.Terminal, data []byte, want string) {
		resized := term()
		resized.Write(data)
		before := resized.Diff(0)
		resized.Resize(200, 60)
		resized.Resize(80, 24)
		after := resized.Diff(0)
		before.Seq, after.Seq = 0, 0
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("(-before +after)\n%s", diff)
		}
	})
}

// eachRecording runs a test for every recording on every grid. term returns a new terminal of the
// recorded size.
func eachRecording(t *testing.T, test func(t *testing.T, term func() *vt.Terminal, data []byte, want string)) {
	files, err := filepath.Glob("testdata/recorded/*.bytes")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no recordings: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(file, ".bytes")
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(name + ".screen")
		if err != nil {
			t.Fatal(err)
		}
		for grid, make := range grids {
			t.Run(filepath.Base(name)+"/"+grid, func(t *testing.T) {
				term := func() *vt.Terminal { return vt.New(vt.Options{Cols: 80, Rows: 24, Grid: make}) }
				test(t, term, data, strings.TrimSuffix(string(want), "\n"))
			})
		}
	}
}
