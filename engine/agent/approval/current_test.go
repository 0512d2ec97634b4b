package approval

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/persist/datadir"
	"tandem/persist/store"
)

// A policyRig is a policy.toml and the arbiters that read it, one after the other.
type policyRig struct {
	*testing.T
	path   string
	data   *store.Store
	a      *Arbiter
	events []api.Event
}

func newPolicyRig(t *testing.T) *policyRig {
	data, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &policyRig{T: t, path: filepath.Join(t.TempDir(), "policy.toml"), data: data}
	r.restart()
	return r
}

func (r *policyRig) restart() {
	r.a = New(r.path, slog.New(slog.DiscardHandler), func(e api.Event) { r.events = append(r.events, e) })
	r.a.Keep(r.data)
}

func (r *policyRig) write(text string) {
	r.Helper()
	if err := os.WriteFile(r.path, []byte(text), 0o600); err != nil {
		r.Fatal(err)
	}
}

func (r *policyRig) remove() {
	r.Helper()
	if err := os.Remove(r.path); err != nil {
		r.Fatal(err)
	}
}

func (r *policyRig) check(command string) verdict {
	r.Helper()
	return checked(r.T, r.a, check{Tool: "exec", Subject: api.Subject{Command: command, CWD: "/"}, NoAsk: true, Write: true})
}

func (r *policyRig) expect(when, command, want string) {
	r.Helper()
	if out := r.check(command); out.Decision != want {
		r.Errorf("%s: %s: %+v, want %s", when, command, out, want)
	}
}

const denyingRM = "default = \"allow\"\n\n[[rule]]\ndecision = \"deny\"\ncommand = [\"rm\"]\nreason = \"keep it\"\n"

func TestPolicyAppliesWhileItIsBeingSaved(t *testing.T) {
	half := denyingRM[:len(denyingRM)-9]
	for name, steps := range map[string][]struct {
		what   string
		step   func(*policyRig)
		rm, ls string
	}{
		"truncates, then writes": {
			{"truncated", func(r *policyRig) { r.write("") }, "ask", "ask"},
			{"written", func(r *policyRig) { r.write(denyingRM) }, "deny", "allow"},
		},
		"renames away, then writes": {
			{"renamed", func(r *policyRig) { _ = os.Rename(r.path, r.path+"~") }, "ask", "ask"},
			{"written", func(r *policyRig) { r.write(denyingRM) }, "deny", "allow"},
		},
		"writes half a file": {
			{"truncated", func(r *policyRig) { r.write("") }, "ask", "ask"},
			{"half", func(r *policyRig) { r.write(half) }, "deny", "allow"},
			{"written", func(r *policyRig) { r.write(denyingRM) }, "deny", "allow"},
		},
		"writes comments first": {
			{"comments", func(r *policyRig) { r.write("# my policy\nask_timeout = \"30s\"\n") }, "ask", "ask"},
			{"written", func(r *policyRig) { r.write(denyingRM) }, "deny", "allow"},
		},
	} {
		for _, restarts := range []bool{false, true} {
			r := newPolicyRig(t)
			r.write(denyingRM)
			r.expect(name+": before", "rm x", "deny")
			for _, s := range steps {
				s.step(r)
				if restarts {
					r.restart()
				}
				r.expect(name+": "+s.what, "rm x", s.rm)
				r.expect(name+": "+s.what, "ls", s.ls)
			}
		}
	}
}

func TestMissingPolicyAsksUntilOneAllows(t *testing.T) {
	r := newPolicyRig(t)
	r.write(denyingRM)
	r.expect("before", "ls", "allow")
	r.remove()
	r.restart()
	out := r.check("ls")
	if out.Decision != "ask" || !strings.Contains(out.Reason, "policy.toml is empty or missing") {
		t.Errorf("gone: %+v", out)
	}
	r.check("ls")
	if len(r.events) != 1 || !strings.HasPrefix(r.events[0].Fault, "policy.toml: ") || !strings.Contains(r.events[0].Fault, `default = "allow"`) {
		t.Errorf("announced %+v, want one fault that says what to do", r.events)
	}
	r.write("# nothing\n")
	r.expect("comments alone", "ls", "ask")
	r.write("default = \"allow\"\n")
	r.expect("said so", "rm x", "allow")
	if last := r.events[len(r.events)-1]; last.Type != api.EventPolicy || last.Fault != "" {
		t.Errorf("announced %+v, want that the policy applies again", last)
	}
	r.remove()
	r.restart()
	r.expect("gone after that", "rm x", "allow")
}

func TestAskingDefaultSurvivesMissingFile(t *testing.T) {
	for _, text := range []string{"default = \"ask\"", "default = \"deny\""} {
		r := newPolicyRig(t)
		r.write(text)
		r.check("ls")
		r.remove()
		r.expect(text+" gone", "ls", "ask")
	}
}

func TestCheck_withoutEarlierPolicy_asksNothing(t *testing.T) {
	r := newPolicyRig(t)
	r.expect("no file", "rm x", "allow")
	r.write("# not yet\n")
	r.expect("comments", "rm x", "allow")
	r.restart()
	r.expect("after a restart", "rm x", "allow")
	r.write("default = \"deny\" # unfinished\n[[ru")
	r.expect("half of the first", "ls", "ask")
	if out := r.check("ls"); !strings.Contains(out.Reason, "cannot be used") {
		t.Errorf("half of the first: %+v", out)
	}
}

// A kept policy that cannot be read may have had any rule.
func TestUnreadableSavedPolicyAsks(t *testing.T) {
	for _, kept := range []string{"a = newer", unreadable} {
		r := newPolicyRig(t)
		if err := r.data.SavePolicy([]byte(kept)); err != nil {
			t.Fatal(err)
		}
		r.restart()
		r.expect(kept, "ls", "ask")
		r.write(denyingRM)
		r.expect("a new one", "ls", "allow")
	}
	r, _ := unwritablePolicyRig(t)
	r.expect("a directory", "ls", "ask")
}

func TestFailedSaveOfPolicyIsRetried(t *testing.T) {
	r, kept := unwritablePolicyRig(t)
	r.write(denyingRM)
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(r.path, old, old); err != nil {
		t.Fatal(err)
	}
	r.expect("not saved", "rm x", "deny")
	if err := os.Remove(kept); err != nil {
		t.Fatal(err)
	}
	r.expect("saved", "rm x", "deny")
	r.remove()
	r.restart()
	r.expect("policy.toml removed", "rm x", "ask")
}

// unwritablePolicyRig returns a rig whose saved policy, at kept, is a directory.
func unwritablePolicyRig(t *testing.T) (r *policyRig, kept string) {
	r = newPolicyRig(t)
	dir := t.TempDir()
	kept = filepath.Join(dir, datadir.LastPolicy)
	if err := os.Mkdir(kept, 0o700); err != nil {
		t.Fatal(err)
	}
	var err error
	if r.data, err = store.Open(dir); err != nil {
		t.Fatal(err)
	}
	r.restart()
	return r, kept
}

// Two saves within a tick of the file system's clock have the same time.
func TestPolicyOfSameSizeAndTimeIsReread(t *testing.T) {
	r := newPolicyRig(t)
	r.write("default = \"deny\" ")
	r.expect("first", "ls", "deny")
	info, err := os.Stat(r.path)
	if err != nil {
		t.Fatal(err)
	}
	r.write("default = \"allow\"")
	if err := os.Chtimes(r.path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	r.expect("second", "ls", "allow")
}
