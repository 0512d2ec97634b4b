package prompt

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestKindOfRecognizesOnlyInteractiveShells(t *testing.T) {
	for _, c := range []struct {
		argv string
		kind Kind
	}{
		{"bash", Bash}, {"/bin/bash -l", Bash}, {"-bash", Bash}, {"bash -i", Bash}, {"bash --norc --noprofile", Bash},
		{"bash --rcfile x", Bash}, {"bash --rcfile", None}, {"bash -c true", None}, {"bash script", None}, {"bash --posix", None},
		{"zsh", Zsh}, {"/usr/bin/zsh -l", Zsh}, {"zsh -f", None}, {"zsh -c true", None},
		{"fish", Fish}, {"fish -l", Fish}, {"fish -c true", None}, {"fish --no-config", None},
		{"sh", POSIX}, {"dash -i", POSIX}, {"ash", POSIX}, {"sh -c true", None}, {"sh script", None},
		{"python3", Python}, {"/usr/bin/python3.11 -q", Python}, {"python -c x", None}, {"python3 script.py", None}, {"python3-config", None},
		{"/bin/tandem shell --prompt >", Tandem}, {"tandem shell --commands", None}, {"tandem ls", None}, {"tandem", None},
		{"vim", None}, {"", None},
	} {
		if got := KindOf(strings.Fields(c.argv)); got != c.kind {
			t.Errorf("%q is %q, want %q", c.argv, got, c.kind)
		}
	}
}

func TestInjectKeepsTheShellsArguments(t *testing.T) {
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"ZDOTDIR": "/z", "ENV": "/e", "PYTHONSTARTUP": "/p"}[name]
		return v, ok
	}
	for _, c := range []struct {
		argv, want string
		env        map[string]string
	}{
		{"/bin/bash -il", "/bin/bash --rcfile /d/bash.sh -i", map[string]string{"TANDEM_SHELL_LOGIN": "1"}},
		{"bash --norc", "bash --rcfile /d/bash.sh", map[string]string{"TANDEM_SHELL_NORC": "1"}},
		{"bash --init-file f", "bash --rcfile /d/bash.sh", map[string]string{"TANDEM_SHELL_RC": "f"}},
		{"zsh -l", "zsh -l", map[string]string{"ZDOTDIR": "/d/zsh", "TANDEM_ZDOTDIR": "/z"}},
		{"fish -l", "fish -C source '/d/marks.fish' -l", nil},
		{"dash -i", "dash -i", map[string]string{"ENV": "/d/env.sh", "TANDEM_SHELL_ENV": "/e"}},
		{"python3 -q", "python3 -q", map[string]string{"PYTHONSTARTUP": "/d/startup.py", "TANDEM_SHELL_PYTHONSTARTUP": "/p"}},
	} {
		s, ok := Inject(strings.Fields(c.argv), env, "/d", "word", false)
		if !ok || strings.Join(s.Argv, " ") != c.want || s.Env[NonceVariable] != "word" {
			t.Errorf("%s: %+v", c.argv, s)
		}
		for name, value := range c.env {
			if s.Env[name] != value {
				t.Errorf("%s: %s is %q, want %q", c.argv, name, s.Env[name], value)
			}
		}
	}
	if s, ok := Inject([]string{"vim"}, env, "/d", "word", false); ok || s.Argv != nil {
		t.Errorf("%+v", s)
	}
}

func TestPrivateShellsReadScriptsThatTurnTheHistoryFileOff(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	for argv, want := range map[string]string{
		"bash -i": "bash --rcfile /d/private.sh -i",
		"zsh":     "zsh",
		"fish":    "fish -C source '/d/marks.fish'; set -g fish_history ''",
	} {
		s, ok := Inject(strings.Fields(argv), none, "/d", "word", true)
		if script := s.Env["TANDEM_SHELL_SCRIPT"]; !ok || strings.Join(s.Argv, " ") != want || argv == "zsh" && script != "/d/private.zsh" {
			t.Errorf("%s: %+v", argv, s)
		}
	}
}

func TestInstallWritesMissingAndChangedScripts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "scripts")
	for range 2 {
		if err := Install(dir); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "zsh", ".zshenv"))
		if err != nil || !strings.Contains(string(text), "ZDOTDIR") {
			t.Fatalf("%q, %v", text, err)
		}
		if err := os.WriteFile(filepath.Join(dir, "bash.sh"), []byte("spoilt"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Install(dir); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(dir, path)
			names = append(names, name)
		}
		return err
	})
	want := []string{"bash.sh", "env.sh", "marks.fish", "marks.zsh", "private.sh", "private.zsh", "startup.py", "zsh/.zshenv"}
	if slices.Sort(names); err != nil || !slices.Equal(names, want) {
		t.Errorf("%q, %v", names, err)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "bash.sh")); strings.Contains(string(text), "spoilt") {
		t.Error("a spoilt script was left")
	}
}

func TestInstallReplacesFilesOfAKilledInstall(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, bashName+".new"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Install(dir); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.Contains(e.Name(), ".new") {
			t.Errorf("%s is left", e.Name())
		}
	}
}

func TestShellIntegrationCanBeTurnedOff(t *testing.T) {
	t.Parallel()
	keys := Keys{}
	argv, set := keys.Inject("1", []string{"bash"}, []string{"A=b"}, false)
	if len(argv) != 1 || len(set) != 0 {
		t.Error(argv, set)
	}
}
