package launch

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"tandem/engine/api"
	"tandem/engine/session/prompt"
	"tandem/engine/system/keeper"
	"tandem/persist/store"
)

// Children inherit the umask of the keeper. An engine started by hand may have another one.
func TestChildHasItsOwnUmask(t *testing.T) {
	shell := exec.Command("sh", "-c", "umask 0135; echo; read line")
	in, _ := shell.StdinPipe()
	out, _ := shell.StdoutPipe()
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		in.Close()
		_ = shell.Wait()
	}()
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	l := &Launcher{Env: func() map[string]string { return nil }, Keys: func() prompt.Keys { return prompt.Keys{} }}
	for umask, staged := range map[string]bool{"0135": false, api.Umask(): true, "": false} {
		var r store.Record
		r.Argv, r.CWD, r.Umask = []string{"true"}, "/", umask
		w, err := l.commandFor(r, shell.Process.Pid)
		if err != nil || slices.Contains(w.argv, "launch") != staged {
			t.Errorf("umask %q: %q, %v", umask, w.argv, err)
		}
	}
}

func TestStartReasonIsKnownForErrorsOfAllKeepers(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		program string
		err     error
		want    api.Reason
	}{
		"missing":                      {"/bin/sh", keeper.ProgramNotFound, api.ReasonProgramNotFound},
		"not startable":                {"/bin/sh", keeper.NotStartable, api.ReasonNotStartable},
		"0.2.0, missing":               {"/no/such", errors.New("x"), api.ReasonProgramNotFound},
		"0.2.0, not executable":        {plain, errors.New("x"), api.ReasonNotStartable},
		"0.2.0, not about the program": {"/bin/sh", errors.New("x"), ""},
	} {
		if got := startReason(keeper.Spec{Argv: []string{test.program}}, test.err); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	if got := startReason(keeper.Spec{}, errors.New("x")); got != "" {
		t.Errorf("without a command: %q", got)
	}
}
