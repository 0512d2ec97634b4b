package project

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/engine/base/names"
)

func TestEntryWithAnInvalidNameIsLeftOut(t *testing.T) {
	for _, c := range []struct {
		file, text string
		entries    string
		notices    []string
		panes      int
		omitted    string
	}{
		{file: "tandem.yaml", entries: "web sh", panes: 1, omitted: `"` + "`touch X`a" + `" "-rf"`, text: "processes:\n  web: x\n  '`touch X`a': x\n  -rf: x\nsessions:\n  sh: x\nlayout: [sh]",
			notices: []string{
				"line 3, column 3: \"`touch X`a\" is left out: a name must not contain `, $, ( or /",
				`line 4, column 3: "-rf" is left out: a name must not begin with -`,
			}},
		// An entry that depends on an invalid one is left out too, wherever it is in the file.
		{file: "tandem.yaml", entries: "web", omitted: `"$a" "b"`, text: "processes:\n  web: x\n  c: {command: x, depends_on: b, autostart: false}\n  b: {command: x, depends_on: $a}\n  $a: x",
			notices: []string{
				"line 5, column 3: \"$a\" is left out: a name must not contain `, $, ( or /",
				`line 4, column 3: "b" is left out: it depends on "$a"`,
				`line 3, column 3: "c" is left out: it depends on "b"`,
			}},
		{file: "tandem.yaml", entries: "a", omitted: `"b/c"`, text: "sessions:\n  a: x\n  b/c: x\nlayout: [a, {beside: [b/c]}]",
			notices: []string{
				"line 3, column 3: \"b/c\" is left out: a name must not contain `, $, ( or /",
				`line 4, column 23: the layout is left out: it shows "b/c"`,
			}},
		{file: "process-compose.yaml", entries: "web", omitted: `" a"`, text: "processes:\n  web: {command: x}\n  ' a': {command: x}",
			notices: []string{`line 3, column 3: " a" is left out: a name must not begin or end with a blank`}},
		{file: "Procfile", entries: "web", omitted: `"$(x)" "-a"`, text: "$(x): y\nweb: x\n-a: y\n",
			notices: []string{
				"line 1, column 1: \"$(x)\" is left out: a name must not contain `, $, ( or /",
				`line 3, column 1: "-a" is left out: a name must not begin with -`,
			}},
	} {
		f := mustParse(t, c.file, c.text)
		var entries []string
		for _, e := range f.Entries {
			entries = append(entries, e.Name)
		}
		var omitted []string
		for _, o := range f.Omitted {
			if !o.Manual {
				omitted = append(omitted, names.Quote(o.Name))
			}
		}
		slices.Sort(c.notices)
		slices.Sort(f.Notices)
		if diff := cmp.Diff(c.notices, f.Notices); diff != "" || strings.Join(entries, " ") != c.entries || len(f.Layout) != c.panes || strings.Join(omitted, " ") != c.omitted {
			t.Errorf("%s: %q\nomitted %q, entries %q, layout %v, notices %s", c.file, c.text, omitted, entries, f.Layout, diff)
		}
	}
}

// firstMistake returns the error of a file, or why its first entry is left out.
func firstMistake(f *File, err error) error {
	if err == nil && len(f.Omitted) > 0 {
		err = f.Omitted[0].Why
	}
	return err
}

func TestEntryWithAMistakeIsLeftOut(t *testing.T) {
	for name, c := range map[string]struct{ file, text, why string }{
		"policy":       {"tandem.yaml", "processes:\n  web: x\n  bad: {command: x, restart: sometimes}\n  ok: x", `line 3, column 21: "bad" is left out: unknown restart policy "sometimes"; must be no, on-failure or always`},
		"key":          {"tandem.yaml", "processes:\n  web: x\n  ok: x\n  bad: {cmd: x}", `line 4, column 9: "bad" is left out: a process has no key "cmd"; did you mean cwd?`},
		"nothing":      {"tandem.yaml", "processes:\n  bad: {}\n  web: x\n  ok: x", `line 2, column 3: "bad" is left out: process bad has no command`},
		"dependency":   {"tandem.yaml", "processes:\n  web: x\n  bad: {command: x, depends_on: [we]}\n  ok: x", `line 3, column 34: "bad" is left out: bad depends on we, which is not in the file; did you mean web?`},
		"compose":      {"process-compose.yaml", "processes:\n  web: {command: x}\n  bad: {command: x, replicas: 2}\n  ok: {command: x}", `line 3, column 21: "bad" is left out: replicas is not supported`},
		"Procfile":     {"Procfile", "web: x\nbad\nok: x\n", `line 2, column 1: "bad" is left out: must be NAME: COMMAND; a name has letters, digits, _ and -`},
		"package.json": {"package.json", "{\"scripts\": {\"web\": \"x\",\n\"bad\": 5, \"ok\": \"x\"}}", `line 2, column 1: "bad" is left out: script "bad" must be a line of text`},
	} {
		t.Run(name, func(t *testing.T) {
			f := mustParse(t, c.file, c.text)
			if len(f.Entries) != 2 || f.Entry("web") == nil || f.Entry("ok") == nil || len(f.Notices) != 1 || !strings.HasPrefix(f.Notices[0], c.why) {
				t.Errorf("entries %+v, notices %q", f.Entries, f.Notices)
			}
			if _, err := f.Order([]string{"ok", "bad"}); err == nil || err != f.Omitted[0].Why {
				t.Errorf("a call for the entry: %v", err)
			}
			list := []api.Process{{ID: "1", Name: "bad", State: api.StateRunning, Project: &api.ProjectEntry{File: f.Path, Name: "bad"}}}
			if p := NewPlan(f, nil, list, PlanOptions{}); len(p.removed) > 0 {
				t.Error("it would be pruned")
			}
		})
	}
}

func TestFileWithMistakesInAllEntriesIsRejected(t *testing.T) {
	_, err := parse(t, "tandem.yaml", "processes:\n  a: {command: x, restart: sometimes}\n  b: {command: x, depends_on: [a]}")
	if err == nil || !strings.Contains(err.Error(), `unknown restart policy "sometimes"`) {
		t.Error(err)
	}
}

func TestPolicyUnlessStoppedIsStillAccepted(t *testing.T) {
	for _, name := range []string{"unless-stopped", "unless_stopped"} {
		f := mustParse(t, "tandem.yaml", "processes:\n  a: {command: x, restart: "+name+"}")
		if got := f.Entries[0].Start.Restart.Policy; got != "unless-stopped" {
			t.Errorf("%s is %q, and changes the digest of processes started by earlier releases", name, got)
		}
	}
}

func TestProjectNameIsDerivedFromTheFolder(t *testing.T) {
	for path, want := range map[string]string{"/srv/my app/tandem.yaml": "my app", "/srv/$(x)/tandem.yaml": "x)", "/tandem.yaml": "project", "/-/tandem.yaml": "project"} {
		f, err := Parse(path, []byte("processes: {a: x}"), nil)
		if err != nil || f.Name != want {
			t.Errorf("%s: %v, %v, want %q", path, f, err, want)
		}
	}
	if f := mustParse(t, "package.json", `{"name": "@scope/web", "scripts": {"dev": "x"}}`); f.Name != "@scope-web" {
		t.Errorf("a package is called %q", f.Name)
	}
}
