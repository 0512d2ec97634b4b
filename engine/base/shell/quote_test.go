package shell

import (
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

func TestQuoteWritesCommandForShell(t *testing.T) {
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

// The policy evaluates such lines, so a program named like a keyword of the shell must stay a
// command.
func TestQuotedProgramStaysACommand(t *testing.T) {
	for word := range strings.FieldsSeq("if case for select while until function time coproc let { ! [[ (( x=1 #") {
		f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(Quote(word, "x")), "")
		if err != nil || len(f.Stmts) != 1 {
			t.Errorf("%s: %v", Quote(word, "x"), err)
			continue
		}
		if call, ok := f.Stmts[0].Cmd.(*syntax.CallExpr); !ok || len(call.Args) != 2 {
			t.Errorf("%s is a %T", Quote(word, "x"), f.Stmts[0].Cmd)
		}
	}
}
