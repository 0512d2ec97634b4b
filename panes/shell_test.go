package panes

import (
	"fmt"
	"testing"
)

func TestCommandLinesAreParsedAsInAShell(t *testing.T) {
	for line, want := range map[string]string{
		`a b  c`: `["a" "b" "c"]`, `a 'b c' "d e" f\ g`: `["a" "b c" "d e" "f g"]`, `a ''`: `["a" ""]`,
		`a "\"\\ \n"`: `["a" "\"\\ \\n"]`, `echo $HOME`: `["/bin/sh" "-c" "echo $HOME"]`, `A=1 b`: `["/bin/sh" "-c" "A=1 b"]`,
		`a 'x|y'`: `["a" "x|y"]`, `a --b=c`: `["a" "--b=c"]`, `a "x`: `error a quote is not closed`, `  `: `error enter a command`,
	} {
		words, err := ParseCommand(line)
		got := fmt.Sprintf("%q", words)
		if err != nil {
			got = "error " + err.Error()
		}
		if got != want {
			t.Errorf("%s is %s, want %s", line, got, want)
		}
	}
}
