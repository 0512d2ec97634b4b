package packaging

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The README names a host once packaging/HOSTS does, and still fits its limit of words
// (tests/tree).
func TestReadmeGetsTheInstallLineOfItsHost(t *testing.T) {
	original := readFile(t, "../../README.md")
	dir := t.TempDir()
	readme := filepath.Join(dir, "README.md")
	write := func(hosts string) string {
		t.Helper()
		cmd := exec.Command("sh", "../../packaging/readme.sh", readme)
		if hosts != "" {
			cmd.Env = append(cmd.Environ(), "HOSTS="+filepath.Join(dir, "HOSTS"))
			writeFile(t, filepath.Join(dir, "HOSTS"), hosts)
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return readFile(t, readme)
	}
	writeFile(t, readme, original)
	if !strings.Contains(original, "curl -fsSL") && write("INSTALL=https://source.example/install.sh\n") != original {
		t.Error("a placeholder changes the README")
	}
	for range 2 { // the second run changes nothing
		got := write("INSTALL=https://tandem.test/install.sh\n")
		_, rest, _ := strings.Cut(got, "## Install\n")
		if !strings.HasPrefix(rest, "\n```sh\ncurl -fsSL https://tandem.test/install.sh | sh\n```\n\nOr with Go. ") {
			t.Fatalf("Install begins with %.200q", rest)
		}
		if n := len(strings.Fields(got)); n > 1400 || strings.Contains(got, "built from source") {
			t.Errorf("%d words, more than 1400, or it still says that there is only source", n)
		}
	}
	moved := write("INSTALL=https://other.test/i.sh\n")
	if strings.Count(moved, "curl -fsSL") != 1 || !strings.Contains(moved, "curl -fsSL https://other.test/i.sh | sh") {
		t.Errorf("after a move of the host:\n%.400s", moved)
	}
}

// release.sh fills in these placeholders; another one would reach users.
func TestTemplatesHaveOnlyKnownPlaceholders(t *testing.T) {
	known := strings.NewReplacer("@VERSION@", "", "@SOURCE@", "", "@RELEASES@", "", "@INSTALL@", "", "@AMD64@", "", "@ARM64@", "", `"$@"`, "")
	for _, name := range []string{"install.sh", "tandem.rb", "flake.nix"} {
		text := readFile(t, filepath.Join("../../packaging", name))
		if rest := known.Replace(text); rest == text || strings.Contains(rest, "@") {
			t.Errorf("%s has no placeholder, or one that release.sh does not know", name)
		}
	}
}
