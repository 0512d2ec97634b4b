package tree

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the generated pages")

func TestGeneratedPagesAreUpToDate(t *testing.T) {
	for page, want := range map[string]string{
		"docs/api.md":                apiReference(),
		"docs/keys.md":               keysReference(),
		"docs/config.md":             configReference(),
		"docs/internals/packages.md": packagesReference(t),
	} {
		if *update {
			if err := os.MkdirAll(filepath.Dir(page), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s is stale; regenerate it with: go test ./tests/tree -run GeneratedPages -update", page)
		}
	}
}

// Every command of README.md must be in the tour, because tests/dashboard plays the tour.
func TestTourHasEveryCommandOfTheReadme(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	tour, err := os.ReadFile("docs/tour.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range regexp.MustCompile(`(?m)^tandem .*`).FindAllString(string(readme), -1) {
		command, _, _ := strings.Cut(line, "  #")
		command = strings.TrimSpace(command)
		if !strings.Contains(string(tour), command) && !strings.Contains(command, "--serve") { // tested by tests/agents
			t.Errorf("docs/tour.txtar lacks %q", command)
		}
	}
}

func TestEveryPromiseOfSecurityNamesATestThatIsThere(t *testing.T) {
	existing := functionsOfTests(t)
	for _, page := range []string{"docs/security.md", "docs/security-page.md"} {
		rows := 0
		for line := range strings.Lines(readPage(t, page)) {
			if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| promise |") {
				continue
			}
			rows++
			names := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(line, -1)
			if len(names) == 0 {
				t.Errorf("promise without a test: %s", line)
			}
			for _, name := range names {
				if !existing[name[1]] {
					t.Errorf("test %s does not exist; it is named by: %s", name[1], line)
				}
			}
		}
		if rows == 0 {
			t.Errorf("%s has no promises", page)
		}
	}
}

// A script or page that runs tests by name must name tests that exist: go test succeeds even if
// nothing matches.
func TestGoTestCommandsInScriptsAndDocsMatchExistingTests(t *testing.T) {
	existing := functionsOfTests(t)
	pattern := regexp.MustCompile(`-(?:run|bench) '?([^ '` + "`" + `/]+)`)
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		// The commands in docs/project.md are those of a user's project.
		if err != nil || path == "docs/project.md" || filepath.Ext(path) != ".sh" && filepath.Ext(path) != ".md" {
			return err
		}
		for line := range strings.Lines(readPage(t, path)) {
			_, command, _ := strings.Cut(line, "go test ")
			for _, found := range pattern.FindAllStringSubmatch(command, -1) {
				name := found[1]
				if name != "xxx" && name != "NAME" && !matchesAny(name, existing) {
					t.Errorf("%s: no test matches %q: %s", path, name, line)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func matchesAny(pattern string, names map[string]bool) bool {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return false
	}
	for name := range names {
		if re.MatchString(name) {
			return true
		}
	}
	return false
}

// functionsOfTests returns the names of all tests and benchmarks.
func functionsOfTests(t *testing.T) map[string]bool {
	t.Helper()
	existing := make(map[string]bool)
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Benchmark)\w+)\(`)
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, name := range declared.FindAllSubmatch(text, -1) {
			existing[string(name[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return existing
}
