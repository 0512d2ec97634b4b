package role

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/access"
	"tandem/persist/config"
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
		s, err := access.ReadSandbox(path)
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
	if err := enforceable(config.Agents{Sandbox: path}); err == nil || !strings.Contains(err.Error(), "create it first") {
		t.Errorf("%v", err)
	}
}
