package panes

import (
	"slices"
	"testing"
)

func TestEditorCommandKeepsQuotedWordsTogether(t *testing.T) {
	for _, tt := range []struct {
		visual, editor string
		want           []string
	}{
		{`"/opt/My Editor/bin/ed" -w`, "", []string{"/opt/My Editor/bin/ed", "-w", "+3", "a b"}},
		{`'/opt/My Editor/code' -n`, "", []string{"/opt/My Editor/code", "-n", "--goto", "a b:3"}},
		{`/opt/My\ Editor/ed`, "", []string{"/opt/My Editor/ed", "+3", "a b"}},
		{"", "nano -l", []string{"nano", "-l", "+3", "a b"}},
		{" ", "", []string{"vi", "+3", "a b"}},
		{`it's`, "", []string{"it's", "+3", "a b"}},
	} {
		t.Setenv("VISUAL", tt.visual)
		t.Setenv("EDITOR", tt.editor)
		if got := EditorCommand("a b", 3, 0); !slices.Equal(got, tt.want) {
			t.Errorf("VISUAL=%q EDITOR=%q: %q, want %q", tt.visual, tt.editor, got, tt.want)
		}
	}
}
