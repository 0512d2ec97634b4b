package service

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/tests/needs"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/setup"
)

// testUnit returns the unit of a user whose program and folders need quoting.
func testUnit(t *testing.T) unit {
	home := filepath.Join(t.TempDir(), `a "50%" $home\`)
	program := filepath.Join(home, "tandem")
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"PATH": os.Getenv("PATH"), "TANDEM_DATA_DIR": home + "/data", "TANDEM_CONFIG_DIR": home + "/config"}
	m := setup.Machine{Home: home, DataDir: home + "/data", Program: program, Env: func(name string) string { return env[name] }}
	return unit{factory.New(factory.Options{}), filepath.Base(m.UnitPath()), m.UnitPath(), m}
}

func TestSystemdAcceptsTheUnit(t *testing.T) {
	analyze := needs.Program(t, "systemd", "systemd-analyze")
	u := testUnit(t)
	text, err := u.render()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), u.name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(analyze, "--user", "verify", path)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + u.machine.Home, "XDG_RUNTIME_DIR=" + t.TempDir()}
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s\n%s", err, out, text)
	}
}

func TestUnitQuotesPathsForSystemd(t *testing.T) {
	u := testUnit(t)
	text, err := u.render()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`/a \"50%%\" $$home\\/tandem" info` + "\n",
		`/a \"50%%\" $home\\/data"` + "\n",
		`/a \"50%%\" $home\\/config"` + "\n",
		"KillMode", // named in no setting: the engine is not in the unit's cgroup
	} {
		if strings.Contains(text, want) == (want == "KillMode") {
			t.Errorf("%q in:\n%s", want, text)
		}
	}
	if got := u.instead(); !strings.Contains(got, "@reboot env ") || !strings.Contains(got, `/a "50\%" $home\/tandem' info`) {
		t.Errorf("without systemd: %s", got)
	}
}

func TestUnitRejectsProgramOfGoRun(t *testing.T) {
	u := testUnit(t)
	u.machine.Program = "/tmp/go-build1/b001/exe/tandem"
	u.machine.Env = func(string) string { return "" }
	if _, err := u.render(); err == nil || !strings.Contains(err.Error(), "`go run` deletes this program") {
		t.Error(err)
	}
}

func TestEditedUnitIsDetected(t *testing.T) {
	text := signed("[Unit]\n")
	if isEdited(text) {
		t.Errorf("edited: %q", text)
	}
	for _, edited := range []string{text + "# mine\n", strings.Replace(text, "Unit", "unit", 1), "[Unit]\n", "", text[1:]} {
		if !isEdited(edited) {
			t.Errorf("not edited: %q", edited)
		}
	}
}

// systemd takes a carriage return for a line end.
func TestLineBreakInAWordIsQuotedForSystemd(t *testing.T) {
	if got, want := quote("a\r\nExecStart=/evil %h"), `"a\r\nExecStart=/evil %%h"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
