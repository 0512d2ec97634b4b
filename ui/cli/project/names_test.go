package project

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
		// What needs such an entry is left out too, in any order.
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
		var names []string
		for _, e := range f.Entries {
			names = append(names, e.Name)
		}
		slices.Sort(c.notices)
		slices.Sort(f.Notices)
		if diff := cmp.Diff(c.notices, f.Notices); diff != "" || strings.Join(names, " ") != c.entries || len(f.Layout) != c.panes || strings.Join(f.Omitted, " ") != c.omitted {
			t.Errorf("%s: %q\nomitted %q, entries %q, layout %v, notices %s", c.file, c.text, f.Omitted, names, f.Layout, diff)
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
