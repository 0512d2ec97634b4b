package panes

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"tandem/engine/api"
)

func TestParseReadinessAcceptsEachKind(t *testing.T) {
	for text, want := range map[string]api.Readiness{
		"port 8080":               {Port: 8080},
		"log listening on \\d+":   {Log: "listening on \\d+"},
		"http://localhost:1/ok":   {HTTP: "http://localhost:1/ok"},
		"command pg_isready -q":   {Command: []string{"pg_isready", "-q"}},
		"https://localhost/ready": {HTTP: "https://localhost/ready"},
	} {
		got, err := parseReadiness(text)
		if err != nil || !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: got %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"8080", "port", "port x", "port 70000", "log (", "command 'a"} {
		if _, err := parseReadiness(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

func TestSandboxFileIsReadStrictly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.json")
	for text, ok := range map[string]bool{
		`{"filesystem":{"denyRead":[],"allowWrite":["/tmp/x"],"denyWrite":[]}}`: true,
		`{"filesytem":{}}`: false, `{`: false,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readSandbox(path); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := readSandbox(filepath.Dir(path)); err == nil {
		t.Error("a folder is read as a sandbox file")
	}
}
