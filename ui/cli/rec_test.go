package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/server"
	"tandem/ui/cli/cast"
)

// A recRig is a command line connected to a fake engine with recordings.
type recRig struct {
	*historyRig
	record func(api.SessionRecordInput) api.SessionRecordOutput
	waits  []api.SessionWaitInput
	seen   func(api.SessionWaitInput) api.SessionWaitOutput
}

func newRecRig(t *testing.T) *recRig {
	r := &recRig{historyRig: &historyRig{rig: newRig(t)}}
	mux := r.mux()
	server.Handle(mux, api.SessionRecord, func(_ context.Context, in api.SessionRecordInput) (api.SessionRecordOutput, error) {
		if in.ID == "nobody" {
			return api.SessionRecordOutput{}, r.find(in.ID)
		}
		return r.record(in), nil
	})
	server.Handle(mux, api.SessionWait, func(_ context.Context, in api.SessionWaitInput) (api.SessionWaitOutput, error) {
		r.waits = append(r.waits, in)
		return r.seen(in), nil
	})
	server.Handle(mux, api.HistorySearch, func(context.Context, api.HistorySearchInput) (api.HistorySearchOutput, error) {
		return r.found, nil
	})
	dir := shortDir(t)
	r.serveMux(mux, dir)
	connect := func(ctx context.Context) (*client.Client, error) {
		return client.Connect(ctx, client.Options{DataDir: dir, Version: "1.2.3", Name: "cli"})
	}
	r.options.Connect, r.options.Reach = connect, connect
	return r
}

func TestRecSinceStartWritesTheKeptOutput(t *testing.T) {
	r := newRecRig(t)
	t.Chdir(t.TempDir())
	began := time.Unix(1_700_000_000, 0)
	r.record = func(in api.SessionRecordInput) api.SessionRecordOutput {
		all, from := "one\r\ntwo\r\n", *in.Since
		return api.SessionRecordOutput{Data: []byte(all[from:]), Start: from, NextCursor: int64(len(all)), End: int64(len(all)),
			Times: []api.LogTime{{Offset: 0, At: began}, {Offset: 5, At: began.Add(3 * time.Second)}},
			Sizes: []api.LogSize{{Cols: 100, Rows: 30}}, State: api.StateRunning}
	}
	if got := r.succeeds("rec", "build", "--since", "start", "--idle-limit", "2s"); got != "recorded 3s of build: build.cast\n" {
		t.Errorf("rec prints %q", got)
	}
	text, err := os.ReadFile("build.cast")
	if err != nil {
		t.Fatal(err)
	}
	h, events, err := readRecording(string(text))
	want := []cast.Event{{At: 0, Kind: "o", Text: "one\r\n"}, {At: 3 * time.Second, Kind: "o", Text: "two\r\n"}}
	if diff := cmp.Diff(want, events); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if h.Width != 100 || h.Height != 30 || h.Timestamp != began.Unix() || h.IdleLimit != 2 || h.Title != "build" {
		t.Errorf("header is %+v", h)
	}
	if got := r.succeeds("rec", "build", "--since", "start"); !strings.Contains(got, "build-2.cast") {
		t.Errorf("a second one prints %q", got)
	}
	if _, stderr, status := r.run("rec", "build", "-o", "build.cast"); status != 1 || !strings.Contains(stderr, "--overwrite") {
		t.Errorf("over a file: status %d, %q", status, stderr)
	}
	if got := r.succeeds("rec", "build", "--since", "start", "-o", "-"); got != string(bytes.Replace(text, []byte(`,"idle_time_limit":2`), nil, 1)) {
		t.Errorf("to standard output: %q", got)
	}
	if _, stderr, status := r.run("rec", "nobody", "-o", "none.cast"); status != 1 || !strings.Contains(stderr, "nobody") {
		t.Errorf("of an unknown session: status %d, %q", status, stderr)
	}
	if left, _ := filepath.Glob("none*"); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	var made struct {
		Seconds float64
		Events  int
	}
	if err := json.Unmarshal([]byte(r.succeeds("rec", "build", "--since", "start", "--json")), &made); err != nil || made.Events != 2 || made.Seconds != 3 {
		t.Errorf("%v, %+v", err, made)
	}
}

func TestRecFollowsUntilTheSessionExits(t *testing.T) {
	r := newRecRig(t)
	file := filepath.Join(t.TempDir(), "live.cast")
	calls := 0
	r.record = func(in api.SessionRecordInput) api.SessionRecordOutput {
		calls++
		out := api.SessionRecordOutput{Start: 7, NextCursor: 7, End: 7, State: api.StateRunning, Sizes: []api.LogSize{{Offset: 7, Cols: 80, Rows: 24}}}
		switch calls {
		case 1:
			if in.Since != nil {
				t.Errorf("begins with %+v", in)
			}
			out.Repaint = []byte("screen")
		case 2:
			out.Data, out.NextCursor, out.End = []byte("more"), 11, 11
		default:
			out.Start, out.NextCursor, out.End, out.State = *in.Since, 11, 11, api.StateExited
			out.Sizes[0].Cols = 90
		}
		return out
	}
	stdout, _, status := r.run("rec", "build", "-o", file)
	text, err := os.ReadFile(file)
	if status != 0 || err != nil || !strings.Contains(stdout, "live.cast") {
		t.Fatalf("status %d, %q, %v", status, stdout, err)
	}
	_, events, err := readRecording(string(text))
	var said []string
	for _, e := range events {
		said = append(said, e.Kind+e.Text)
	}
	if diff := cmp.Diff([]string{"oscreen", "omore", "r90x24"}, said); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestPlayAcceptsAFileASessionAndACommand(t *testing.T) {
	r := newRecRig(t)
	file := filepath.Join(t.TempDir(), "a.cast")
	if err := os.WriteFile(file, []byte("{\"version\":2,\"width\":80,\"height\":24}\n[0,\"o\",\"from a file\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	log := "in a session"
	r.record = func(in api.SessionRecordInput) api.SessionRecordOutput {
		end := int64(len(log))
		if in.Until > 0 {
			end = in.Until
		}
		return api.SessionRecordOutput{Data: []byte(log[*in.Since:end]), Start: *in.Since, NextCursor: end, End: int64(len(log)), State: api.StateRunning}
	}
	r.found.Rows = []api.HistoryRow{{Command: api.Command{ID: 8, Kind: "exec"}}, {Command: api.Command{ID: 7, Kind: "session", Process: "abc", LogStart: 3, LogEnd: 4}}}
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{file}, "from a file"}, {[]string{"build", "--speed", "1000"}, log}, {[]string{"--history", "7"}, "a"},
	} {
		if got := r.succeeds(append([]string{"play"}, tc.args...)...); got != tc.want {
			t.Errorf("play %q shows %q, want %q", tc.args, got, tc.want)
		}
	}
	for says, args := range map[string][]string{
		"no such file": {"/nowhere.cast"}, "nobody": {"nobody"}, "not recorded": {"--history", "8"}, "no such number": {"--history", "9"},
	} {
		if _, stderr, status := r.run(append([]string{"play"}, args...)...); status != 1 || !strings.Contains(stderr, says) {
			t.Errorf("play %q: status %d, %q", args, status, stderr)
		}
	}
	for _, args := range [][]string{{"play"}, {"play", "a", "b"}, {"play", "a", "--speed", "0"}, {"rec"}, {"rec", "--"}, {"rec", "a", "--since", "x"}} {
		if _, _, status := r.run(args...); status != 2 {
			t.Errorf("%q: status %d, want 2", args, status)
		}
	}
}

// readRecording reads a recording to its end or its first error.
func readRecording(text string) (h cast.Header, events []cast.Event, err error) {
	r, err := cast.NewReader(strings.NewReader(text))
	if err != nil {
		return h, nil, err
	}
	for {
		e, err := r.Next()
		if err == io.EOF {
			return r.Header, events, nil
		}
		if err != nil {
			return r.Header, events, err
		}
		events = append(events, e)
	}
}
