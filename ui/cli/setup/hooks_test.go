package setup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// writeHookSettings writes text to the settings of an agent's hooks, unless it is empty, and returns the
// hooks and the path.
func (m *testMachine) writeHookSettings(name, text string) (h Hooks, path string) {
	m.t.Helper()
	h, ok := FindHooks(name)
	if !ok {
		m.t.Fatalf("no hooks of %s", name)
	}
	path = m.resolveLocation(h.location)
	if text != "" {
		m.must(os.MkdirAll(filepath.Dir(path), 0o755))
		m.must(os.WriteFile(path, []byte(text), 0o640))
	}
	return h, path
}

func (m *testMachine) applyPlan(p *Plan, err error) *Plan {
	m.t.Helper()
	m.must(err)
	if p.Changed() {
		m.must(p.Write(m.t.Context()))
	}
	return p
}

// hookState returns an agent's HookState.Hooks, or its error.
func (m *testMachine) hookState(name string) string {
	m.t.Helper()
	for _, st := range m.HookStates() {
		if st.Agent == name {
			return st.Hooks + st.Error
		}
	}
	m.t.Fatalf("no state of %s", name)
	return ""
}

func TestInstallingHooksTwiceAndRemovingThemRestoresSettings(t *testing.T) {
	for _, h := range AllHooks() {
		texts := map[string]string{"no settings": "", "settings": "{}\n", "the user's hooks": `{
  "version": 1,
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
		if h.ownFile {
			texts = map[string]string{"no settings": ""}
		}
		for name, text := range texts {
			m := newTestMachine(t)
			_, path := m.writeHookSettings(h.Name, text)
			if st := m.hookState(h.Name); st != HooksMissing {
				t.Errorf("%s, %s: %s before installing", h.Name, name, st)
			}
			m.applyPlan(m.InstallHooks(h))
			after := m.readFile(path)
			if st := m.hookState(h.Name); st != HooksInstalled || !strings.Contains(after, "tandem agent report --hook") == (h.plugin == "") {
				t.Errorf("%s, %s: %s:\n%s", h.Name, name, st, after)
			}
			if h.plugin == "" && strings.Count(after, hookMarker) != len(h.events) {
				t.Errorf("%s, %s:\n%s", h.Name, name, after)
			}
			if strings.Contains(text, "beep") && strings.Count(after, "beep") != 2 {
				t.Errorf("%s, %s: lost one of the user's hooks:\n%s", h.Name, name, after)
			}
			if p, err := m.InstallHooks(h); err != nil || p.Changed() {
				t.Errorf("%s, %s: installing again: %v, or it changes the settings", h.Name, name, err)
			}
			m.applyPlan(m.RemoveHooks(h))
			if text == "" {
				if left, err := os.ReadFile(path); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s: %q left, %v", h.Name, left, err)
				}
			} else if got := m.readFile(path); got != text {
				t.Errorf("%s, %s: removed: %s", h.Name, name, cmp.Diff(text, got))
			}
			if p := m.applyPlan(m.RemoveHooks(h)); p.Changed() {
				t.Errorf("%s, %s: removing again changes the settings", h.Name, name)
			}
		}
	}
}

func TestRemovingHooksKeepsLaterEdits(t *testing.T) {
	m := newTestMachine(t)
	h, path := m.writeHookSettings("claude", "{\n  \"model\": \"opus\"\n}\n")
	m.applyPlan(m.InstallHooks(h))
	text := strings.Replace(m.readFile(path), `"Stop": [`, `"Stop": [
      {"hooks": [{"type": "command", "command": "beep"}]},`, 1)
	m.must(os.WriteFile(path, []byte(text), 0o640))
	if st := m.hookState("claude"); st != HooksInstalled {
		t.Errorf("%s", st)
	}
	m.applyPlan(m.RemoveHooks(h))
	want := "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"beep\"}]}\n    ]\n  },\n  \"model\": \"opus\"\n}\n"
	if diff := cmp.Diff(want, m.readFile(path)); diff != "" {
		t.Error(diff)
	}
}

func TestInstallingHooksReplacesOutdatedOnes(t *testing.T) {
	m := newTestMachine(t)
	h, path := m.writeHookSettings("codex", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/old/tandem agent report --hook"}]}], "PreToolUse": [{"hooks": [{"type": "command", "command": "tandem agent report --hook --state working"}]}, {"hooks": [{"type": "command", "command": "mine"}]}]}}`)
	if st := m.hookState("codex"); st != HooksOutdated {
		t.Errorf("%s", st)
	}
	m.applyPlan(m.InstallHooks(h))
	if st, text := m.hookState("codex"), m.readFile(path); st != HooksInstalled || strings.Contains(text, "/old/") || !strings.Contains(text, "mine") || strings.Count(text, hookMarker) != len(h.events) {
		t.Errorf("%s: %s", st, text)
	}
	plugin, path := m.writeHookSettings("opencode", "// old\n")
	if st := m.hookState("opencode"); st != HooksOutdated {
		t.Errorf("%s", st)
	}
	m.applyPlan(m.InstallHooks(plugin))
	if st, text := m.hookState("opencode"), m.readFile(path); st != HooksInstalled || !strings.Contains(text, `execFile("tandem", args`) {
		t.Errorf("%s: %s", st, text)
	}
}

func TestHooksAndServerCanShareASettingsFile(t *testing.T) {
	m := newTestMachine(t)
	const before = "{\n  // mine\n  \"ui\": {}\n}\n"
	h, path := m.writeHookSettings("gemini", before)
	m.addServer("gemini", ServerOptions{})
	m.applyPlan(m.InstallHooks(h))
	m.removeServer("gemini")
	if st := m.hookState("gemini"); st != HooksInstalled || strings.Contains(m.readFile(path), "--serve") {
		t.Errorf("%s: %s", st, m.readFile(path))
	}
	m.applyPlan(m.RemoveHooks(h))
	if diff := cmp.Diff(before, m.readFile(path)); diff != "" {
		t.Error(diff)
	}
}

func TestHooksGroupedWithOthersAreRejected(t *testing.T) {
	m := newTestMachine(t)
	h, path := m.writeHookSettings("claude", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "tandem agent report --hook"}, {"type": "command", "command": "mine"}]}]}}`)
	if _, err := m.RemoveHooks(h); err == nil || !strings.Contains(err.Error(), path+": hooks.Stop: other hooks are in a group with Tandem's") {
		t.Error(err)
	}
	m.must(os.WriteFile(path, []byte(`{"hooks": {"Stop": {}}}`), 0o640))
	if _, err := m.InstallHooks(h); err == nil || !strings.Contains(err.Error(), path+": hooks.Stop: must be an array") {
		t.Error(err)
	}
}

func TestHookCommandQuotesProgramPath(t *testing.T) {
	for program, want := range map[string]string{
		"tandem":           `[ -z "$TANDEM_SESSION_ID" ] || tandem agent report --hook --state done || true`,
		"/a b/it's/tandem": `[ -z "$TANDEM_SESSION_ID" ] || '/a b/it'\''s/tandem' agent report --hook --state done || true`,
	} {
		if got := hookCommand(program, "done"); got != want {
			t.Errorf("%s: %s", program, got)
		}
	}
}

func TestDiffShowsSeparateChanges(t *testing.T) {
	m := newTestMachine(t)
	h, _ := m.writeHookSettings("claude", `{
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
	p, err := m.InstallHooks(h)
	m.must(err)
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
