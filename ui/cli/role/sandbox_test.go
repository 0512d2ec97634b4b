package role

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/engine/agent/access"
	"tandem/engine/system/sandbox"
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

func TestWorkProfileDeniesExistingSecretsAndOwnFolders(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	temp, err := os.MkdirTemp("", "td") // short, for the sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(temp) })
	for name, value := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": home + "/.config", "XDG_CACHE_HOME": home + "/.cache", "TANDEM_DATA_DIR": home + "/data", "TMPDIR": temp,
		"GOCACHE": "", "GOMODCACHE": "", "GOPATH": "", "npm_config_cache": "", "PIP_CACHE_DIR": "",
	} {
		t.Setenv(name, value)
	}
	want := []string{home + "/data", home + "/.config/tandem"}
	for _, name := range []string{".ssh/id", ".aws/credentials", ".mozilla/firefox/logins.json", ".config/gh/hosts.yml", ".npmrc"} {
		path := filepath.Join(home, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{".ssh", ".aws", ".mozilla", ".config/gh/hosts.yml", ".npmrc"} {
		want = append(want, filepath.Join(home, name))
	}
	read := func() sandbox.Profile {
		t.Helper()
		text, err := workProfile(project)
		if err != nil {
			t.Fatal(err)
		}
		p, err := sandbox.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := read()
	slices.Sort(want)
	slices.Sort(p.Filesystem.DenyRead)
	if !slices.Equal(p.Filesystem.DenyRead, want) {
		t.Errorf("denyRead has %q, want %q", p.Filesystem.DenyRead, want)
	}
	if w := p.Filesystem.AllowWrite; !slices.Equal(w, []string{project, temp}) {
		t.Errorf("allowWrite has %q", w)
	}
	// If the path of a data folder is too long, its sockets are in the temporary folder.
	t.Setenv("XDG_RUNTIME_DIR", temp)
	t.Setenv("TANDEM_DATA_DIR", home+strings.Repeat("/long", 30))
	if w := read().Filesystem.AllowWrite; slices.Contains(w, temp) {
		t.Errorf("allowWrite has the folder of the sockets: %q", w)
	}
}
