package supervise

import (
	"errors"
	"strings"
	"testing"

	"tandem/engine/api"
)

func TestNameIsUniqueAmongLiveProcesses(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.startRunning("a")
		free := func() string {
			name, _ := Ask(r.Context(), r.c, func() string { return r.c.reg.procs.freeName("name-a") })
			return name
		}
		if got := free(); got != "name-a-2" {
			t.Errorf("free name %q", got)
		}
		r.reportExit(p, 0)
		r.reportDrained(p)
		r.view("a")
		if got := free(); got != "name-a" {
			t.Errorf("free name %q after the end", got)
		}
	})
}

// Dashboards give such names a fixed width, which must not depend on whether a program runs.
func TestShellNameIsAutomaticAtThePromptAndAfterExit(t *testing.T) {
	withRig(t, func(r *rig) {
		for name, test := range map[string]struct {
			argv []string
			want bool
		}{
			"bash":   {[]string{"/bin/bash"}, true},
			"bash-2": {[]string{"bash", "-l"}, true},
			"build":  {[]string{"bash"}, false},
			"vim":    {[]string{"vim"}, false},
			"sh-2":   {nil, false},
		} {
			rec := NewRecord(name, api.KindSession)
			rec.Name, rec.Argv, rec.TTY = name, test.argv, true
			if p := r.startRecord(rec); p.Terminal.AutoNamed != test.want {
				t.Errorf("%s: automatic %v at the prompt", name, p.Terminal.AutoNamed)
			}
			p := r.view(name)
			r.reportExit(p, 0)
			r.reportDrained(p)
			if p := r.view(name); !p.State.Ended() || p.Terminal.AutoNamed != test.want {
				t.Errorf("%s: automatic %v when %s", name, p.Terminal.AutoNamed, p.State)
			}
		}
	})
}

func TestNumberOfListedSessionIsNotUsedAgain(t *testing.T) {
	record := func(name string, tty, oneShot bool, state api.State) *proc {
		r := NewRecord(name, api.KindSession)
		r.Name, r.TTY, r.Transient, r.State = name, tty, oneShot, string(state)
		return &proc{rec: r}
	}
	for name, test := range map[string]struct {
		ended *proc
		want  string
	}{
		"session":         {record("bash-2", true, false, api.StateExited), "bash-3"},
		"other name":      {record("zsh-2", true, false, api.StateExited), "bash-2"},
		"without number":  {record("bash", true, false, api.StateExited), "bash-2"},
		"process":         {record("bash-2", false, false, api.StateExited), "bash-2"},
		"one-shot":        {record("bash-2", true, true, api.StateExited), "bash-2"},
		"renamed session": {record("build", true, false, api.StateExited), "bash-2"},
	} {
		ps := processes{"a": record("bash", true, false, api.StateRunning), "b": test.ended}
		if got := ps.freeName("bash"); got != test.want {
			t.Errorf("%s: the next is %s, want %s", name, got, test.want)
		}
	}
}

func TestFindResolvesIDNameAndUniquePrefix(t *testing.T) {
	withRig(t, func(r *rig) {
		for _, id := range []string{"aa1", "aa2", "b1"} {
			r.startRunning(id)
		}
		find := func(what string) (string, error) {
			type answer struct {
				id  string
				err error
			}
			a, _ := Ask(r.Context(), r.c, func() answer {
				p, err := r.c.reg.procs.find(t.Context(), what, api.KindSession)
				if err != nil {
					return answer{err: err}
				}
				return answer{id: p.rec.ID}
			})
			return a.id, a.err
		}
		for what, want := range map[string]string{"aa1": "aa1", "b": "b1", "name-aa2": "aa2", "name-b": "b1"} {
			if id, err := find(what); id != want || err != nil {
				t.Errorf("find(%q) = %q, %v", what, id, err)
			}
		}
		_, err := find("aa")
		if !errors.Is(err, api.CodeAmbiguous) || !strings.Contains(err.Error(), "aa1 (name-aa1), aa2 (name-aa2)") {
			t.Errorf("ambiguous prefix: %v", err)
		}
		if _, err := find("name-"); !errors.Is(err, api.CodeAmbiguous) {
			t.Errorf("ambiguous name: %v", err)
		}
		for _, what := range []string{"", "zz", "\x1b[2J"} {
			if _, err := find(what); !errors.Is(err, api.CodeNotFound) || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("find(%q): %v", what, err)
			}
		}
	})
}

// If the process meant is gone, a call that changes something must not hit another one.
func TestCallThatChangesSomethingFindsOnlyWholeNames(t *testing.T) {
	withRig(t, func(r *rig) {
		for _, id := range []string{"aaaa1", "web"} {
			r.startRunning(id)
		}
		changing := api.WithEffect(t.Context(), api.Destructive)
		for what, want := range map[string]string{"aaaa1": "aaaa1", "aaaa": "aaaa1", "name-web": "web", "aaa": "", "name-we": "", "we": ""} {
			id, err := askWithError(r.Context(), r.c, func() (string, error) {
				p, err := r.c.reg.procs.find(changing, what, api.KindSession)
				if err != nil {
					return "", err
				}
				return p.rec.ID, nil
			})
			if id != want || (want == "") != errors.Is(err, api.CodeNotFound) {
				t.Errorf("find(%q) = %q, %v", what, id, err)
			}
			var e *api.Error
			if what == "name-we" && (!errors.As(err, &e) || !strings.Contains(e.Hint, "web (name-web)")) {
				t.Errorf("near names: %v", err)
			}
		}
	})
}
