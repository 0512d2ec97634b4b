package prompt

import (
	"testing"

	"tandem/engine/screen/vt"
)

// With a full history, the first command of each shell has the same number.
func TestFollowerKnowsTheCommandOfTheNextShell(t *testing.T) {
	f := NewFollower("x")
	for _, line := range []string{"make", "vim notes"} {
		f.Begin()
		for _, mark := range []vt.PromptEvent{
			{Mark: 'A', Options: "aid=x"}, {Mark: 'B', Options: "aid=x"}, {Mark: 'E', Line: line, Options: "x;n=501"}, {Mark: 'C', Options: "aid=x"},
		} {
			f.NoteMark(mark)
		}
		if got := f.Running(); got != line {
			t.Errorf("running is %q, want %q", got, line)
		}
		if f.IsFresh() {
			t.Error("a shell with a command is fresh")
		}
	}
}
