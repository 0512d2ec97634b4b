package project

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// composeKey is one line of testdata/process-compose-keys.txt.
type composeKey struct {
	path           []string
	verdict, value string
	beside         string
}

func readComposeKeys(t *testing.T) (all []composeKey) {
	text, err := os.ReadFile("testdata/process-compose-keys.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line[0] == '#' {
			continue
		}
		part := append(strings.Split(strings.TrimSpace(line), " | "), "")
		all = append(all, composeKey{strings.Split(part[0], "."), part[1], part[2], part[3]})
	}
	return all
}

// text returns a file with the key, or with only its neighbours if with is false.
func (k composeKey) text(with bool) string {
	process := k.path[0] == "processes"
	a := map[string]string{"command": "'x ${A}'"}
	var b strings.Builder
	path, beside := k.path, k.beside
	switch {
	case beside == "same":
		beside = ""
	case beside == "without command":
		delete(a, "command")
		beside = ""
	}
	switch {
	case !process && with:
		fmt.Fprintf(&b, "%s\n", nest(path, k.value, beside))
	case process && path[1] == "a":
		if path[2] == "command" && with {
			delete(a, "command")
		}
		path = path[2:]
	case process && with:
		fmt.Fprintf(&b, "processes: {a: {command: 'x ${A}'}, b: {command: x}, %s: %s}\n", path[1], k.value)
		return b.String()
	}
	b.WriteString("processes:\n  b: {command: x}\n  a:\n    x-a: 1\n")
	for key, value := range a {
		fmt.Fprintf(&b, "    %s: %s\n", key, value)
	}
	switch {
	case !process || k.path[1] != "a":
	case with:
		fmt.Fprintf(&b, "    %s\n", nest(path, k.value, beside))
	case beside != "":
		fmt.Fprintf(&b, "    %s\n", nest(path[:len(path)-1], "{"+beside+"}", ""))
	}
	return b.String()
}

// nest returns "a: {b: {beside, c: value}}" for the path a, b, c.
func nest(path []string, value, beside string) string {
	key := path[len(path)-1] + ": " + value
	if beside != "" {
		key = beside + ", " + key
	}
	for i := len(path) - 2; i >= 0; i-- {
		key = path[i] + ": {" + key + "}"
	}
	return key
}

func TestEachComposeKeyIsUsedRejectedOrReported(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "some.env"), "OWN=1\n")
	write(t, filepath.Join(dir, ".env"), "A=dotenv\n")
	parse := func(text string) (*File, error) {
		return Parse(filepath.Join(dir, "process-compose.yaml"), []byte(text), nil)
	}
	for _, k := range readComposeKeys(t) {
		name := strings.Join(k.path, ".")
		without, err := parse(k.text(false))
		if err != nil && k.beside != "without command" {
			t.Fatalf("%s: without it: %v\n%s", name, err, k.text(false))
		}
		with, err := parse(k.text(true))
		if k.verdict == "refused" {
			if err = firstMistake(with, err); err == nil || !strings.Contains(err.Error(), ": line ") {
				t.Errorf("%s: want an error with a line, got %v\n%s", name, err, k.text(true))
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, k.text(true))
			continue
		}
		same := without != nil && without.Name == with.Name && cmp.Equal(without.Entries, with.Entries, ignorePositions())
		reported := isReported(with.Notices, k.path)
		switch {
		case k.verdict == "reported" && !reported:
			t.Errorf("%s is not reported in %q\n%s", name, with.Notices, k.text(true))
		case k.verdict == "read" && same != (k.beside == "same"):
			t.Errorf("%s seems to have no effect: %v\n%s", name, same, k.text(true))
		case k.verdict == "read" && isReported(with.Notices, k.path[len(k.path)-1:]):
			t.Errorf("%s is both used and reported: %q", name, with.Notices)
		}
	}
}

// isReported reports whether a notice names a part of path, or the times of probes.
func isReported(notices []string, path []string) bool {
	for _, n := range notices {
		for _, key := range path {
			if strings.Contains(n, ": "+key+" ") || strings.Contains(n, "of the times") && strings.HasPrefix(n, "line") && (key == "timeout_seconds" || key == "success_threshold") {
				return true
			}
		}
	}
	return false
}
