package terminal

import (
	"fmt"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/screen/vt"
	"tandem/tests/seed"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// findIn searches a session as session.find does.
func findIn(t testing.TB, s *Session, in api.SessionFindInput) api.SessionFindOutput {
	f := finder{session: s, from: in.From, backward: in.Backward, wrap: in.Wrap}
	switch in.Mark {
	case api.MarkedPrompt:
		f.mark = vt.MarkPrompt
	case api.MarkedOutput:
		f.mark = vt.MarkOutput
	default:
		if err := f.setPattern(in.Pattern); err != nil {
			t.Fatal(err)
		}
	}
	out, err := f.find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// copyOf returns the text between two positions, as session.text does.
func copyOf(t testing.TB, s *Session, in api.SessionTextInput) string {
	if in.Max == 0 {
		in.Max = maxText
	}
	var text strings.Builder
	for {
		out, err := textBetween(t.Context(), s, in)
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(out.Text)
		if out.Next == nil {
			return text.String()
		}
		in.From = *out.Next
	}
}

// shown20 returns a session with a terminal of 20 columns and 5 rows that has printed text.
func shown20(t *testing.T, text string) (*Session, *memoryLog) {
	l := &memoryLog{}
	s := memorySession(t, l)
	s.output(l, strings.ReplaceAll(text, "\n", "\r\n"))
	if err := s.onScreen(t.Context(), func(Emulator) { s.screen.catchUp() }); err != nil {
		t.Fatal(err)
	}
	return s, l
}

func match(line int64, from, to int) *api.SessionMatch {
	return &api.SessionMatch{From: api.Place{Line: line, Cell: from}, To: api.Place{Line: line, Cell: to}}
}

func TestFindSearchesScrollbackAndScreenBothWays(t *testing.T) {
	s, _ := shown20(t, "one foo\ntwo\nthree foo foo\nfour\n漢字 Foo\nsix\nseven\nlast foo")
	text := func(p string) api.Pattern { return api.Pattern{Text: p} }
	tests := []struct {
		name string
		in   api.SessionFindInput
		want api.SessionFindOutput
	}{
		{"below", api.SessionFindInput{Pattern: text("foo"), From: api.Place{Line: 0, Cell: 4}},
			api.SessionFindOutput{Match: match(2, 6, 9), Number: 2, Total: 5}},
		{"above", api.SessionFindInput{Pattern: text("foo"), From: api.Place{Line: 2, Cell: 10}, Backward: true},
			api.SessionFindOutput{Match: match(2, 6, 9), Number: 2, Total: 5}},
		{"behind wide characters", api.SessionFindInput{Pattern: text("foo"), From: api.Place{Line: 3}},
			api.SessionFindOutput{Match: match(4, 5, 8), Number: 4, Total: 5}},
		{"wide characters", api.SessionFindInput{Pattern: text("字"), From: api.Place{Line: 3}},
			api.SessionFindOutput{Match: match(4, 2, 4), Number: 1, Total: 1}},
		{"none below", api.SessionFindInput{Pattern: text("one"), From: api.Place{Line: 3}},
			api.SessionFindOutput{Total: 1}},
		{"on from the top", api.SessionFindInput{Pattern: text("one"), From: api.Place{Line: 3}, Wrap: true},
			api.SessionFindOutput{Match: match(0, 0, 3), Number: 1, Total: 1}},
		{"on from the bottom", api.SessionFindInput{Pattern: text("foo"), Backward: true, Wrap: true},
			api.SessionFindOutput{Match: match(7, 5, 8), Number: 5, Total: 5}},
		{"upper case counts where it is asked for", api.SessionFindInput{Pattern: text("Foo")},
			api.SessionFindOutput{Match: match(4, 5, 8), Number: 1, Total: 1}},
		{"plain text is no expression", api.SessionFindInput{Pattern: text("f.o")},
			api.SessionFindOutput{}},
		{"an expression", api.SessionFindInput{Pattern: api.Pattern{Text: `\w+ f.o$`, Regexp: true}, From: api.Place{Line: 4}},
			api.SessionFindOutput{Match: match(7, 0, 8), Number: 3, Total: 3}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, findIn(t, s, tt.in)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func TestFindTreatsAWrappedLineAsOne(t *testing.T) {
	s, _ := shown20(t, "0123456789 and a nee"+"dle\nx\n\n\n\n\n\n")
	want := api.SessionFindOutput{Match: &api.SessionMatch{From: api.Place{Line: 0, Cell: 17}, To: api.Place{Line: 1, Cell: 3}}, Number: 1, Total: 1}
	if d := cmp.Diff(want, findIn(t, s, api.SessionFindInput{Pattern: api.Pattern{Text: "needle"}})); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestFindSearchesALongScrollback(t *testing.T) {
	var b strings.Builder
	for i := range 3 * findBatch {
		fmt.Fprintf(&b, "row %d\n", i)
	}
	l := &memoryLog{}
	s := newMemorySession(t, l, func(o *testOptions) {
		o.Terminal = func(o vt.Options) Emulator {
			o.ScrollbackLines = 100_000
			return vt.New(o)
		}
	})
	s.output(l, strings.ReplaceAll(b.String(), "\n", "\r\n"))
	s.onScreen(t.Context(), func(Emulator) { s.screen.catchUp() })
	out := findIn(t, s, api.SessionFindInput{Pattern: api.Pattern{Text: fmt.Sprintf("row %d", 3*findBatch-5)}})
	if out.Match == nil || out.Match.From.Line != 3*findBatch-5 || out.Total != 1 {
		t.Errorf("found %+v", out)
	}
	whole := copyOf(t, s, api.SessionTextInput{To: api.Place{Line: 1 << 40}, Max: 5000})
	if got := strings.TrimRight(whole, "\n") + "\n"; got != b.String() {
		t.Errorf("%d bytes became %d", b.Len(), len(got))
	}
}

func TestFindLocatesPromptsAndOutputsAfterAResize(t *testing.T) {
	command := "\x1b]133;A\a$ \x1b]133;B\arun a long command line\n\x1b]133;C\aout\nput\n\x1b]133;D;1\a"
	s, _ := shown20(t, command+"\x1b]133;A\a$ \x1b]133;B\atrue\n\x1b]133;C\a\x1b]133;D;0\a\x1b]133;A\a$ ")
	next := func(mark string, line int64, backward bool) int64 {
		out := findIn(t, s, api.SessionFindInput{Mark: mark, From: api.Place{Line: line}, Backward: backward})
		if out.Match == nil {
			return -1
		}
		return out.Match.From.Line
	}
	check := func(name string, want ...int64) {
		t.Helper()
		got := []int64{next("prompt", -1, false), next("prompt", want[0], false), next("prompt", want[1], false),
			next("prompt", want[1], true), next("output", 0, false), next("output", want[4], false), next("prompt", want[2], false)}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got)\n%s", name, d)
		}
	}
	check("as printed", 0, 4, 5, 0, 2, 5, -1)
	s.onScreen(t.Context(), func(Emulator) { s.screen.setSize(40, 5) })
	check("wider", 0, 3, 4, 0, 1, 4, -1)
}

func TestTextIsJoinedTrimmedAndCutToColumns(t *testing.T) {
	s, _ := shown20(t, "a line that is longer than the screen  \n  two   \x1b[41m   \x1b[m\n\n漢字漢字 x\nend")
	tests := []struct {
		name string
		in   api.SessionTextInput
		want string
	}{
		{"wrapped lines are one", api.SessionTextInput{From: api.Place{Line: 0, Cell: 2}, To: api.Place{Line: 2, Cell: 5}}, "line that is longer than the screen\n  two"},
		{"whole lines end with a line end", api.SessionTextInput{From: api.Place{Line: 2}, To: api.Place{Line: 4}}, "  two\n\n"},
		{"blanks inside a line stay", api.SessionTextInput{From: api.Place{Line: 0}, To: api.Place{Line: 0, Cell: 7}}, "a line "},
		{"blanks behind the text do not", api.SessionTextInput{From: api.Place{Line: 2}, To: api.Place{Line: 2, Cell: 9}}, "  two"},
		{"a wide character that is cut is whole", api.SessionTextInput{From: api.Place{Line: 4, Cell: 1}, To: api.Place{Line: 4, Cell: 5}}, "漢字漢"},
		{"block", api.SessionTextInput{From: api.Place{Line: 2, Cell: 7}, To: api.Place{Line: 5, Cell: 1}, Block: true}, " two\n\n漢字漢字\nnd"},
		{"to the end and beyond", api.SessionTextInput{From: api.Place{Line: 5}, To: api.Place{Line: 1000}}, "end\n"},
		{"nothing", api.SessionTextInput{From: api.Place{Line: 3}, To: api.Place{Line: 3}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := copyOf(t, s, tt.in); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// The columns of a match are those of its text, whatever was printed.
func TestMatchesReportTheColumnsOfTheirText(t *testing.T) {
	seed.Check(t, func(rt *rapid.T) {
		term := vt.New(vt.Options{Cols: rapid.IntRange(2, 12).Draw(rt, "cols"), Rows: rapid.IntRange(1, 4).Draw(rt, "rows"), ScrollbackLines: 20})
		text := rapid.StringOf(rapid.SampledFrom([]rune("aab 漢é\u0301👩\r\n\x1b[m"))).Draw(rt, "text")
		term.Write([]byte(text))
		term.Resize(rapid.IntRange(1, 14).Draw(rt, "new"), 3)
		re, _ := api.Pattern{Text: rapid.SampledFrom([]string{"a+", "[a漢] ?b?", "é?.", "ab"}).Draw(rt, "re"), Regexp: true}.Compile()
		oldest, _, end := term.Bounds()
		var b textBlock
		b.fillFrom(term, oldest, end)
		b.eachMatch(re, nil, func(from, to spot) {
			first, _ := term.CellAt(from.row, from.offset)
			_, last := term.CellAt(to.row, to.offset-1)
			r := textReader{in: api.SessionTextInput{
				From: api.Place{Line: from.row, Cell: first},
				To:   api.Place{Line: to.row, Cell: last},
				Max:  maxText,
			}, next: from.row}
			r.readRows(term)
			if got := string(r.text); !re.MatchString(got) {
				rt.Fatalf("from %v to %v is %q", from, to, got)
			}
		})
	})
}

func TestViewersPlacesMoveWithTheirText(t *testing.T) {
	s, _ := shown20(t, "a long line of thirty characters\nb\nc\nd\ne\nf\ng\nh")
	v := newViewer(api.AttachOptions{})
	s.viewers.add(v)
	s.viewers.setPlaces(v, []api.Place{{Line: 1, Cell: 3}, {Line: 2}, {Line: 8}})
	s.onScreen(t.Context(), func(Emulator) { s.screen.setSize(40, 5) })
	want := []api.Place{{Line: 0, Cell: 23}, {Line: 1}, {Line: 7}}
	if d := cmp.Diff(want, s.viewers.placesOf(v)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	s.onScreen(t.Context(), func(Emulator) { s.screen.setSize(10, 3) })
	s.onScreen(t.Context(), func(Emulator) { s.screen.setSize(20, 5) })
	want = []api.Place{{Line: 1, Cell: 3}, {Line: 2}, {Line: 8}}
	if d := cmp.Diff(want, s.viewers.placesOf(v)); d != "" {
		t.Errorf("and back (-want +got)\n%s", d)
	}
}
