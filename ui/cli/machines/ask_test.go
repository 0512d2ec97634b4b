package machines

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"tandem/ui/cli/factory"
	"testing"
	"time"
)

// The error names what the login shell did instead of answering.
func TestErrorForAMissingAnswerNamesItsCause(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, script, want string }{
		{"waits for input", `echo Welcome; read x; echo "tandem-probe done 0"`, "waits for input"},
		{"keeps printing slowly", `while :; do echo y; sleep 0.01; done`, "keeps printing"},
		{"keeps printing", `exec yes`, "keeps printing"},
		{"ends", `exit 0`, "its shell ran nothing"},
		{"has no such command", `echo tandem: not found >&2; exit 127`, "exit status 127"},
		{"fails", withMark("false"), "exit status 1"},
	} {
		var stderr bytes.Buffer
		v := NewCommands(factory.New(factory.Options{Stdout: &stderr, Stderr: &stderr}))
		_, err := v.ask(context.Background(), exec.Command("sh", "-c", c.script), nil, 500*time.Millisecond)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("a shell that %s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestReadAnswerStopsInAnEndlessLine(t *testing.T) {
	t.Parallel()
	noise := strings.NewReader(strings.Repeat("y", 8*maxNoise))
	_, _, _, err := readAnswer(noise)
	if err == nil || !strings.Contains(err.Error(), "keeps printing") || noise.Len() < 4*maxNoise {
		t.Errorf("%v, with %d bytes unread", err, noise.Len())
	}
}

// The answer ends at the mark, even if a program still has the output open.
func TestAnswerEndsAtItsMark(t *testing.T) {
	t.Parallel()
	var stderr bytes.Buffer
	v := NewCommands(factory.New(factory.Options{Stdout: &stderr, Stderr: &stderr}))
	cmd := exec.Command("sh", "-c", "echo Welcome; "+withMark("cat; printf '%s' here")+"; exec sleep 1000")
	got, err := v.ask(context.Background(), cmd, strings.NewReader("typed "), time.Minute)
	if err != nil || got.text != "Welcome\ntyped here\n" {
		t.Errorf("%q, %v", got.text, err)
	}
	hello := `printf '\ntandem-bridge/1 {"version":"1.2.3","protocol":4}\n'; exec cat`
	got, err = v.ask(context.Background(), exec.Command("sh", "-c", hello), nil, time.Minute)
	if err != nil || got.hello == nil || got.hello.Version != "1.2.3" {
		t.Errorf("for a bridge: %+v, %v", got, err)
	}
}
