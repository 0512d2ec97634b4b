package list

import (
	"testing"

	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

func TestFinishPadsOrClipsRowToWidth(t *testing.T) {
	style := &look.Look{Selected: "<"}
	for _, c := range []struct {
		content string
		plain   bool
		want    string
	}{
		{"ab", false, "ab  "},
		{"abcdef", false, "abcd"},
		{"ab", true, "<ab  " + text.SgrReset},
	} {
		r := Row{Plain: c.plain}
		r.Add(c.content, "")
		if got := r.Finish(4, style); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.content, got, c.want)
		}
	}
}
