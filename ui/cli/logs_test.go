package cli

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
)

func TestLogsPrintsAllPages(t *testing.T) {
	r := newRig(t)
	text := strings.Repeat("0123456789\r\n", 200_000)
	r.log = logOf(text, api.StateRunning)
	if got := r.succeeds("logs", "web"); got != strings.ReplaceAll(text, "\r", "") {
		t.Errorf("logs prints %d bytes", len(got))
	}
	if len(r.logCalls) != 3 {
		t.Errorf("it took %d calls", len(r.logCalls))
	}
	if got := r.succeeds("logs", "web", "--raw"); got != text {
		t.Errorf("logs --raw prints %d bytes", len(got))
	}
}

func TestLogsPrintTextAsATerminalShowsIt(t *testing.T) {
	r := newRig(t)
	r.log = logOf("one\ntwo\x1b[31m\tx\rthree\r\nfour\r", api.StateExited)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-n", "2"}, "three   x\nfour"},
		{[]string{"-n", "1", "-f"}, "four"},
		{[]string{"-n", "0"}, ""},
		{[]string{"-n", "2", "--raw"}, "two\x1b[31m\tx\rthree\r\nfour\r"},
		{[]string{"--since", "-6"}, "\nfour"},
	} {
		if got := r.succeeds(append([]string{"logs", "web"}, c.args...)...); got != c.want {
			t.Errorf("%q: %q, want %q", c.args, got, c.want)
		}
	}
	r.succeeds("logs", "web", "--stream", "stderr")
	if last := r.logCalls[len(r.logCalls)-1]; last.Stream != "stderr" {
		t.Errorf("asked for %+v", last)
	}
}

func TestLogsReportATruncatedLine(t *testing.T) {
	r := newRig(t)
	r.log = func(api.ProcessLogInput) (api.ProcessLogOutput, error) {
		return api.ProcessLogOutput{Data: "end", Start: 5, NextCursor: 8, End: 8, WithinLine: true, State: api.StateExited}, nil
	}
	if stdout, stderr, _ := r.run("logs", "web", "-n", "1"); stdout != "end" || !strings.Contains(stderr, "only its end is printed") {
		t.Errorf("%q, %q", stdout, stderr)
	}
}

func TestLogsFollowUntilTheProcessExits(t *testing.T) {
	r := newRig(t)
	written := []string{"a\n", "a\n", "a\nb\r", "a\nb\r\nc\n"}
	calls := 0
	r.log = func(in api.ProcessLogInput) (api.ProcessLogOutput, error) {
		n := calls
		calls++
		switch {
		case n == 2:
			return api.ProcessLogOutput{}, api.ErrEnding()
		case n >= len(written):
			return logOf(written[len(written)-1], api.StateExited)(in)
		}
		return logOf(written[n], api.StateRunning)(in)
	}
	if got := r.succeeds("logs", "-f", "web"); got != "a\nb\nc\n" {
		t.Errorf("logs -f prints %q", got)
	}
	if first, later := r.logCalls[0], r.logCalls[1]; first.ID != "id-of-web" || first.WaitMS != 0 || later.WaitMS == 0 {
		t.Errorf("asked first %+v, then %+v", first, later)
	}
}

func TestLogsOfAFastWriterStopWhereTheLogEndedAtFirst(t *testing.T) {
	r := newRig(t)
	const page = 1000
	line := "hit \u00e9 0123456789\n"
	asked := 0
	grows := func(in api.ProcessLogInput) (api.ProcessLogOutput, error) {
		if asked++; asked > 100 {
			return api.ProcessLogOutput{}, api.Errorf(api.CodeInternal, "asked too often")
		}
		text := strings.Repeat(line, 100*(asked+1))
		in.Max = page
		out, err := logOf(text, api.StateRunning)(in)
		if in.Grep != "" {
			for at := out.Start; at < out.NextCursor; at += int64(len(line)) {
				out.Matches = append(out.Matches, api.LogMatch{Offset: at, Text: strings.TrimSuffix(line, "\n")})
				out.NextCursor = max(out.NextCursor, at+int64(len(line)))
			}
			out.Data = ""
		}
		return out, err
	}
	for _, c := range []struct {
		args  []string
		lines int
	}{
		{[]string{"-n", "200"}, 200}, {nil, 200}, {[]string{"--raw"}, 200}, {[]string{"--since", "-36"}, 2}, {[]string{"--grep", "hit"}, 200},
	} {
		asked, r.log = 0, grows
		got := r.succeeds(append([]string{"logs", "web"}, c.args...)...)
		if n := strings.Count(got, "\n"); n != c.lines || !strings.HasSuffix(got, line) {
			t.Errorf("%q: %d lines, want %d", c.args, n, c.lines)
		}
	}
}

func TestLogsReportDroppedBytes(t *testing.T) {
	r := newRig(t)
	r.log = func(api.ProcessLogInput) (api.ProcessLogOutput, error) {
		return api.ProcessLogOutput{Data: "rest\n", Start: 10, NextCursor: 15, End: 15, Dropped: 10, State: api.StateRunning}, nil
	}
	stdout, stderr, status := r.run("logs", "web")
	if stdout != "rest\n" || status != 0 || !strings.Contains(stderr, "10 earlier bytes") {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
	if _, stderr, _ := r.run("logs", "web", "-n", "1"); stderr != "" {
		t.Errorf("for the end alone it says %q", stderr)
	}
}

func TestLogsGrepPrintsMatchesWithContext(t *testing.T) {
	r := newRig(t)
	r.log = func(in api.ProcessLogInput) (api.ProcessLogOutput, error) {
		out := api.ProcessLogOutput{NextCursor: 100, End: 100, State: api.StateRunning, Matches: []api.LogMatch{
			{Offset: 2, Text: "hit1\r", Before: []string{"a"}, After: []string{"b"}},
			{Offset: 10, Text: "hit2", Before: []string{"b"}, After: []string{"\x1bc"}},
			{Offset: 50, Text: "hit3", Before: []string{"y"}},
		}}
		if in.Backward {
			slices.Reverse(out.Matches)
		}
		return out, nil
	}
	want := "a\nhit1\nb\nhit2\n\n--\ny\nhit3\n"
	if got := r.succeeds("logs", "web", "--grep", "hit", "--context", "1"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := r.succeeds("logs", "web", "--grep", "hit", "--context", "1", "-n", "3"); got != want {
		t.Errorf("the last three: %q, want %q", got, want)
	}
	if last := r.logCalls[len(r.logCalls)-1]; !last.Backward || last.Limit != 3 || last.Context != 1 || last.Tail != 0 {
		t.Errorf("asked for %+v", last)
	}
	r.log = logOf("nothing\n", api.StateRunning)
	if stdout, stderr, status := r.run("logs", "web", "--grep", "hit"); stdout+stderr != "" || status != 1 {
		t.Errorf("without a match: status %d, %q, %q", status, stdout, stderr)
	}
}

func TestLogsJSONIsTheAPIAnswer(t *testing.T) {
	r := newRig(t)
	r.log = logOf("one\ntwo\n", api.StateExited)
	answer := readJSON(t, r.succeeds("logs", "web", "--json")).(map[string]any)
	if answer["data"] != "one\ntwo\n" || answer["next_cursor"] != 8.0 {
		t.Errorf("logs --json is %v", answer)
	}
	lines := strings.Split(strings.TrimSpace(r.succeeds("logs", "-f", "web", "--json")), "\n")
	if len(lines) != 1 || readJSON(t, lines[0]).(map[string]any)["data"] != "one\ntwo\n" {
		t.Errorf("logs -f --json prints %q", lines)
	}
}

func TestLogsJSONHasTheWholeLog(t *testing.T) {
	r := newRig(t)
	text := strings.Repeat("0123456\n", 3<<17) + "end\n"
	for _, args := range [][]string{{}, {"--raw"}, {"-n", "400000"}} {
		r.log = logOf(text, api.StateRunning)
		answer := readJSON(t, r.succeeds(append([]string{"logs", "web", "--json"}, args...)...)).(map[string]any)
		if got := answer["data"].(string); got != text || answer["start"] != 0.0 || answer["next_cursor"] != float64(len(text)) || answer["end"] != float64(len(text)) {
			t.Errorf("%q: %d bytes of %d, to %v of %v", args, len(got), len(text), answer["next_cursor"], answer["end"])
		}
	}
	// A page may end in bytes that are not UTF-8.
	r.log = func(in api.ProcessLogInput) (api.ProcessLogOutput, error) {
		if in.Since != nil && *in.Since > 0 {
			return api.ProcessLogOutput{Start: 2, Data: "b\n", NextCursor: 4, End: 4, State: api.StateExited}, nil
		}
		return api.ProcessLogOutput{DataBytes: "Yf8=", NextCursor: 2, End: 4, State: api.StateExited}, nil
	}
	if answer := readJSON(t, r.succeeds("logs", "web", "--json", "--raw")).(map[string]any); answer["data_bytes"] != "Yf9iCg==" || answer["data"] != "" {
		t.Errorf("bytes are %v", answer)
	}
}

// The exit status is the same with and without --json.
func TestLogsGrepFailsWithoutAMatch(t *testing.T) {
	for _, args := range [][]string{{"web"}, {"web", "-f"}, {"web", "-n", "3"}, {"web", "db"}, {"web", "--stream", "both"}} {
		for _, format := range [][]string{nil, {"--json"}} {
			for pattern, want := range map[string]int{"hit": 0, "miss": 1} {
				r := newRig(t)
				r.log = func(in api.ProcessLogInput) (api.ProcessLogOutput, error) {
					out, err := logOf("a hit\n", api.StateExited)(in)
					if in.Grep == "hit" && out.Data != "" {
						out.Matches = []api.LogMatch{{Text: "a hit"}}
					}
					return out, err
				}
				command := slices.Concat([]string{"logs", "--grep", pattern}, args, format)
				if _, stderr, status := r.run(command...); status != want || stderr != "" {
					t.Errorf("%q: status %d, want %d, %q", command, status, want, stderr)
				}
			}
		}
	}
}

func TestLogsReportWriteErrors(t *testing.T) {
	r := newRig(t)
	r.log = logOf("text\n", api.StateRunning)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	o := r.options
	var stderr bytes.Buffer
	o.Stdout, o.Stderr = io.Writer(full), &stderr
	if status := Main(t.Context(), o, []string{"logs", "web"}); status != 1 || !strings.Contains(stderr.String(), "write to standard output") {
		t.Errorf("status %d, %q", status, &stderr)
	}
}

func TestLogsPrintBothStreamsOfASplitLog(t *testing.T) {
	r := newRig(t)
	r.current = &api.Process{ID: "abc", Name: "web", Supervision: &api.Supervision{SplitLog: true}}
	r.log = func(in api.ProcessLogInput) (api.ProcessLogOutput, error) {
		text := map[string]string{"stdout": "out\n", "stderr": "err\n"}[in.Stream]
		if in.Grep == "" {
			return logOf(text, api.StateExited)(in)
		}
		out := api.ProcessLogOutput{NextCursor: 4, End: 4, State: api.StateExited}
		if strings.HasPrefix(text, in.Grep) {
			out.Matches = []api.LogMatch{{Text: in.Grep}}
		}
		return out, nil
	}
	for _, c := range []struct {
		args        []string
		out, errors string
		status      int
	}{
		{nil, "out\n", "err\n", 0},
		{[]string{"-f"}, "out\n", "err\n", 0},
		{[]string{"--stream", "stderr"}, "err\n", "", 0},
		{[]string{"--grep", "err"}, "", "err\n", 0},
		{[]string{"--grep", "out"}, "out\n", "", 0},
		{[]string{"--grep", "x"}, "", "", 1},
	} {
		if stdout, stderr, status := r.run(append([]string{"logs", "web"}, c.args...)...); stdout != c.out || stderr != c.errors || status != c.status {
			t.Errorf("%q: status %d, %q, %q", c.args, status, stdout, stderr)
		}
	}
}

func TestLogsRawForwardsBinaryOutput(t *testing.T) {
	r := newRig(t)
	r.log = func(in api.ProcessLogInput) (api.ProcessLogOutput, error) {
		if !in.Exact {
			t.Errorf("asked for %+v", in)
		}
		return api.ProcessLogOutput{DataBytes: "/w==", NextCursor: 1, End: 1, State: api.StateExited}, nil
	}
	if got := r.succeeds("logs", "web", "--raw"); got != "\xff" {
		t.Errorf("%q", got)
	}
}

func TestLogsTimestampsShowTheTimeOfEachLine(t *testing.T) {
	r := newRig(t)
	early := time.Date(2026, 11, 20, 10, 0, 0, 0, time.Local)
	r.log = func(in api.ProcessLogInput) (api.ProcessLogOutput, error) {
		out, err := logOf("old\none\ntwo\nrest", api.StateExited)(in)
		if in.Times {
			out.Times = []api.LogTime{{Offset: 4, At: early}, {Offset: 8, At: early.Add(time.Minute)}}
		}
		return out, err
	}
	want := strings.Repeat(" ", 20) + "old\n2026-11-20 10:00:00 one\n2026-11-20 10:01:00 two\n2026-11-20 10:01:00 rest"
	if got := r.succeeds("logs", "web", "--times"); got != want {
		t.Errorf("%q", got)
	}
	if _, _, status := r.run("logs", "web", "-t", "--grep", "x"); status != 2 {
		t.Errorf("status %d", status)
	}
}
