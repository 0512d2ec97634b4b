package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestASandboxOfAgentsThatMakesNoSenseIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agents.json")
	for text, want := range map[string]string{
		`{"filesystem": {"allowWrite": ["/srv"]}}`:        "",
		"{\"filesystem\":\n {\"allowWrite\": [\"srv\"]}}": `filesystem.allowWrite: path "srv" is not absolute`,
		"{\"filesystem\":\n {\"allowWrite\": 3}}":         "line 2: ",
		`{"filesystm": {}}`:                               `unknown field "filesystm"`,
		"{\n":                                             "it ends too early",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := AgentsConfig{Sandbox: path}.sandbox()
		switch {
		case want == "" && (err != nil || len(s.Filesystem.AllowWrite) != 1):
			t.Errorf("%s: %+v, %v", text, s, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), path+": ") || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestTheDoctorTellsOfASandboxThatCannotBeEnforced(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TANDEM_DATA_DIR", filepath.Join(dir, "data"))
	path := filepath.Join(dir, "agents.json")
	if err := os.WriteFile(path, []byte(`{"filesystem": {"allowWrite": ["`+dir+`/none"]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (AgentsConfig{Sandbox: path}).enforceable(); err == nil || !strings.Contains(err.Error(), "create it first") {
		t.Errorf("%v", err)
	}
}

func TestAgentsProgramsAreAskedUnlessThePersonSaysSo(t *testing.T) {
	for text, want := range map[string]bool{"": true, "[agents]\nelicit = true\n": true, "[agents]\nelicit = false\n": false} {
		c, err := parseConfig([]byte(text))
		if err != nil || c.Agents.elicits() != want {
			t.Errorf("%q: %v, %v", text, c.Agents.elicits(), err)
		}
	}
}
