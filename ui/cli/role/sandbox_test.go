package role

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/access"
	"tandem/persist/config"
	"tandem/persist/config/settings"
	"tandem/ui/cli/factory"
)

func TestReadSandboxRejectsInvalidProfiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agents.json")
	for text, want := range map[string]string{
		`{"filesystem": {"allowWrite": ["/srv"]}}`:        "",
		"{\"filesystem\":\n {\"allowWrite\": [\"srv\"]}}": `filesystem.allowWrite: path "srv" is not absolute`,
		"{\"filesystem\":\n {\"allowWrite\": 3}}":         "line 2: ",
		`{"filesystm": {}}`:                               `unknown field "filesystm"`,
		"{\n":                                             "line 1: a closing brace, bracket or quote is missing",
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

func TestCheckEnforceableReportsMissingFolder(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TANDEM_DATA_DIR", filepath.Join(dir, "data"))
	path := filepath.Join(dir, "agents.json")
	if err := os.WriteFile(path, []byte(`{"filesystem": {"allowWrite": ["`+dir+`/none"]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := checkEnforceable(settings.Agents{Sandbox: path}); err == nil || !strings.Contains(err.Error(), "create it first") {
		t.Errorf("%v", err)
	}
}

func TestServerRejectsAgentsWhileConfigIsEmpty(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	conf, profile := filepath.Join(dir, "tandem", "config.toml"), filepath.Join(dir, "agents.json")
	write := func(path, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write(profile, `{"filesystem": {"allowWrite": ["/srv"]}}`)
	write(conf, "[agents]\nsandbox = \""+profile+"\"\n")
	if o, err := serverOptions(dir, "", factory.ServeOptions{}); err != nil || o.Sandbox == nil {
		t.Fatalf("confined: %+v, %v", o.Sandbox, err)
	}
	write(conf, "theme = \"nope\"\n")
	if _, err := serverOptions(dir, "", factory.ServeOptions{}); err == nil || !strings.HasPrefix(err.Error(), "agents are not served until this is fixed: ") {
		t.Errorf("with a mistake: %v", err)
	}
	write(conf, "")
	if _, err := serverOptions(dir, "", factory.ServeOptions{}); !errors.Is(err, config.ErrWithdrawn) {
		t.Errorf("agents of this machine: %v", err)
	}
	if _, err := ownSandbox(dir); !errors.Is(err, config.ErrWithdrawn) {
		t.Errorf("agents of other machines: %v", err)
	}
}
