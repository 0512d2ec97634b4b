package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/server"
	"tandem/engine/base/cellwidth"
	"tandem/ui/cli/output"
)

// requestRig returns a rig with open requests.
func requestRig(t *testing.T, open ...api.Request) *rig {
	r := newRig(t)
	mux := r.mux()
	server.Handle(mux, api.RequestList, func(context.Context, api.Empty) (api.RequestListOutput, error) {
		return api.RequestListOutput{Requests: open}, nil
	})
	server.Handle(mux, api.RequestAnswer, func(_ context.Context, in api.RequestAnswerInput) (api.Request, error) {
		return open[0], nil
	})
	dir := shortDir(t)
	r.serveMux(mux, dir)
	connect := func(ctx context.Context) (*client.Client, error) {
		return client.Connect(ctx, client.Options{DataDir: dir, Version: "1.2.3", Name: "cli"})
	}
	r.options.Connect, r.options.Reach = connect, connect
	return r
}

// hostile contains control and invisible characters.
const hostile = "a\x1b[2Jb\u009b2Jc\u202ed\u200be\u3164f\x7fg"

// TestRequestsEscapeRawText simulates an engine on another machine that sends raw text.
func TestRequestsEscapeRawText(t *testing.T) {
	text := api.RequestText{Asker: hostile, Tool: hostile, Host: hostile, From: hostile, Command: hostile, Paths: []string{hostile}, Session: hostile, CWD: hostile, Rule: hostile}
	r := requestRig(t, api.Request{ID: "3f2a00000000", Tool: "exec", Shown: &text, ExpiresAt: time.Now().Add(time.Minute)})
	for _, verb := range []string{"requests", "requests 3f2a", "allow 3f2a"} {
		if got := r.succeeds(strings.Fields(verb)...); strings.ContainsAny(got, "\x1b\u009b\u202e\u200b\u3164\x7f") || !strings.Contains(got, `\u{1b}`) {
			t.Errorf("%s prints %q", verb, got)
		}
	}
}

func TestRequestShowsItsReasonAndTimeLeft(t *testing.T) {
	r := requestRig(t, api.Request{ID: "3f2a00000000", Tool: "exec", Command: "ls", Rule: "rule 2 of policy.toml", ExpiresAt: time.Now().Add(-time.Minute)})
	if got, want := r.succeeds("requests", "3f2a"), "ls\n\nreason: rule 2 of policy.toml\ndenied if not answered within 0s\n"; !strings.HasSuffix(got, want) {
		t.Errorf("%q, want %q at its end", got, want)
	}
}

func TestLongCommandIsListedWithItsEndAndShownInFull(t *testing.T) {
	long := "echo " + strings.Repeat("safe ", 3000) + hostile + "\n; rm -rf ~"
	r := requestRig(t,
		api.Request{ID: "3f2a00000000", Actor: "agent:a\x1b[1mb", Tool: "exec", Command: long, CWD: "/work\u202e", ExpiresAt: time.Now().Add(time.Minute)},
		api.Request{ID: "3f2b00000000", Actor: "agent:x", Tool: "write", Paths: []string{"/a\nb"}, ExpiresAt: time.Now().Add(time.Minute)})
	list := r.succeeds("requests")
	for _, want := range []string{"echo safe", fmt.Sprintf("… 15,%03d characters in all …", len([]rune(long))-15000), `\u{a}; rm -rf ~` + "\n", `/a\u{a}b`} {
		if !strings.Contains(list, want) {
			t.Errorf("%q is not in %q", want, list)
		}
	}
	shown := `a\u{1b}[2Jb\u{9b}2Jc\u{202e}d\u{200b}e\u{3164}f\u{7f}g` + "\n; rm -rf ~\n"
	for args, head := range map[string]string{"requests 3f2a": `a\u{1b}[1mb wants to call exec in /work\u{202e}:` + "\necho safe", "allow 3f2a": `a\u{1b}[1mb may call exec in /work\u{202e}:` + "\necho safe",
		"deny 3f2a": `a\u{1b}[1mb may not call exec in /work\u{202e}:` + "\necho safe"} {
		got, _, _ := strings.Cut(r.succeeds(strings.Fields(args)...), "\ndenied if")
		if !strings.HasPrefix(got, head) || !strings.HasSuffix(got, shown) || strings.Count(got, "safe") != 3000 {
			t.Errorf("%s prints %.100q … %.100q", args, got, got[max(len(got)-100, 0):])
		}
	}
	if got := r.runOnTerminal("requests"); !strings.Contains(got, `\u{a}; rm -rf ~`+"\n") {
		t.Errorf("a narrow terminal is sent %q", got)
	}
	for args, says := range map[string]string{"requests 3f2": "several ids begin with it", "requests ff": "no open request begins with ff"} {
		if _, stderr, status := r.run(strings.Fields(args)...); status != 1 || !strings.Contains(stderr, says) {
			t.Errorf("%s: status %d, %q", args, status, stderr)
		}
	}
	if _, _, status := r.run("requests", "a", "b"); status != output.StatusUsage {
		t.Errorf("two ids: status %d", status)
	}
}

// runOnTerminal runs a command line with a terminal of 40 columns as standard output. It returns
// everything written to the terminal.
func (r *rig) runOnTerminal(args ...string) string {
	r.t.Helper()
	master, slave := openTerminal(r.t)
	if err := pty.Setsize(slave, &pty.Winsize{Cols: 40, Rows: 24}); err != nil {
		r.t.Fatal(err)
	}
	sent := make(chan string)
	go func() {
		b, _ := io.ReadAll(master) // reading ends with EIO once the other side is closed
		sent <- string(b)
	}()
	o := r.options
	o.Stdout, o.Stderr = slave, io.Discard
	if status := Main(r.t.Context(), o, args); status != 0 {
		r.t.Errorf("tandem %q: status %d", args, status)
	}
	slave.Close()
	return strings.ReplaceAll(<-sent, "\r\n", "\n")
}

func TestJSONIsEscapedOnATerminal(t *testing.T) {
	r := requestRig(t, api.Request{ID: "3f2a00000000", Actor: "agent:x", Tool: "exec", Command: hostile + "é漢👩\u200d🚀\U000e0041\u2066\u061c", Rule: hostile})
	piped := r.succeeds("requests", "--json")
	if !strings.Contains(piped, "b\u009b2Jc\u202ed\u200be\u3164f\x7fg") {
		t.Errorf("piped output is changed: %q", piped)
	}
	got := r.runOnTerminal("requests", "--json")
	if shown := cellwidth.SpellLines(got); shown != got {
		t.Errorf("hidden characters reach the terminal: %q", shown)
	}
	if !strings.Contains(got, `\u009b2Jc\u202ed\u200be\u3164f\u007fg`+`é漢👩\u200d🚀\udb40\udc41\u2066\u061c`) {
		t.Errorf("the terminal is sent %q", got)
	}
	var a, b []api.Request
	if err := json.Unmarshal([]byte(piped), &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(got), &b); err != nil || !cmp.Equal(a, b) {
		t.Errorf("%v: they differ: %s", err, cmp.Diff(a, b))
	}
}

func TestRecordingIsNotWrittenToATerminal(t *testing.T) {
	r := newRig(t)
	_, slave := openTerminal(t)
	o := r.options
	var said strings.Builder
	o.Stdout, o.Stderr = slave, &said
	if status := Main(t.Context(), o, []string{"rec", "work", "--since", "start", "-o", "-"}); status != 1 || !strings.Contains(said.String(), "record to the terminal") {
		t.Errorf("status %d, %q", status, &said)
	}
}
