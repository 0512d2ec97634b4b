package toolkit

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/engine/api"
)

func TestParseProfilesRejectsUnknownNames(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  []Profile
		err   string
	}{
		{nil, []Profile{Native}, ""},
		{[]string{"", " , "}, []Profile{Native}, ""},
		{[]string{"core"}, []Profile{Core}, ""},
		{[]string{"core, android", "core", "os"}, []Profile{Core, Android, OS}, ""},
		{[]string{"all", "terminal-tools"}, []Profile{All, TerminalTools}, ""},
		{[]string{"native", "Core"}, nil, `profile "Core": must be native`},
		{[]string{"core\x1b"}, nil, `profile "core\x1b"`},
	} {
		got, err := ParseProfiles(c.names)
		if !slices.Equal(got, c.want) || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: %q, %v", c.names, got, err)
		}
	}
	files, shell := Tool{Name: "read", Files: true, Profiles: []Profile{Native, Plugin}}, Tool{Name: "exec", Profiles: []Profile{Native}}
	for p, want := range map[Profile][2]bool{Native: {true, true}, TerminalTools: {false, true}, Plugin: {true, false}, All: {true, true}, Core: {false, false}} {
		if got := [2]bool{p.Offers(files), p.Offers(shell)}; got != want {
			t.Errorf("%s offers %v, want %v", p, got, want)
		}
	}
}

func TestDefaultRootsDependOnTheProfiles(t *testing.T) {
	for _, c := range []struct {
		in    Options
		roots []string
		cwd   string
	}{
		{Options{CWD: "/work", Home: "/home/ann"}, []string{"/work", "/home/ann/outputs"}, "/work"},
		{Options{CWD: "/work", Home: "/home/ann", Profiles: []Profile{Native, Android}}, []string{"/work", "/home/ann"}, "/work"},
		{Options{CWD: "/work"}, []string{"/work"}, "/work"},
		{Options{CWD: "/work/deep", Home: "/home/ann", Roots: []string{"/other", "/work"}}, []string{"/other", "/work"}, "/work/deep"},
		{Options{CWD: "/workshop", Home: "/home/ann", Roots: []string{"/work"}}, []string{"/work"}, "/work"},
		{Options{CWD: "/", Roots: []string{"/work"}}, []string{"/work"}, "/work"},
	} {
		got := c.in.WithDefaults()
		if !slices.Equal(got.Roots, c.roots) || got.CWD != c.cwd || len(got.Profiles) == 0 {
			t.Errorf("%+v: %+v", c.in, got)
		}
		if b := got.Bounds(); b.Base != c.cwd || !slices.Equal(b.Roots, c.roots) {
			t.Errorf("bounds are %+v", b)
		}
	}
}

func TestSandboxHidesTheSecretsThatExist(t *testing.T) {
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	if err := os.WriteFile(key, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	own := &api.Sandbox{Filesystem: api.SandboxFilesystem{DenyRead: append(make([]string, 0, 9), "/x")}}
	o := Options{Sandbox: own, Secrets: []string{key, filepath.Join(dir, "none"), "/x", key}}
	if got := o.HideSecrets().Sandbox.Filesystem.DenyRead; !slices.Equal(got, []string{"/x", key}) {
		t.Errorf("hidden are %q", got)
	}
	if got := own.Filesystem.DenyRead; len(got) != 1 || got[:2][1] != "" {
		t.Errorf("the caller's sandbox hides %q", got[:2])
	}
	if o := (Options{Secrets: []string{key}}).HideSecrets(); o.Sandbox != nil {
		t.Error("a sandbox appeared")
	}
}

func TestUnsetVariablesAreNotInherited(t *testing.T) {
	f := &Agent{Environ: map[string]string{"A": "a", "B": "b"}}
	if !f.Unset("A") || f.Unset("A") || f.Unset("C") {
		t.Error("unset does not tell what was there")
	}
	if got := f.ChildEnv(); !maps.Equal(got, map[string]string{"B": "b"}) || len(f.Environ) != 2 {
		t.Errorf("inherited are %v of %v", got, f.Environ)
	}
}

// Names may hold any byte but NUL and /.
func TestNamesAreQuotedIfTheyAreAmbiguous(t *testing.T) {
	native := &Agent{Options: &Options{Profiles: []Profile{Native}, CWD: "/work", Home: "/home/ann"}, Roots: []string{"/work"}}
	plugin := &Agent{Options: &Options{Profiles: []Profile{Native, Plugin}, CWD: "/work", Home: "/home/ann"}, Roots: []string{"/work"}}
	for _, c := range []struct{ name, native, plugin string }{
		{"a b.txt", "a b.txt", "a b.txt"},
		{"ä€", "ä€", "ä€"},
		{" a", `" a"`, " a"},
		{"a\nb", `"a\nb"`, `a\nb`},
		{`"a"`, `"\"a\""`, `"a"`},
		{"a\xffb", `"a\xffb"`, "a\xffb"},
		{"\u202ea", `"\u202ea"`, ""},
		{"a\x1b[2J", `"a\x1b[2J"`, ""},
	} {
		got := native.DisplayName(c.name)
		if got != c.native {
			t.Errorf("%q is shown as %s, want %s", c.name, got, c.native)
		}
		if back := native.ParsePath(got); back != c.name {
			t.Errorf("%s is read as %q", got, back)
		}
		shown := plugin.DisplayName(c.name)
		if c.plugin != "" && c.plugin != shown || strings.ContainsAny(shown, "\n\x1b") {
			t.Errorf("%q is shown by plugins as %q, want %q", c.name, shown, c.plugin)
		}
		scope, path := native.PathInScope(got)
		if want := "/work/" + c.name; api.UnescapePath(path) != want || !scope.Escaped || scope.Base != "/work" {
			t.Errorf("%s is %q in %+v", got, path, scope)
		}
		if name := native.DecodeName(api.EscapePath(c.name)); name != c.name {
			t.Errorf("%q comes back as %q", c.name, name)
		}
		quoted := native.QuoteNote([]string{"plain", got}) != ""
		if quoted != strings.HasPrefix(got, `"`) || plugin.QuoteNote([]string{got}) != "" {
			t.Errorf("%s has a note: %v", got, quoted)
		}
	}
	if got := plugin.ParsePath(`"a"`); got != `"a"` {
		t.Errorf("a plugin's name is read as %q", got)
	}
}

func TestRelativePathsStartInTheFolderOrHome(t *testing.T) {
	for given, want := range map[string]string{
		"": "/work", ".": "/work", "a": "/work/a", "../a": "/a", "../../../a": "/a", "/a/../b/": "/b", "~": "/home/ann", "~/a": "/home/ann/a", "~/../bob": "/home/bob", "~bob": "/work/~bob", "a/~": "/work/a/~",
	} {
		if got := api.AbsolutePath(given, "/work", "/home/ann"); got != want {
			t.Errorf("%q is %s, want %s", given, got, want)
		}
	}
}
