package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/persist/config/settings"
)

func TestKeepMachineLeavesTheRestUnchanged(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	path, _ := Path()
	const text = "# mine\ntheme = \"dark\"\n\n[machines.old]\nssh = \"a@b\" # here\n[machines.old.env]\nX = \"1\"\n\n# of the keys\n[keys]\n\"session.new\" = [\"c\"]\n"
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	box := settings.Machine{Transport: []string{"docker", "exec", "-i", "dev", "tandem", "bridge"}, Env: map[string]string{"A": "b \"c\""}}
	for _, step := range []func() (string, error){
		func() (string, error) { return KeepMachine("box.1", box) },
		func() (string, error) {
			return KeepMachine("new", settings.Machine{SSH: "x@y", Env: map[string]string{}})
		},
		func() (string, error) { return KeepMachine("new", settings.Machine{SSH: "me@y"}) },
		func() (string, error) { return ForgetMachine("old") },
	} {
		if _, err := step(); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]settings.Machine{"box.1": box, "new": {SSH: "me@y"}}, c.Machines); diff != "" {
		t.Error(diff)
	}
	got, _ := os.ReadFile(path)
	want := "# mine\ntheme = \"dark\"\n\n\n# of the keys\n[keys]\n\"session.new\" = [\"c\"]\n\n[machines"
	if !strings.HasPrefix(string(got), want) {
		t.Errorf("the file says\n%s", got)
	}
}

func TestParseReportsMistakesInMachines(t *testing.T) {
	for text, want := range map[string]string{
		"[machines.a]\n":                               "line 1: machine \"a\": needs ssh",
		"[machines.a]\nssh = 3\n":                      "line 2: machines.a.ssh: must be text in quotes",
		"[machines.a]\nssh = \"-oProxyCommand=x\"\n":   "line 2: machine \"a\": ssh",
		"[machines.a]\nssh = \"x\"\ntransport=[\"x\"]": "not both",
		"[machines.\"a b\"]\nssh = \"x\"":              "must be a name of letters",
		"[machines.\"$(a)\"]\nssh = \"x\"":             "must be a name of letters",
		"[machines.-a]\nssh = \"x\"":                   "must be a name of letters",
		"[machines.\"a/b\"]\nssh = \"x\"":              "must be a name of letters",
		"[machines.a]\nshh = \"x\"":                    "unknown key",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
