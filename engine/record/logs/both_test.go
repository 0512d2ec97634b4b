package logs

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"tandem/engine/api"
	"tandem/tests/seed"
)

// split gives the log of the rig a separate file for standard error. The maps are time stamps, in
// seconds by offset.
func (r *logRig) split(stdout, stderr string, outAt, errAt map[int64]int64) {
	r.Helper()
	r.source.ErrPath = r.source.Path + ".err"
	for path, log := range map[string]struct {
		text string
		at   map[int64]int64
	}{r.source.Path: {stdout, outAt}, r.source.ErrPath: {stderr, errAt}} {
		if err := os.WriteFile(path, []byte(log.text), 0o600); err != nil {
			r.Fatal(err)
		}
		var known stamps
		for offset := range int64(len(log.text)) {
			if at, ok := log.at[offset]; ok {
				known = known.addStamp(offset, time.Unix(at, 0))
			}
		}
		r.logs.mu.Lock()
		r.logs.times[path] = known
		r.logs.mu.Unlock()
	}
}

func TestReadMergesStreamsByTime(t *testing.T) {
	r := newLogRig(t)
	r.split("a1\na2\na3\na4", "b1\nb2\n", map[int64]int64{0: 10, 4: 30, 9: 50}, map[int64]int64{0: 20, 3: 40})
	at := func(n int64) *int64 { return &n }
	for _, c := range []struct {
		in       api.ProcessLogInput
		data     string
		from, to [2]int64
	}{
		{api.ProcessLogInput{}, "a1\na2\nb1\na3\nb2\na4", [2]int64{0, 0}, [2]int64{11, 6}},
		{api.ProcessLogInput{Max: 8}, "a1\na2\nb1", [2]int64{0, 0}, [2]int64{6, 2}},
		{api.ProcessLogInput{Max: 4}, "a1\na", [2]int64{0, 0}, [2]int64{4, 0}},
		{api.ProcessLogInput{Since: at(6), SinceStderr: at(2)}, "\na3\nb2\na4", [2]int64{6, 2}, [2]int64{11, 6}},
		{api.ProcessLogInput{Since: at(9)}, "b1\nb2\na4", [2]int64{9, 0}, [2]int64{11, 6}},
		{api.ProcessLogInput{Since: at(11), SinceStderr: at(6)}, "", [2]int64{11, 6}, [2]int64{11, 6}},
		{api.ProcessLogInput{Since: at(-7)}, "3\nb2\na4", [2]int64{7, 3}, [2]int64{11, 6}},
		{api.ProcessLogInput{Since: at(-700)}, "a1\na2\nb1\na3\nb2\na4", [2]int64{0, 0}, [2]int64{11, 6}},
		{api.ProcessLogInput{Tail: 1}, "a4", [2]int64{9, 6}, [2]int64{11, 6}},
		{api.ProcessLogInput{Tail: 3}, "a3\nb2\na4", [2]int64{6, 3}, [2]int64{11, 6}},
		{api.ProcessLogInput{Tail: 5}, "a2\nb1\na3\nb2\na4", [2]int64{3, 0}, [2]int64{11, 6}},
		{api.ProcessLogInput{Tail: 99}, "a1\na2\nb1\na3\nb2\na4", [2]int64{0, 0}, [2]int64{11, 6}},
	} {
		c.in.Stream = "both"
		out := r.read(c.in)
		if from, to := [2]int64{out.Start, out.Stderr.Start}, [2]int64{out.NextCursor, out.Stderr.NextCursor}; out.Data != c.data || from != c.from || to != c.to {
			t.Errorf("%+v: %q from %v to %v, want %q from %v to %v", c.in, out.Data, from, to, c.data, c.from, c.to)
		}
		if out.End != 11 || out.Stderr.End != 6 {
			t.Errorf("%+v: they end at %d and %d", c.in, out.End, out.Stderr.End)
		}
	}
	var parts []string
	for _, p := range r.read(api.ProcessLogInput{Stream: "both"}).Parts {
		parts = append(parts, p.Stream, p.At.UTC().Format("05"))
	}
	if want := "stdout 10 stderr 20 stdout 30 stderr 40 stdout 50"; strings.Join(parts, " ") != want {
		t.Errorf("parts %v, want %s", parts, want)
	}
}

func TestReadWithoutTimesOrdersStdoutFirst(t *testing.T) {
	r := newLogRig(t)
	r.split("a1\na2\n", "b1\nb2\n", map[int64]int64{3: 20}, map[int64]int64{3: 10})
	out := r.read(api.ProcessLogInput{Stream: "both"})
	if out.Data != "a1\nb1\nb2\na2\n" || out.Parts[0].At != nil || out.Parts[1].At != nil || out.Parts[2].At == nil {
		t.Errorf("%q, %+v", out.Data, out.Parts)
	}
}

func TestBothStreamsOfUnsplitLogAreTheLog(t *testing.T) {
	r := newLogRig(t)
	r.write("all\n")
	if out := r.read(api.ProcessLogInput{Stream: "both"}); out.Data != "all\n" || out.Stderr != nil || out.Parts != nil {
		t.Errorf("%+v", out)
	}
}

func TestGrepSearchesBothStreams(t *testing.T) {
	r := newLogRig(t)
	r.state.Store(api.StateExited)
	r.split("x1\nno\nx3\n", "x2\nx4\n", map[int64]int64{0: 10, 6: 30}, map[int64]int64{0: 20, 3: 40})
	for _, c := range []struct {
		in   api.ProcessLogInput
		want string
		next [2]int64
	}{
		{api.ProcessLogInput{}, "x1 x2 x3 x4", [2]int64{9, 6}},
		{api.ProcessLogInput{Limit: 2}, "x1 x2", [2]int64{6, 3}},
		{api.ProcessLogInput{Limit: 1}, "x1", [2]int64{3, 0}},
		{api.ProcessLogInput{Backward: true}, "x4 x3 x2 x1", [2]int64{0, 0}},
		{api.ProcessLogInput{Backward: true, Limit: 2}, "x4 x3", [2]int64{6, 3}},
		{api.ProcessLogInput{Backward: true, Limit: 1}, "x4", [2]int64{9, 3}},
	} {
		c.in.Stream, c.in.Grep = "both", "x"
		out := r.read(c.in)
		var found []string
		for _, m := range out.Matches {
			found = append(found, m.Text)
			if stderr := m.Text == "x2" || m.Text == "x4"; m.Stream == "stderr" != stderr {
				t.Errorf("%s is of %s", m.Text, m.Stream)
			}
		}
		if next := [2]int64{out.NextCursor, out.Stderr.NextCursor}; strings.Join(found, " ") != c.want || next != c.next {
			t.Errorf("%+v: %v and then %v, want %s and %v", c.in, found, next, c.want, c.next)
		}
	}
}

func TestWaitForBothStreamsIsWokenByEither(t *testing.T) {
	r := newLogRig(t)
	r.source.ErrPath = r.source.Path + ".err"
	r.state.Store(api.StateStarting)
	r.afterFollow(func() {
		if err := os.WriteFile(r.source.ErrPath, []byte("late\n"), 0o600); err != nil {
			t.Error(err)
		}
	})
	if out := r.read(api.ProcessLogInput{Stream: "both", WaitMS: 50_000}); out.Data != "late\n" || out.Stderr.NextCursor != 5 {
		t.Errorf("%+v", out)
	}
}

func TestReadRejectsInvalidRequestsForBothStreams(t *testing.T) {
	r := newLogRig(t)
	r.split("a\n", "b\n", nil, nil)
	n := int64(1)
	for _, in := range []api.ProcessLogInput{{FromLine: &n}, {Since: &n, Tail: 1}, {SinceStderr: &n, Stream: "stderr"}} {
		if in.Stream == "" {
			in.Stream = "both"
		}
		if _, err := r.logs.Read(t.Context(), in, r.source); api.AsError(err).Code != api.CodeInvalid {
			t.Errorf("%+v: %v", in, err)
		}
	}
}

// If both streams are read in pieces, each comes completely and in order, whatever its times are.
func TestReadingBothStreamsInPiecesIsComplete(t *testing.T) {
	r := newLogRig(t)
	seed.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "ä", "€", "\n", "line\n"}), 0, 40)
		times := rapid.MapOfN(rapid.Int64Range(0, 80), rapid.Int64Range(1, 50), 0, 6)
		stdout, stderr := strings.Join(texts.Draw(t, "stdout"), ""), strings.Join(texts.Draw(t, "stderr"), "")
		r.split(stdout, stderr, times.Draw(t, "times"), times.Draw(t, "times of errors"))
		most := rapid.IntRange(4, 30).Draw(t, "most")
		got := map[string]string{}
		since, sinceStderr := int64(0), int64(0)
		for {
			out := r.read(api.ProcessLogInput{Stream: "both", Since: &since, SinceStderr: &sinceStderr, Max: most})
			rest := out.Data
			if len(rest) > most {
				t.Fatalf("%d bytes, must be at most %d", len(rest), most)
			}
			for _, p := range out.Parts {
				got[p.Stream] += rest[:p.Bytes]
				rest = rest[p.Bytes:]
			}
			if rest != "" {
				t.Fatalf("%q is of no stream", rest)
			}
			if out.Data == "" {
				break
			}
			since, sinceStderr = out.NextCursor, out.Stderr.NextCursor
		}
		if want := map[string]string{"stdout": stdout, "stderr": stderr}; got["stdout"] != stdout || got["stderr"] != stderr {
			t.Fatal(cmp.Diff(want, got))
		}
	})
}

func TestTextHasTheTimeOfTheLastStampBeforeIt(t *testing.T) {
	begin := time.UnixMilli(1_800_000_000_000)
	s := stamps(nil).addStamp(0, begin).addStamp(0, begin.Add(time.Hour)).addStamp(5, begin.Add(2*time.Hour))
	got := s.between(0, 10)
	if len(got) != 2 || !got[0].At.Equal(begin.Add(time.Hour)) || !got[1].At.Equal(begin.Add(2*time.Hour)) {
		t.Errorf("%v", got)
	}
}

func TestTailOfGrowingLogEndsWithWholeCharacter(t *testing.T) {
	r := newLogRig(t)
	r.write("ab\xe2\x82")
	for more, want := range map[bool]string{true: "ab", false: "ab\xe2\x82"} {
		if end, _, err := Tail(r.source.Path, 100, more); string(end) != want || err != nil {
			t.Errorf("more to come %v: %q, %v", more, end, err)
		}
	}
}
