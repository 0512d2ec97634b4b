package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// hooks are those of an agent, with a file of settings that has a text; "" for none.
func (r *rig) hooks(name, text string) (h Hooks, path string) {
	r.t.Helper()
	h, ok := FindHooks(name)
	if !ok {
		r.t.Fatalf("no hooks of %s", name)
	}
	path = r.file(h.file)
	if text != "" {
		r.must(os.MkdirAll(filepath.Dir(path), 0o755))
		r.must(os.WriteFile(path, []byte(text), 0o640))
	}
	return h, path
}

func (r *rig) change(p *Plan, err error) *Plan {
	r.t.Helper()
	r.must(err)
	if p.Changed() {
		r.must(p.Write())
	}
	return p
}

// state is what is known of an agent's hooks.
func (r *rig) state(name string) string {
	r.t.Helper()
	for _, st := range r.HookStates() {
		if st.Agent == name {
			return st.Hooks + st.Error
		}
	}
	r.t.Fatalf("no state of %s", name)
	return ""
}

func TestHooksAreInstalledOnceAndRemovingGivesTheBytesBack(t *testing.T) {
	for _, h := range AllHooks() {
		texts := map[string]string{"no settings": "", "settings": "{}\n", "hooks of the user's": `{
  "a": 1,
  "hooks": {
    "Stop": [
      {"hooks": [{"type": "command", "command": "beep"}]}
    ],
    "stop": [{"command": "beep"}],
    "other": [
      {
        "command": "x"
      }
    ]
  },
  "z": [1, 2]
}
`}
		if h.own {
			texts = map[string]string{"no settings": ""}
		}
		for what, text := range texts {
			r := newRig(t)
			_, path := r.hooks(h.Name, text)
			if st := r.state(h.Name); st != HooksMissing {
				t.Errorf("%s, %s: %s before", h.Name, what, st)
			}
			r.change(r.InstallHooks(h))
			after := r.read(path)
			if st := r.state(h.Name); st != HooksInstalled || !strings.Contains(after, "tandem agent report --hook") == (h.plugin == "") {
				t.Errorf("%s, %s: %s:\n%s", h.Name, what, st, after)
			}
			if h.plugin == "" && strings.Count(after, hookMark) != len(h.events) {
				t.Errorf("%s, %s:\n%s", h.Name, what, after)
			}
			if strings.Contains(text, "beep") && strings.Count(after, "beep") != 2 {
				t.Errorf("%s, %s: lost a hook of the user's:\n%s", h.Name, what, after)
			}
			if p, err := r.InstallHooks(h); err != nil || p.Changed() {
				t.Errorf("%s, %s: a second time: %v", h.Name, what, err)
			}
			r.change(r.RemoveHooks(h))
			if text == "" {
				if left, _ := os.ReadDir(r.Home); len(left) != 1 || left[0].Name() != ".local" {
					t.Errorf("%s: %v left in the home folder", h.Name, left)
				}
			} else if got := r.read(path); got != text {
				t.Errorf("%s, %s: removed: %s", h.Name, what, cmp.Diff(text, got))
			}
			if p := r.change(r.RemoveHooks(h)); p.Changed() {
				t.Errorf("%s, %s: removed twice", h.Name, what)
			}
		}
	}
}

func TestRemovingHooksKeepsWhatThePersonHasEditedSince(t *testing.T) {
	r := newRig(t)
	h, path := r.hooks("claude", "{\n  \"model\": \"opus\"\n}\n")
	r.change(r.InstallHooks(h))
	text := strings.Replace(r.read(path), `"Stop": [`, `"Stop": [
      {"hooks": [{"type": "command", "command": "beep"}]},`, 1)
	r.must(os.WriteFile(path, []byte(text), 0o640))
	if st := r.state("claude"); st != HooksInstalled {
		t.Errorf("%s", st)
	}
	r.change(r.RemoveHooks(h))
	want := "{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"beep\"}]}\n    ]\n  }\n}\n"
	if diff := cmp.Diff(want, r.read(path)); diff != "" {
		t.Error(diff)
	}
}

func TestHooksOfAnotherVersionAreOutdatedAndReplaced(t *testing.T) {
	r := newRig(t)
	h, path := r.hooks("codex", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/old/tandem agent report --hook"}]}], "PreToolUse": [{"hooks": [{"type": "command", "command": "tandem agent report --hook --state working"}]}, {"hooks": [{"type": "command", "command": "mine"}]}]}}`)
	if st := r.state("codex"); st != HooksOutdated {
		t.Errorf("%s", st)
	}
	r.change(r.InstallHooks(h))
	if st, text := r.state("codex"), r.read(path); st != HooksInstalled || strings.Contains(text, "/old/") || !strings.Contains(text, "mine") || strings.Count(text, hookMark) != len(h.events) {
		t.Errorf("%s: %s", st, text)
	}
	plugin, path := r.hooks("opencode", "// old\n")
	if st := r.state("opencode"); st != HooksOutdated {
		t.Errorf("%s", st)
	}
	r.change(r.InstallHooks(plugin))
	if st, text := r.state("opencode"), r.read(path); st != HooksInstalled || !strings.Contains(text, `execFile("tandem", args`) {
		t.Errorf("%s: %s", st, text)
	}
}

func TestHooksAndTheServerShareAFileOfSettings(t *testing.T) {
	r := newRig(t)
	const before = "{\n  // mine\n  \"ui\": {}\n}\n"
	h, path := r.hooks("gemini", before)
	r.add("gemini", ServerOptions{})
	r.change(r.InstallHooks(h))
	r.remove("gemini")
	if st := r.state("gemini"); st != HooksInstalled || strings.Contains(r.read(path), "--serve") {
		t.Errorf("%s: %s", st, r.read(path))
	}
	r.change(r.RemoveHooks(h))
	if diff := cmp.Diff(before, r.read(path)); diff != "" {
		t.Error(diff)
	}
}

func TestHooksInAGroupWithOthersAreLeftToThePerson(t *testing.T) {
	r := newRig(t)
	h, path := r.hooks("claude", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "tandem agent report --hook"}, {"type": "command", "command": "mine"}]}]}}`)
	if _, err := r.RemoveHooks(h); err == nil || !strings.Contains(err.Error(), path+": hooks.Stop: other hooks are in a group with Tandem's") {
		t.Error(err)
	}
	r.must(os.WriteFile(path, []byte(`{"hooks": {"Stop": {}}}`), 0o640))
	if _, err := r.InstallHooks(h); err == nil || !strings.Contains(err.Error(), ":1:20: hooks.Stop: must be an array") {
		t.Error(err)
	}
}

func TestAProgramWithAnOddPathIsQuotedInHooks(t *testing.T) {
	for program, want := range map[string]string{
		"tandem":           `[ -z "$TANDEM_SESSION_ID" ] || tandem agent report --hook --state done || true`,
		"/a b/it's/tandem": `[ -z "$TANDEM_SESSION_ID" ] || '/a b/it'\''s/tandem' agent report --hook --state done || true`,
	} {
		if got := hookCommand(program, "done"); got != want {
			t.Errorf("%s: %s", program, got)
		}
	}
}

func TestTheDiffOfSeveralChangesShowsEach(t *testing.T) {
	r := newRig(t)
	h, _ := r.hooks("claude", `{
  "hooks": {
    "Stop": [
      {"hooks": [{"type": "command", "command": "beep"}]}
    ]
  },
  "model": "opus",
  "b": 1,
  "c": 2
}
`)
	p, err := r.InstallHooks(h)
	r.must(err)
	for _, line := range p.Diff() {
		if strings.Contains(line, "beep") && !strings.HasSuffix(line, ",") && strings.HasPrefix(line, "+") {
			t.Errorf("added: %s", line)
		}
	}
	if text := strings.Join(p.Diff(), "\n"); strings.Contains(text, "\"c\"") || strings.Count(text, "\n-") > 2 {
		t.Error(text)
	}
	same := "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n"
	got := (&Plan{before: []byte("x\n" + same), after: []byte(same + "y\n")}).Diff()
	if diff := cmp.Diff([]string{"- x", "  a", "  b", "  c", "  …", "  h", "  i", "  j", "+ y"}, got); diff != "" {
		t.Error(diff)
	}
}
