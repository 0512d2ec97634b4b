package shell

import "testing"

func TestCommandIsQuotedForAShell(t *testing.T) {
	for _, c := range []struct {
		argv []string
		want string
	}{
		{[]string{"sh", "-c", "echo 'a b' $HOME", "", "x=1"}, `sh -c 'echo '\''a b'\'' $HOME' '' x=1`},
		{[]string{"x=1", "make"}, `'x=1' make`},
		{[]string{"while", "while"}, `'while' while`},
	} {
		if got := Quote(c.argv...); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
