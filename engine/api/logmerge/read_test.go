package logmerge

import (
	"context"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"tandem/engine/api"
	"tandem/tests/seed"
)

// A fakeLog is a log served as by an engine.
type fakeLog struct {
	text    string
	dropped int64
	times   []api.LogTime
	ended   bool
	hung    bool
}

// write appends text written at a second.
func (f *fakeLog) write(text string, second int) {
	f.times = append(f.times, api.LogTime{Offset: int64(len(f.text)), At: time.Unix(int64(second), 0)})
	f.text += text
}

// fakeLogs are the logs of processes, by id and stream.
type fakeLogs map[string]*fakeLog

func (f fakeLogs) Do(ctx context.Context, _ string, _ api.Effect, in, out any) error {
	switch in := in.(type) {
	case api.IDInput:
		p := api.Process{ID: in.ID, State: api.StateRunning}
		if f[in.ID+"stderr"] != nil {
			p.Supervision = &api.Supervision{SplitLog: true}
		} else if f[in.ID] == nil {
			return api.Errorf(api.CodeNotFound, "no process %s", in.ID)
		}
		*out.(*api.Process) = p
	case api.ProcessLogInput:
		log := f[in.ID+in.Stream]
		if log == nil {
			return api.Errorf(api.CodeNotFound, "no log %s", in.ID)
		}
		answer := log.read(in)
		if log.hung || in.WaitMS > 0 && answer.Data+answer.DataBytes == "" && !log.ended {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Duration(in.WaitMS) * time.Millisecond):
			}
		}
		*out.(*api.ProcessLogOutput) = answer
	default:
		return api.Errorf(api.CodeNotSupported, "an older engine")
	}
	return nil
}

func (f *fakeLog) read(in api.ProcessLogInput) api.ProcessLogOutput {
	end := int64(len(f.text))
	since := max(*in.Since, f.dropped)
	if *in.Since < 0 {
		since = max(*in.Since+end, f.dropped)
	}
	since = min(since, end)
	out := api.ProcessLogOutput{Start: since, End: end, Dropped: f.dropped, State: api.StateRunning, Times: f.times}
	if f.ended {
		out.State = api.StateExited
	}
	if in.Grep != "" {
		f.search(in, &out)
		return out
	}
	out.NextCursor = min(since+int64(in.Max), end)
	if out.Data = f.text[since:out.NextCursor]; !utf8.ValidString(out.Data) {
		out.Data, out.DataBytes = "", base64.StdEncoding.EncodeToString([]byte(out.Data))
	}
	return out
}

func (f *fakeLog) search(in api.ProcessLogInput, out *api.ProcessLogOutput) {
	at, re := int64(0), regexp.MustCompile(in.Grep)
	for line := range strings.Lines(f.text) {
		if re.MatchString(line) {
			out.Total++
			if at < out.Start {
				out.Before++
			}
			if in.Backward == (at < out.Start) && (in.Backward || out.Matches == nil) {
				out.Matches = []api.LogMatch{{Offset: at}}
			}
		}
		at += int64(len(line))
	}
}

// readAll reads pages until there are no more, and returns the text of each log.
func readAll(t rapid.TB, e api.Engine, in *api.ProcessLogsInput, texts map[string]string, order *[]string) {
	for range 100_000 {
		out, err := Call(context.Background(), e, *in)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := Lines(&out)
		if err != nil {
			t.Fatal(err)
		}
		data, _ := out.Bytes()
		if in.Max > 0 && len(data) > max(in.Max, maxLine+maxChunk) || in.Lines > 0 && len(lines) > in.Lines {
			t.Fatalf("%d bytes in %d lines, want at most %d and %d", len(data), len(lines), in.Max, in.Lines)
		}
		var page []string
		for _, part := range out.Parts {
			key := out.Logs[part.Log].ID + out.Logs[part.Log].Stream
			text := string(data[:part.Bytes])
			data = data[part.Bytes:]
			page = append(page, strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")...)
			if in.Backward {
				texts[key+" page"] += text
			} else {
				texts[key] += text
			}
		}
		in.IDs, in.Cursor = nil, nil
		for _, l := range out.Logs {
			next := l.Next
			if in.Backward {
				texts[l.ID+l.Stream], texts[l.ID+l.Stream+" page"] = texts[l.ID+l.Stream+" page"]+texts[l.ID+l.Stream], ""
				next = l.Start
			} else if l.Lost > 0 {
				texts[l.ID+l.Stream+" lost"] += strings.Repeat("x", int(l.Lost))
			}
			in.Cursor = append(in.Cursor, api.LogCursor{ID: l.ID, Stream: l.Stream, Offset: next})
		}
		if in.Backward {
			*order = append(page, *order...)
		} else {
			*order = append(*order, page...)
		}
		if len(out.Parts) == 0 {
			return
		}
	}
	t.Fatal("there is always more")
}

// Each line is read once, and in the order of time if all times are known. That holds for any
// pages, even if the engine forgets times between two of them, or drops the start of logs.
func TestEachLineIsReadOnceInOrder(t *testing.T) {
	seed.Check(t, func(rt *rapid.T) {
		f, second := fakeLogs{}, 0
		random := seed.From(rapid.Uint64().Draw(rt, "seed"))
		grow := func() {
			for range random.IntN(60) {
				for key, log := range f {
					if random.IntN(len(f)) > 0 {
						continue
					}
					second += random.IntN(2)
					text := fmt.Sprintf("%08d %s %s\n", second, key, strings.Repeat("y", random.IntN(100)))
					switch random.IntN(150) {
					case 0:
						text = fmt.Sprintf("%08d %s %s\n", second, key, strings.Repeat("z\xff", 40<<10))
					case 1:
						text += "\n"
					}
					log.write(text, second)
				}
			}
		}
		in := api.ProcessLogsInput{Max: rapid.SampledFrom([]int{0, 1, 5000, 200_000}).Draw(rt, "max"), Lines: rapid.SampledFrom([]int{0, 1, 7}).Draw(rt, "lines")}
		for i := range rapid.IntRange(1, 4).Draw(rt, "processes") {
			id := fmt.Sprint(i)
			in.IDs = append(in.IDs, id)
			if f[id] = (&fakeLog{}); i%2 == 1 {
				f[id+"stdout"], f[id+"stderr"] = &fakeLog{}, &fakeLog{}
				delete(f, id)
			}
		}
		before := in
		before.Backward = true
		forgets, trims := rapid.Bool().Draw(rt, "forgets"), rapid.Bool().Draw(rt, "trims")
		texts, order := map[string]string{}, []string{}
		for range 3 {
			grow()
			readAll(rt, f, &in, texts, &order)
			if grow(); trims {
				for _, log := range f {
					if i := strings.LastIndexByte(log.text[:len(log.text)/2], '\n'); i >= 0 {
						log.dropped = max(log.dropped, int64(i)+1)
					}
				}
			}
			if forgets {
				for _, log := range f {
					log.times = nil
				}
			}
			in.Max = rapid.SampledFrom([]int{0, 100, 200_000}).Draw(rt, "next max")
		}
		readAll(rt, f, &in, texts, &order)
		for key, log := range f {
			if lost := len(texts[key+" lost"]); len(texts[key])+lost != len(log.text) || lost == 0 && texts[key] != log.text || lost > 0 && !trims {
				rt.Fatalf("%s: %d bytes were read of %d, and %d reported lost", key, len(texts[key]), len(log.text), lost)
			}
		}
		if !trims && !forgets {
			checkOrder(rt, order)
		}
		earlier, order := map[string]string{}, []string{}
		readAll(rt, f, &before, earlier, &order)
		for key, log := range f {
			if earlier[key] != log.text[log.dropped:] {
				rt.Fatalf("%s backward: %d bytes of %d", key, len(earlier[key]), len(log.text)-int(log.dropped))
			}
		}
		if !forgets {
			checkOrder(rt, order)
		}
	})
}

// checkOrder checks that the times at the beginning of whole lines never decrease.
func checkOrder(t rapid.TB, order []string) {
	last := ""
	for _, line := range order {
		if len(line) < 9 || line[8] != ' ' || strings.ContainsAny(line[:8], "yz\n") || !utf8.ValidString(line[:8]) {
			continue
		}
		if line[:8] < last {
			t.Fatalf("%q comes after %q", line[:8], last)
		}
		last = line[:8]
	}
}

func TestUnfinishedLineIsReturnedOnlyIfRequestedAndStays(t *testing.T) {
	f := fakeLogs{"1": {}}
	f["1"].write("whole\npart", 1)
	in := api.ProcessLogsInput{IDs: []string{"1"}}
	for _, partial := range []bool{false, true} {
		in.Partial = partial
		out, err := Read(t.Context(), f, in)
		if want := map[bool]string{false: "whole\n", true: "whole\npart"}[partial]; err != nil || out.Data != want || out.Logs[0].Next != 6 {
			t.Errorf("partial %v: %q up to %d, want %q: %v", partial, out.Data, out.Logs[0].Next, want, err)
		}
	}
	f["1"].ended = true
	in.Partial = false
	if out, err := Read(t.Context(), f, in); err != nil || out.Data != "whole\npart" || !out.Logs[0].Ended {
		t.Errorf("after the exit: %q, %+v, %v", out.Data, out.Logs, err)
	}
}

func TestWaitReturnsOnlyOnNewOutputOrEndedLogs(t *testing.T) {
	cursor := []api.LogCursor{{ID: "1", Offset: 6, Seen: 10}, {ID: "2"}}
	for name, c := range map[string]struct {
		change func(fakeLogs)
		want   string
		waits  bool
	}{
		"nothing":                {func(fakeLogs) {}, "part", true},
		"a line":                 {func(f fakeLogs) { f["2"].write("new\n", 2) }, "partnew\n", false},
		"a longer unfinished":    {func(f fakeLogs) { f["1"].write("ial", 2) }, "partial", false},
		"an end":                 {func(f fakeLogs) { f["2"].ended = true }, "part", false},
		"a deleted log":          {func(f fakeLogs) { delete(f, "2") }, "part", false},
		"a log that hangs alone": {func(f fakeLogs) { f["2"].hung = true }, "part", true},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := fakeLogs{"1": {}, "2": {}}
			f["1"].write("whole\npart", 1)
			c.change(f)
			began := time.Now()
			out, err := Read(t.Context(), f, api.ProcessLogsInput{Cursor: cursor, Partial: true, WaitMS: 5000})
			if waited := time.Since(began) >= 5*time.Second; err != nil || out.Data != c.want || waited != c.waits {
				t.Errorf("%s: %q after %v, want %q: %v", name, out.Data, time.Since(began), c.want, err)
			}
		})
	}
}

func TestHungLogDelaysOthersOnlyBriefly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeLogs{"busy": {}, "hung": {hung: true}}
		in := api.ProcessLogsInput{Cursor: []api.LogCursor{{ID: "busy"}, {ID: "hung"}}, WaitMS: 20_000}
		for range 4 {
			f["busy"].write("line\n", 1)
			start := time.Now()
			out, err := Read(t.Context(), f, in)
			if took := time.Since(start); err != nil || out.Data != "line\n" || took > maxLate+settle {
				t.Fatalf("%q after %v: %v", out.Data, took, err)
			}
			in.Cursor[0].Offset = out.Logs[0].Next
		}
	})
}

func TestTailStartsBeforeTheLastLinesOfEachProcess(t *testing.T) {
	for _, count := range []int{0, 1, 5, 100} {
		f := fakeLogs{"a": {}, "bstdout": {}, "bstderr": {}}
		want := map[string]int{"a": min(count, 30), "b": min(count, 20)}
		for i := range 30 {
			f["a"].write("line\n", i)
		}
		for i := range 10 {
			f["bstdout"].write("line\n", 3*i)
			f["bstderr"].write("line\n", 2*i)
		}
		got := map[string]int{}
		in := api.ProcessLogsInput{IDs: []string{"a", "b"}, Tail: &count, Max: 40}
		err := ReadPresent(t.Context(), f, &in, func(out *api.ProcessLogsOutput, lines []Line) error {
			f["a"].write("later\n", 100) // busier than it is read
			for _, l := range lines {
				got[out.Logs[l.Log].ID]++
			}
			return nil
		})
		for id, n := range want {
			if got[id] != n || err != nil {
				t.Errorf("the last %d lines of %s: %d, want %d: %v", count, id, got[id], n, err)
			}
		}
	}
}

// From the position of a match, the match is the next line.
func TestMatchIsTheNextLineFromItsPosition(t *testing.T) {
	f := fakeLogs{"a": {}, "b": {}, "c": {}}
	var want []string
	for i := range 300 {
		text := fmt.Sprintf("line %d\n", i)
		if i%37 == 5 {
			text = fmt.Sprintf("needle %d\n", i)
			want = append(want, text)
		}
		f[string(rune('a'+i%3))].write(text, i/4)
	}
	in := api.ProcessLogsInput{IDs: []string{"a", "b", "c"}, Grep: "needle"}
	for _, above := range []bool{false, true} {
		if in.Backward = above; above {
			slices.Reverse(want)
		}
		for i := range len(want) + 1 {
			out, err := Read(t.Context(), f, in)
			if err != nil || out.Match == nil {
				t.Fatalf("no match: %v", err)
			}
			number := i%len(want) + 1
			if above {
				number = len(want) - i%len(want)
			}
			if m := out.Match; m.Number != number || m.Total != len(want) || m.Wrapped != (i == len(want)) {
				t.Errorf("match %d above %v: %+v", i, above, m)
			}
			in.IDs, in.Cursor = nil, nil
			for _, l := range out.Logs {
				in.Cursor = append(in.Cursor, api.LogCursor{ID: l.ID, Offset: l.Next})
			}
			next, err := Read(t.Context(), f, api.ProcessLogsInput{Cursor: in.Cursor, Lines: 1})
			if err != nil || next.Data != want[i%len(want)] {
				t.Fatalf("match %d above %v is followed by %q, want %q: %v", i, above, next.Data, want[i%len(want)], err)
			}
			if !above {
				in.Cursor[out.Match.Log].Offset += int64(len(next.Data))
			}
		}
		in.IDs, in.Cursor = []string{"a", "b", "c"}, nil
	}
	in.Grep = "nothing"
	if out, err := Read(t.Context(), f, in); err != nil || out.Match != nil {
		t.Errorf("%+v, %v", out.Match, err)
	}
}

func TestBadRequestsAreRejected(t *testing.T) {
	one, negative := 1, -1
	offset := int64(-5)
	for name, in := range map[string]api.ProcessLogsInput{
		"no log":        {},
		"an unknown id": {IDs: []string{"none"}},
		"two starts":    {IDs: []string{"1"}, Tail: &one, Since: new(int64)},
		"a tail":        {IDs: []string{"1"}, Tail: &negative},
		"a stream":      {IDs: []string{"1"}, Stream: "third"},
		"a wait":        {IDs: []string{"1"}, WaitMS: -1},
		"an offset":     {IDs: []string{"1"}, Since: &offset, Backward: true},
	} {
		if _, err := Read(t.Context(), fakeLogs{"1": {}}, in); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
