package tree

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// pausing matches a command that pauses. A program that runs until it is stopped may sleep for 100
// seconds or more.
var pausing = regexp.MustCompile(`\bsleep (\d?\d|\d*\.\d+)\b`)

// polling matches a shell loop that waits for something; loops over input or a counter do not.
var polling = regexp.MustCompile(`\buntil .*;|\bwhile (! |test |\[ -|\[ !|:)`)

func TestScriptsPollOnlyForLastingConditions(t *testing.T) {
	t.Parallel()
	paths := trackedFiles(t, "*.txtar")
	if len(paths) == 0 {
		t.Fatal("no scripts found")
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range checkScript(string(text)) {
			t.Errorf("%s:%s", path, fault)
		}
	}
}

func TestUnsafeWaitsInScriptsAreFound(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]int{
		"screen a x\nkeys a q\n! screen a x":                                              0,
		"screen a x\n! screen a x\n! screen a x":                                          1,
		"screen b x\n! screen a x":                                                        1,
		"screen a xy\n! screen a x":                                                       1,
		"exec sh -c 'sleep 0.5; echo done'":                                               1,
		"exec sh -c 'until test -e done; do sleep 0.05; done'":                            2,
		"exec sh -c 'until rm x; do :; done'":                                             1,
		"keys a ':sh -c \"while :; do stty size; done\"' enter":                           1,
		"keys a ':i=1; while [ $i -le 500 ]; do echo $i; i=$((i+1)); done' enter":         0,
		"exec tandem start -- sh -c 'while read -r x; do echo $x; done; exec sleep 1000'": 0,
		"# until it exits; sleep 1":                                                       0,
		"exec sh pace\n-- pace --\nwhile :; do\n\tsleep 0.1\ndone":                        0,
		"exec sh wait\n-- wait --\nuntil [ -e x ]; do sleep 0.1; done":                    1,
	} {
		if got := checkScript(script); len(got) != want {
			t.Errorf("%q: found %q, want %d", script, got, want)
		}
	}
}

// checkScript returns the waits in a script that depend on time. A program in one of the script's
// files may print at a pace, but not wait for a file.
func checkScript(text string) (faults []string) {
	shown := map[string]bool{}
	inFile := false
	for i, line := range strings.Split(text, "\n") {
		add := func(fault string) { faults = append(faults, fmt.Sprintf("%d: %s", i+1, fault)) }
		command, negated := strings.CutPrefix(line, "! ")
		inFile = inFile || strings.HasPrefix(line, "-- ")
		switch {
		case strings.HasPrefix(line, "#"):
			continue
		case inFile && pausing.MatchString(line) && polling.MatchString(line):
			add("a program polls; let it read a FIFO")
			continue
		case inFile:
			continue
		case strings.HasPrefix(command, "screen "):
			if negated && !shown[command] {
				add("the text may not have been shown yet; wait for it with screen before it disappears")
			}
			shown[command] = !negated
		}
		if pausing.MatchString(line) {
			add("a pause does not order anything; let the program read a FIFO, or use await or tandem wait")
		}
		if polling.MatchString(line) {
			add("a loop waits without a limit; use await, tandem wait or eventually")
		}
	}
	return faults
}
