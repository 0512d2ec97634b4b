package role

import "testing"

func TestReopenCommandKeepsHome(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "tandem"},
		{[]string{"files", "--home", "x"}, "tandem"},
		{[]string{"--home", "/tmp/try"}, "tandem --home /tmp/try"},
		{[]string{"--home=/tmp/try", "files"}, "tandem --home /tmp/try"},
		{[]string{"--home", "/tmp/a b"}, "tandem --home '/tmp/a b'"},
	} {
		if got := withHome("tandem", c.args); got != c.want {
			t.Errorf("after %q: %q, want %q", c.args, got, c.want)
		}
	}
}
