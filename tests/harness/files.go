package harness

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"tandem/tests/wait"
)

// awaitFile waits until a file matches re after the offset from. The file need not exist yet.
// awaitFile returns the end of the match. It polls, because the kernel gives a user few inotify
// instances and the engines of parallel tests use them.
func awaitFile(t wait.Failer, path string, from int, re *regexp.Regexp) (end int) {
	wait.Poll(t, fmt.Sprintf("%s to match %s after its first %d bytes", path, re, from), func() (string, bool) {
		text, err := os.ReadFile(path)
		at := re.FindIndex(text[min(from, len(text)):])
		if err != nil || at == nil {
			return string(text), false
		}
		end = from + at[1]
		return string(text), true
	})
	return end
}

// await FILE REGEXP waits until a file, which need not exist yet, matches.
func scriptAwait(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: await FILE REGEXP")
	}
	re, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	awaitFile(ts, ts.MkAbs(args[0]), 0, re)
}

// notice NAME REGEXP waits for a message in the status bar, which may have disappeared already. It
// searches the messages after the last one found by notice in the same terminal.
func scriptNotice(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: notice NAME REGEXP")
	}
	re, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	scriptTerminal(ts, args[0]).waitNotice(ts, re)
}

// AwaitNotice waits for a message in the status bar, as the script command notice does.
func AwaitNotice(t testing.TB, screen *Terminal, expr string) {
	t.Helper()
	screen.waitNotice(t, regexp.MustCompile(expr))
}

// waitNotice waits for a message that matches re, after the last one it found.
func (t *Terminal) waitNotice(f wait.Failer, re *regexp.Regexp) {
	end := awaitFile(f, t.notices, t.noticed, re)
	text, err := os.ReadFile(t.notices)
	if err != nil {
		f.Fatalf("%v", err)
	}
	t.noticed = end + strings.IndexByte(string(text[end:])+"\n", '\n')
}
