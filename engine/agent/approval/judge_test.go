package approval

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
)

// resolved returns the subject of an operation as it is judged.
func resolved(a *Arbiter, caller api.Caller, operation string, in any) api.Subject {
	e, _ := api.Find(operation)
	return a.resolve(context.Background(), action{caller: caller, tools: caller.Tools}, e.Subject(in))[0]
}

func TestSubjectIsResolvedBeforeItIsJudged(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("PATH", "/own")
	a := &Arbiter{Sessions: func(_ context.Context, id string) (Session, bool) {
		return Session{ID: "123", Name: "web", Folder: "/srv"}, id == "w"
	}}
	tool := api.Caller{Tools: []string{"exec"}, Bounds: api.Bounds{Base: "/work"}}
	bare := api.Caller{Bounds: api.Bounds{Base: "/work"}}
	confined := api.Caller{Bounds: api.Bounds{Sandbox: &api.Sandbox{}}}
	for name, c := range map[string]struct {
		caller    api.Caller
		operation string
		in        any
		want      api.Subject
	}{
		"a line for a shell":   {tool, "exec", &api.ExecInput{Command: []string{"bash", "-c", "git push"}, CWD: "/x"}, api.Subject{Command: "git push", CWD: "/x"}},
		"another shell":        {tool, "exec", &api.ExecInput{Command: []string{"/tmp/bash", "-c", "ls"}}, api.Subject{Argv: []string{"/tmp/bash", "-c", "ls"}}},
		"a shell to type into": {tool, "session.start", &api.SessionStartInput{Command: []string{"/bin/bash"}}, api.Subject{}},
		"a variable choosing programs": {tool, "exec", &api.ExecInput{Command: []string{"git"}, Env: map[string]string{"PATH": "/tmp", "A": "b"}},
			api.Subject{Argv: []string{"env", "PATH=/tmp", "git"}}},
		"one for a line": {tool, "exec", &api.ExecInput{Command: []string{"bash", "-c", "git push"}, Env: map[string]string{"PATH": "/tmp"}},
			api.Subject{Argv: []string{"env", "PATH=/tmp", "sh", "-c", "git push"}}},
		"one in a sandbox":                     {confined, "exec", &api.ExecInput{Command: []string{"git"}, Env: map[string]string{"PATH": "/tmp"}}, api.Subject{Argv: []string{"git"}}},
		"the environment of an agent's server": {tool, "exec", &api.ExecInput{Command: []string{"git"}, Environ: map[string]string{"PATH": "/tmp"}}, api.Subject{Argv: []string{"git"}}},
		"the environment of a bare call": {bare, "exec", &api.ExecInput{Command: []string{"git"}, Environ: map[string]string{"PATH": "/tmp"}},
			api.Subject{Argv: []string{"env", "PATH=/tmp", "git"}}},
		"the engine's own environment": {bare, "exec", &api.ExecInput{Command: []string{"git"}, Environ: map[string]string{"PATH": "/own"}}, api.Subject{Argv: []string{"git"}}},
		"a readiness check": {tool, "process.start", &api.ProcessStartInput{Command: []string{"serve", "a b"}, Ready: &api.Readiness{Command: []string{"curl", "x"}}},
			api.Subject{Command: "serve 'a b'\ncurl x"}},
		"text typed": {tool, "session.write", &api.SessionWriteInput{ID: "w", Text: "rm ", Paste: "x"}, api.Subject{Command: "rm x", Session: "web (123)", CWD: "/srv"}},
		"keys typed": {tool, "session.write", &api.SessionWriteInput{ID: "w", Keys: []string{"up"}}, api.Subject{Session: "web (123)"}},
		"letters typed": {tool, "session.write", &api.SessionWriteInput{ID: "w", Text: "ls", Keys: []string{"enter", "r", "u+006d", "space", "ctrl+a"}, Paste: "x"},
			api.Subject{Command: "ls\nrm x", Session: "web (123)", CWD: "/srv"}},
		"letters and enter":               {tool, "session.write", &api.SessionWriteInput{ID: "w", Keys: []string{"shift+x", "enter"}}, api.Subject{Command: "X", Session: "web (123)", CWD: "/srv"}},
		"a program in a session's folder": {tool, "session.start", &api.SessionStartInput{Command: []string{"rm", "x"}, CWD: "/tmp", CWDOf: "w"}, api.Subject{Argv: []string{"rm", "x"}, CWD: "/srv"}},
		"in that of an unknown session":   {tool, "session.start", &api.SessionStartInput{Command: []string{"rm", "x"}, CWD: "/tmp", CWDOf: "?"}, api.Subject{Argv: []string{"rm", "x"}, CWD: "/tmp"}},
		"unknown session":                 {tool, "session.kill", &api.IDInput{ID: "?"}, api.Subject{Session: "?"}},
		"a relative path":                 {tool, "files.read", &api.FilesReadInput{Path: "a/../b"}, api.Subject{Paths: []string{"/work/b"}}},
		"one with a base":                 {tool, "files.read", &api.FilesReadInput{FileScope: api.FileScope{Base: "/base"}, Path: "b"}, api.Subject{Paths: []string{"/base/b"}}},
		"no path":                         {tool, "files.list", &api.FilesListInput{}, api.Subject{Paths: []string{"/work"}}},
		"one in the home":                 {tool, "files.read", &api.FilesReadInput{Path: "~/b"}, api.Subject{Paths: []string{home + "/b"}}},
		"source and target":               {tool, "files.move", &api.FilesMoveInput{Path: "/a", To: "/b"}, api.Subject{Paths: []string{"/a", "/b"}}},
		"several":                         {tool, "files.transfer", &api.FilesTransferInput{Items: []api.FileMove{{Path: "/a"}, {Path: "/b", To: "/c"}}}, api.Subject{Paths: []string{"/a", "/b", "/c"}}},
		"a report":                        {tool, "files.write_output", &api.FilesWriteOutputInput{Name: "x"}, api.Subject{Paths: []string{home + "/outputs"}}},
	} {
		if diff := cmp.Diff(c.want, resolved(a, c.caller, c.operation, c.in)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// The policy matches text. A path that is not valid UTF-8 may be a link to a forbidden one.
func TestPathThatIsNotUTF8IsJudgedByItsTarget(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "\xff")
	if err := os.Symlink("/etc", link); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][]string{
		"/etc/passwd":        {"/etc/passwd"},
		link:                 {link, "/etc"},
		link + "/none/\xfe":  {link + "/none/\xfe", "/etc/none/\xfe"},
		dir + "/none/\xff/x": {dir + "/none/\xff/x", dir + "/none/\xff/x"},
	} {
		if got := policyPaths(path); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}

func TestAnswersAreAcceptedOnlyFromServersThatAskTheirUser(t *testing.T) {
	a, _ := arbiterWith(t, asking)
	in := api.PolicyCheckInput{Operations: []string{"exec"}, Subjects: []api.Subject{{Command: "make", CWD: "/"}}, Write: true, Answer: allowWord}
	for name, c := range map[string]struct {
		caller api.Caller
		answer string
		code   api.Code
	}{
		"a server that asks":     {api.Caller{Owner: "o", Call: "1", Tools: []string{"run"}, Bounds: api.Bounds{Elicits: true}}, allowWord, ""},
		"one that denies":        {api.Caller{Owner: "o", Call: "2", Tools: []string{"run"}, Bounds: api.Bounds{Elicits: true}}, denyWord, api.CodeForbidden},
		"a server that does not": {api.Caller{Owner: "o", Call: "3", Tools: []string{"run"}}, allowWord, api.CodeForbidden},
		"another word":           {api.Caller{Owner: "o", Call: "4", Tools: []string{"run"}, Bounds: api.Bounds{Elicits: true}}, "yes", api.CodeInvalid},
		"without a call":         {api.Caller{Owner: "o", Tools: []string{"run"}, Bounds: api.Bounds{Elicits: true}}, allowWord, api.CodeInvalid},
	} {
		in.Answer = c.answer
		err := a.CheckCall(api.WithCaller(t.Context(), c.caller), in)
		if c.code == "" && err != nil || c.code != "" && !errors.Is(err, c.code) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
