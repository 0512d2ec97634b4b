package states

import (
	"testing"

	"tandem/engine/api"
)

func TestCommandTextShowsLineRunByShell(t *testing.T) {
	for want, p := range map[string]api.Process{
		"vi notes.txt":   {Argv: []string{"/bin/sh", "-c", "vi notes.txt"}, Command: "/bin/sh -c 'vi notes.txt'"},
		"bash -lc 'vi'":  {Argv: []string{"bash", "-lc", "vi"}, Command: "bash -lc 'vi'"},
		"vim":            {Argv: []string{"/bin/sh", "-c", " vim /tmp/rename-1.txt || : >/tmp/rename-1.txt"}, Command: "/bin/sh -c …"},
		"grep -c x":      {Argv: []string{"grep", "-c", "x"}, Command: "grep -c x"},
		"sh -c 'a' name": {Argv: []string{"sh", "-c", "a", "name"}, Command: "sh -c 'a' name"},
		"top":            {Argv: []string{"top"}, Command: "top"},
	} {
		if got := CommandText(&p); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
