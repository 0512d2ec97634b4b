package api

import (
	"reflect"
	"testing"
)

func TestVariablesThatAlterExecutionArePartOfTheCommand(t *testing.T) {
	t.Setenv("PATH", "/own")
	for _, c := range []struct {
		in   Subject
		all  bool
		want Subject
	}{
		{in: Subject{Command: "git push", Env: map[string]string{"LANG": "C"}}, want: Subject{Command: "git push"}},
		{in: Subject{Command: "git push", Env: map[string]string{"PATH": "/evil", "LD_PRELOAD": "x.so", "LANG": "C"}},
			want: Subject{Argv: []string{"env", "LD_PRELOAD=x.so", "PATH=/evil", "sh", "-c", "git push"}}},
		{in: Subject{Argv: []string{"git", "a b"}, Env: map[string]string{"PATH": ""}}, want: Subject{Argv: []string{"env", "PATH=", "git", "a b"}}},
		{in: Subject{Argv: []string{"git"}, Environ: map[string]string{"PATH": "/evil"}}, want: Subject{Argv: []string{"git"}}},
		{in: Subject{Argv: []string{"git"}, Environ: map[string]string{"PATH": "/evil"}}, all: true, want: Subject{Argv: []string{"env", "PATH=/evil", "git"}}},
		{in: Subject{Argv: []string{"git"}, Environ: map[string]string{"PATH": "/own"}}, all: true, want: Subject{Argv: []string{"git"}}},
		{in: Subject{Argv: []string{"git"}, Env: map[string]string{"PATH": "/a"}, Environ: map[string]string{"PATH": "/b"}}, all: true,
			want: Subject{Argv: []string{"env", "PATH=/a", "git"}}},
	} {
		if got := c.in.WithVariables(c.all); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v: %+v", c.in, got)
		}
	}
}
