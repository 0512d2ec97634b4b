package logview

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"tandem/engine/api"
	"tandem/engine/base/units"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/panes/logtext"
	"tandem/panes/panestest"
	"tandem/tests/needs"
	"tandem/tests/seed"
	"tandem/themes"
)

// A fakeLog is a log served as by the engine.
type fakeLog struct {
	text    string
	dropped int64 // bytes dropped from the head of text
	asked   int
	state   api.State
	times   []api.LogTime
}

func (f *fakeLog) readLog(in api.ProcessLogInput) api.ProcessLogOutput {
	f.asked++
	if in.Grep != "" {
		return f.searchLog(in)
	}
	end := int64(len(f.text))
	since := f.dropped
	if in.Since != nil {
		if since = *in.Since; since < 0 {
			since += end
		}
		since = max(min(since, end), f.dropped)
	}
	next := min(since+int64(in.Max), end)
	data, encoded := f.text[since:next], ""
	if !utf8.ValidString(data) { // as the engine does
		if in.Exact {
			data, encoded = "", base64.StdEncoding.EncodeToString([]byte(data))
		} else {
			data = strings.ToValidUTF8(data, "\uFFFD")
		}
	}
	return api.ProcessLogOutput{Data: data, DataBytes: encoded, Start: since, NextCursor: next, End: end, Dropped: f.dropped, State: cmp.Or(f.state, api.StateRunning), Times: f.times}
}

// searchLog searches the log as the engine does.
func (f *fakeLog) searchLog(in api.ProcessLogInput) (out api.ProcessLogOutput) {
	re, at := regexp.MustCompile(in.Grep), int64(0)
	for line := range strings.Lines(f.text) {
		if at >= f.dropped && re.MatchString(strings.TrimSuffix(line, "\n")) {
			out.Total++
			if at < *in.Since {
				out.Before++
			}
			if in.Backward == (at < *in.Since) && (in.Backward || len(out.Matches) == 0) {
				out.Matches = []api.LogMatch{{Offset: at, Text: line}}
			}
		}
		at += int64(len(line))
	}
	return out
}

// answerAll answers the requests of l until it waits for more output.
func (f *fakeLog) answerAll(t testing.TB, l *Log) {
	t.Helper()
	for range 1000 {
		r, ok := l.NextRequest()
		if !ok || f.answer(t, l, r) {
			return
		}
	}
	t.Fatal("it never stops asking")
}

// answer answers a request. waits reports whether the request waits for more output.
func (f *fakeLog) answer(t interface{ Fatal(...any) }, l *Log, r *Request) (waits bool) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	e := panestest.NewEngine()
	panestest.On(e, api.ProcessLog, func(_ context.Context, in api.ProcessLogInput) (api.ProcessLogOutput, error) {
		out := f.readLog(in)
		if in.WaitMS > 0 && out.Data+out.DataBytes == "" && !out.State.Ended() {
			waits = true
			cancel() // ends the wait for output
			return out, ctx.Err()
		}
		return out, nil
	})
	a, err := r.Run(ctx, e)
	if waits { // there was no answer yet
		l.reader.pending = nil
		return true
	}
	if err != nil {
		t.Fatal(err)
	}
	l.AcceptAnswer(r, a, nil)
	return false
}

// drawLog returns the drawn log without colors.
func (f *fakeLog) drawLog(t testing.TB, l *Log, w, h int) []string {
	l.SetSize(w, h)
	f.answerAll(t, l)
	rows := panestest.PlainRows(l.Draw(w, h, &look.Look{Glyphs: themes.UnicodeGlyphs()}))
	for _, r := range rows {
		if got := text.Width(r); got != w {
			t.Fatalf("row %q takes %d cells of %d", r, got, w)
		}
	}
	for i := range rows {
		rows[i] = strings.TrimRight(rows[i], " ")
	}
	return rows
}

// numberedLines returns a log of n lines, each with its number.
func numberedLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func TestLogFollowsItsEnd(t *testing.T) {
	f, l := &fakeLog{text: numberedLines(100)}, New("1", "", api.KindProcess)
	panestest.CompareRows(t, f.drawLog(t, l, 20, 3), []string{"line 97", "line 98", "line 99"})
	f.text += "line 100\nno newl"
	panestest.CompareRows(t, f.drawLog(t, l, 20, 3), []string{"line 99", "line 100", "no newl"})
	f.text += "ine yet\n"
	panestest.CompareRows(t, f.drawLog(t, l, 20, 3), []string{"line 99", "line 100", "no newline yet"})
}

func TestScrollingUpPausesFollowing(t *testing.T) {
	f, l := &fakeLog{text: numberedLines(100)}, New("1", "", api.KindProcess)
	f.drawLog(t, l, 20, 3)
	l.Scroll(-1)
	want := []string{"line 96", "line 97", "line 98"}
	panestest.CompareRows(t, f.drawLog(t, l, 20, 3), want)
	f.text += numberedLines(50)
	panestest.CompareRows(t, f.drawLog(t, l, 20, 3), want)
	l.Scroll(1000)
	f.text += "more\n"
	f.drawLog(t, l, 20, 3)
	if l.Following() {
		t.Error("it follows again without a request")
	}
	l.ScrollToEnd()
	panestest.CompareRows(t, f.drawLog(t, l, 20, 3), []string{"line 48", "line 49", "more"})
}

func TestHugeLogIsReachableWithABoundedWindow(t *testing.T) {
	f, l := &fakeLog{text: numberedLines(1_000_000)}, New("1", "", api.KindProcess)
	panestest.CompareRows(t, f.drawLog(t, l, 20, 2), []string{"line 999998", "line 999999"})
	l.ScrollToStart()
	panestest.CompareRows(t, f.drawLog(t, l, 20, 2), []string{"line 0", "line 1"})
	for i := range 30_000 {
		l.Scroll(2)
		if i%10 == 0 {
			f.drawLog(t, l, 20, 2)
		}
	}
	panestest.CompareRows(t, f.drawLog(t, l, 20, 2), []string{"line 60000", "line 60001"})
	for range 1000 {
		l.Scroll(-2)
	}
	panestest.CompareRows(t, f.drawLog(t, l, 20, 2), []string{"line 58000", "line 58001"})
	if bytes, lines := l.window.end-l.window.start, len(l.window.lines); bytes > maxWindowBytes+maxFollowBytes || lines > maxWindowLines*2 {
		t.Errorf("holds %d bytes in %d lines", bytes, lines)
	}
	asked := f.asked
	l.ScrollToEnd()
	panestest.CompareRows(t, f.drawLog(t, l, 20, 1), []string{"line 999999"})
	if f.asked > asked+3 {
		t.Errorf("going to the end took %d requests", f.asked-asked)
	}
}

func TestVisibleLinesAreReadAgainFromAnotherEngine(t *testing.T) {
	for _, follow := range []bool{true, false} {
		f, l := &fakeLog{text: numberedLines(1000)}, New("1", "", api.KindProcess)
		l.SetEngine(1)
		f.drawLog(t, l, 20, 2)
		want := []string{"xine 998", "xine 999"}
		if !follow {
			l.Scroll(-500)
			want = []string{"xine 498", "xine 499"}
			f.drawLog(t, l, 20, 2)
		}
		f.text = strings.ReplaceAll(f.text, "line", "xine")
		f.drawLog(t, l, 20, 2)
		l.SetEngine(2)
		panestest.CompareRows(t, f.drawLog(t, l, 20, 2), want)
	}
}

func TestFollowingAFloodSkipsAndReportsBytes(t *testing.T) {
	f, l := &fakeLog{text: numberedLines(10)}, New("1", "", api.KindProcess)
	f.drawLog(t, l, 60, 2)
	f.text += numberedLines(500_000) + "last\n"
	rows := f.drawLog(t, l, 60, 2)
	panestest.CompareRows(t, rows, []string{"line 499999", "last"})
	if l.view.skipped < 4<<20 {
		t.Errorf("skipped %d bytes", l.view.skipped)
	}
	head := ansi.Strip(l.DrawHeading("flood", "", "", 60, &look.Look{Glyphs: themes.UnicodeGlyphs()}))
	if !strings.Contains(head, "skipped "+units.Bytes(l.view.skipped)) {
		t.Errorf("the heading is %q", head)
	}
	if f.asked > 20 {
		t.Errorf("it took %d requests", f.asked)
	}
}

func TestLogResumesAfterADroppedHead(t *testing.T) {
	f, l := &fakeLog{text: numberedLines(100_000)}, New("1", "", api.KindProcess)
	f.drawLog(t, l, 20, 2)
	l.ScrollToStart()
	panestest.CompareRows(t, f.drawLog(t, l, 20, 2), []string{"line 0", "line 1"})
	f.dropped = int64(strings.Index(f.text, "line 90000"))
	for range 60_000 {
		l.Scroll(1)
	}
	f.drawLog(t, l, 20, 2)
	l.Scroll(5)
	if got := f.drawLog(t, l, 20, 2)[0]; !strings.HasPrefix(got, "line ") {
		t.Errorf("shows %q", got)
	}
	l.ScrollToStart()
	panestest.CompareRows(t, f.drawLog(t, l, 20, 1), []string{"line 90000"})
}

func TestSearchCoversTheWholeLog(t *testing.T) {
	needs.FullRun(t)
	f, l := &fakeLog{text: numberedLines(10) + "needle one\n" + numberedLines(300_000) + "needle two\n" + numberedLines(10)}, New("1", "", api.KindProcess)
	f.drawLog(t, l, 20, 3)
	if l.SearchFunc(true) != nil {
		t.Error("nothing is searched for")
	}
	l.SetPattern("need.e", regexp.MustCompile("(?i)need.e"))
	find := func(above bool, text string, number int, wrapped bool) {
		t.Helper()
		found, err := l.SearchFunc(above)(t.Context(), fakeLogs{"1": f}.engine())
		if err != nil {
			t.Fatal(err)
		}
		l.ShowMatch(found)
		if rows := f.drawLog(t, l, 20, 3); !found.OK || !strings.Contains(strings.Join(rows, "\n"), text) {
			t.Fatalf("%q is not shown: %q", text, rows)
		}
		if m := found.Match; m.Number != number || m.Total != 2 || m.Wrapped != wrapped {
			t.Errorf("%q is %+v", text, m)
		}
	}
	find(true, "needle two", 2, false)
	find(true, "needle one", 1, false)
	find(false, "needle two", 2, false)
	find(false, "needle one", 1, true)
	find(true, "needle two", 2, true)
	head := ansi.Strip(l.DrawHeading("hay", "", "", 60, &look.Look{Glyphs: themes.UnicodeGlyphs()}))
	if !strings.Contains(head, "/need.e 2/2") {
		t.Errorf("the heading is %q", head)
	}
}

func TestLongLinesWrapOrScrollSideways(t *testing.T) {
	f, l := &fakeLog{text: "short\n0123456789abcdef一二三四\nend\n"}, New("1", "", api.KindProcess)
	panestest.CompareRows(t, f.drawLog(t, l, 9, 4), []string{"short", "01234567›", "end", ""})
	l.ScrollSideways(1)
	panestest.CompareRows(t, f.drawLog(t, l, 9, 4), []string{"", "一二三四", "", ""})
	l.ToggleWrap()
	panestest.CompareRows(t, f.drawLog(t, l, 9, 6), []string{"short", "012345678", "9abcdef一", "二三四", "end", ""})
	panestest.CompareRows(t, f.drawLog(t, l, 9, 2), []string{"二三四", "end"})
	l.Scroll(-1)
	panestest.CompareRows(t, f.drawLog(t, l, 9, 2), []string{"9abcdef一", "二三四"})
}

func TestLineOffsetsCountInvalidBytes(t *testing.T) {
	f, l := &fakeLog{text: "a\xffb\n\xff\xfe\xfd\nneedle\n"}, New("1", "", api.KindProcess)
	panestest.CompareRows(t, f.drawLog(t, l, 20, 3), []string{"a\ufffdb", "\ufffd\ufffd\ufffd", "needle"})
	if got, want := l.window.lines[2].offset, int64(strings.Index(f.text, "needle")); got != want {
		t.Errorf("the third line is at %d, not at %d", got, want)
	}
}

func TestLogKeepsColorsAndShowsControlCharacters(t *testing.T) {
	f, l := &fakeLog{text: "\x1b[31mred\x1b[m\x1b[2J\x07\ttab \x9b\u202e\u200b\xff\r\n"}, New("1", "", api.KindProcess)
	f.drawLog(t, l, 40, 1)
	row := l.Draw(40, 1, &look.Look{})[0]
	if !strings.HasPrefix(row, "\x1b[0;31mred\x1b[m^G") {
		t.Errorf("got %q", row)
	}
	f, l = &fakeLog{text: "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\ 10%\r\x1b[32m100\b\b\b2\x1b[m\n"}, New("1", "", api.KindProcess)
	panestest.CompareRows(t, f.drawLog(t, l, 40, 1), []string{"200k 10%"})
	terminal := New("1", "", api.KindSession)
	f.text = "\x1b[?2004h\x1b]0;title\x07old\rready> \x1b[1mls\x1b[0m\x1b[K\r\n"
	panestest.CompareRows(t, f.drawLog(t, terminal, 40, 1), []string{"ready> ls"})
}

func TestLogLineHasTheWidthOfItsRuns(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", " ", "\t", "\x01", "\xff", "0\xf1\v", "\u1100", "\u1161", "\u0903", "\U0001F3FB", "\u0301", "\u200d",
		"\ufe0f", "\u0600", "\u0e33", "\u093e", "\U0001F468", "\u4e16", "\u200b"})
	seed.Check(t, func(t *rapid.T) {
		line := strings.Join(rapid.SliceOfN(piece, 1, 6).Draw(t, "line"), "")
		read, s := logtext.ReadLine(line, rapid.Bool().Draw(t, "terminal")), ""
		for _, run := range read.Runs {
			s += run.Text
		}
		if text.Width(s) != read.Cells {
			t.Fatalf("%q became %q, which is %d wide and not %d", line, s, text.Width(s), read.Cells)
		}
	})
}

func TestLogHighlightsLevels(t *testing.T) {
	look := &look.Look{Bad: "<bad>", Warn: "<warn>", Good: "<good>", Faint: "<faint>"}
	for line, want := range map[string]string{
		"12:00 ERROR x":     "12:00 <bad>ERROR\x1b[m x",
		"level=warning hey": "level=<warn>warning\x1b[m hey",
		"[info] x":          "[<good>info\x1b[m] x",
		"terrors informed":  "terrors informed",
	} {
		f, l := &fakeLog{text: line + "\n"}, New("1", "", api.KindProcess)
		l.SetSize(40, 1)
		f.answerAll(t, l)
		if got := strings.TrimRight(l.Draw(40, 1, look)[0], " "); got != want {
			t.Errorf("%q is drawn as %q, want %q", line, got, want)
		}
	}
}

func TestLogOfAnExitedProcessIsFetchedOnce(t *testing.T) {
	f, l := &fakeLog{text: "done\n", state: api.StateExited}, New("1", "", api.KindProcess)
	f.drawLog(t, l, 20, 2)
	if r, ok := l.NextRequest(); ok {
		t.Errorf("asks again: %+v", r)
	}
	l.SetState(api.StateRunning, nil)
	if _, ok := l.NextRequest(); !ok {
		t.Error("does not ask when the process runs again")
	}
}

func TestEveryViewIsAContiguousPartOfTheLog(t *testing.T) {
	seed.Check(t, func(t *rapid.T) {
		text := ""
		for range rapid.IntRange(1, 60).Draw(t, "lines") {
			text += strings.Repeat("x", rapid.SampledFrom([]int{0, 1, 5, 40, 3000, 40_000}).Draw(t, "length")) + "\n"
		}
		f, l := &fakeLog{text: text}, New("1", "", api.KindProcess)
		moves := []func(){
			func() { l.Scroll(-1) }, func() { l.Scroll(7) }, func() { l.ScrollHalfPages(-2) }, func() { l.ScrollHalfPages(2) },
			l.ScrollToStart, l.ScrollToEnd, l.ToggleFollow, l.ToggleWrap, func() { l.ScrollSideways(1) }, func() { f.text += "tail\n" },
			func() { f.dropped = min(f.dropped+10_000, int64(len(f.text))) },
		}
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(moves)-1), 1, 40).Draw(t, "moves") {
			moves[i]()
			w, h := rapid.IntRange(1, 50).Draw(t, "w"), rapid.IntRange(1, 12).Draw(t, "h")
			l.SetSize(w, h)
			for range 50 {
				if r, ok := l.NextRequest(); !ok || f.answer(t, l, r) {
					break
				}
			}
			if rows := l.Draw(w, h, &look.Look{}); len(rows) != h {
				t.Fatalf("%d rows of %d", len(rows), h)
			}
			for i, line := range l.window.lines {
				if want := f.text[line.offset : line.offset+int64(len(line.raw))]; line.raw != want {
					t.Fatalf("line %d at %d is %.20q, the log has %.20q", i, line.offset, line.raw, want)
				}
			}
		}
	})
}

func FuzzLogLineIsSafeAndFits(f *testing.F) {
	f.Add("\x1b[38;2;1;2;3mx\x1b[0m\x1b]8;;x\x07 \u202eabc\r\x00", 10, true)
	f.Add("a\u0301\u200d\xf0\x9f", 3, false)
	f.Fuzz(func(t *testing.T, line string, w int, terminal bool) {
		w = max(min(w, 200), 1)
		line = strings.ReplaceAll(line, "\n", "")
		served, l := &fakeLog{text: line + "\n"}, New("1", "", map[bool]api.Kind{true: api.KindSession, false: api.KindProcess}[terminal])
		for _, wrap := range []bool{false, true} {
			l.format.wrap = wrap
			l.SetSize(w, 5)
			served.answerAll(t, l)
			for _, row := range l.Draw(w, 5, &look.Look{Glyphs: themes.UnicodeGlyphs()}) {
				plain := ansi.Strip(row)
				if strings.ContainsFunc(plain, func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }) {
					t.Fatalf("%q has a control character", plain)
				}
				if got := text.Width(row); got != w {
					t.Fatalf("%q takes %d cells of %d", row, got, w)
				}
			}
		}
	})
}

func BenchmarkDrawLogAllNew(b *testing.B) {
	f, l := &fakeLog{text: numberedLines(10_000)}, New("1", "", api.KindProcess)
	look := &look.Look{Bad: "\x1b[31m", Glyphs: themes.UnicodeGlyphs()}
	l.SetSize(200, 40)
	f.answerAll(b, l)
	line := strings.Repeat("2026-11-20 ERROR something \x1b[32mgreen\x1b[0m happened ", 3) + "\n"
	page := strings.Repeat(line, 40)
	for b.Loop() {
		f.text = f.text[max(len(f.text)-1<<20, 0):] + page
		l.window.spans[0].to, l.window.lines = int64(len(f.text)-len(page)), nil
		f.answerAll(b, l)
		l.Draw(200, 40, look)
	}
}

func TestToggleTimesShowsTimesBeforeLines(t *testing.T) {
	f, l := &fakeLog{text: "old\na line that is too long for it\nnew\n"}, New("1", "", api.KindProcess)
	now := time.Now()
	f.times = []api.LogTime{{Offset: 4, At: now}, {Offset: 35, At: now.Add(-48 * time.Hour)}}
	plain := f.drawLog(t, l, 30, 4)
	l.ToggleTimes()
	l.ToggleWrap()
	clock, day := now.Format(time.TimeOnly), now.Add(-48*time.Hour).Format("_2 Jan")
	panestest.CompareRows(t, f.drawLog(t, l, 30, 4), []string{"         old", clock + " a line that is too lo", "         ng for it", day + "   new"})
	l.ToggleTimes()
	l.ToggleWrap()
	panestest.CompareRows(t, f.drawLog(t, l, 30, 4), plain)
}

func TestGoToShowsALineFarFromTheEnd(t *testing.T) {
	f := &fakeLog{text: numberedLines(100_000)}
	for name, first := range map[string]bool{"before the log is read": true, "after the log is read": false} {
		l := New("1", "", api.KindProcess)
		l.SetSize(80, 9)
		if !first {
			f.answerAll(t, l)
		}
		for _, line := range []string{"line 41234", "line 41236", "line 99"} {
			l.GoTo(int64(strings.Index(f.text, line+"\n")), "", regexp.MustCompile("^"+line+"$"))
			f.answerAll(t, l)
			rows := f.drawLog(t, l, 80, 9)
			if !slices.Contains(rows, line) || l.Following() {
				t.Errorf("%s: %s is not shown: %q", name, line, rows)
			}
		}
	}
}
