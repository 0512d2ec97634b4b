package passthrough

import (
	"bytes"
	"strings"
	"testing"
)

// passed returns what a filter makes of pieces of output, and whether the program left its
// alternate screen. It stops at the piece in which that happens.
func passed(f *Filter, pieces ...string) (string, bool) {
	var out bytes.Buffer
	for _, p := range pieces {
		b, left := f.Pass([]byte(p))
		out.Write(b)
		if left {
			return out.String(), true
		}
	}
	return out.String(), false
}

func TestFilterKeepsTheSessionOnOneScreen(t *testing.T) {
	cases := []struct {
		name, in, want string
		left           bool
	}{
		{"text passes", "plain \x1b[31mred\x1b[0m é\x1b]0;title\x07", "plain \x1b[31mred\x1b[0m é\x1b]0;title\x07", false},
		{"other modes pass", "\x1b[?25l\x1b[?2004h", "\x1b[?25l\x1b[?2004h", false},
		{"entering clears", "a\x1b[?1049hb", "a" + clearedScreen + "b", false},
		{"leaving is told", "\x1b[?1049hvim\x1b[?1049lshell", clearedScreen + "vim", true},
		{"old switches", "\x1b[?47hx\x1b[?1047l", clearedScreen + "x", true},
		{"modes beside it stay", "\x1b[?1;1049;25h", "\x1b[?1;25h" + clearedScreen, false},
		{"leaving what was not entered", "a\x1b[?47lb", "ab", false},
		{"leaving what was not entered restores the cursor", "a\x1b[?1049;25lb", "a\x1b[?25l\x1b8b", false},
		{"reset stays here", "a\x1bcb", "a" + RestModes() + KeptModes + Tells + Home + "\x1b[3J\x1b7b", false},
		{"the focus is the viewer's", "\x1b[?1000;1004h\x1b[?1004l", "\x1b[?1000h", false},
		{"questions do not pass", "a\x1b[?1049$p\x1b[?ub", "ab", false},
	}
	for _, c := range cases {
		got, left := passed(&Filter{MaxClip: testClip}, c.in)
		if got != c.want || left != c.left {
			t.Errorf("%s: %q becomes %q, %v; want %q, %v", c.name, c.in, got, left, c.want, c.left)
		}
	}
}

func TestNoPixelsReplacesPixelMouseByCellMouse(t *testing.T) {
	f := Filter{MaxClip: testClip, NoPixels: true}
	for _, c := range []struct {
		in, want string
		pixels   bool
	}{
		{"\x1b[?1002;1016h", "\x1b[?1002;1006h", true}, {"\x1b[?11016h", "", true}, {"\x1b[?1016l", "\x1b[?1006l", false},
		{"\x1b[?1016h\x1b[?1006h", "\x1b[?1006h\x1b[?1006h", false}, {"\x1b[?1016;1049h", "\x1b[?1006h" + clearedScreen, true},
	} {
		if got, _ := passed(&f, c.in); got != c.want || f.Pixels != c.pixels {
			t.Errorf("%q becomes %q, %v; want %q, %v", c.in, got, f.Pixels, c.want, c.pixels)
		}
	}
	var able Filter
	if got, _ := passed(&able, "\x1b[?1016h"); got != "\x1b[?1016h" || !able.Pixels {
		t.Errorf("for one that can it becomes %q", got)
	}
}

func TestRedrawDropsPicturesAndContinuesAfterASwitch(t *testing.T) {
	for _, c := range []struct {
		in, want string
		switched bool
	}{
		{"a\x1bPq~\x1b\\b", "ab", false}, {"a\x1b_Ga=T;AAAA\x1b\\b", "ab", false}, {"a\x1b[31mb", "a\x1b[31mb", false},
		{"\x1b[?1049ha\x1b[?1049lb", clearedScreen + "ab", true}, {"a\x1b[?47lb", "ab", true},
	} {
		for n := range c.in {
			f := Filter{MaxClip: testClip, redrawn: true}
			var got string
			switched := false
			for _, p := range []string{c.in[:n], c.in[n:]} {
				out, now := f.Pass([]byte(p))
				got, switched = got+string(out), switched || now
			}
			if got != c.want || switched != c.switched {
				t.Errorf("%q cut at %d becomes %q, %v; want %q, %v", c.in, n, got, switched, c.want, c.switched)
			}
		}
	}
}

func TestRepaintCanSplitASequence(t *testing.T) {
	var f Filter
	first, _ := f.Pass([]byte("a\x1b[3"))
	got := string(first) + string(f.Repaint([]byte("\x1b[?1049lscreen\x1b[?1049hother")))
	last, left := f.Pass([]byte("1mb"))
	if got += string(last); got != "a"+clearedScreen+"screen"+clearedScreen+"other\x1b[31mb" || left || !f.Alt {
		t.Errorf("it becomes %q, %v with %+v", got, left, f)
	}
}

func TestFilterRecordsPayload(t *testing.T) {
	for in, want := range map[string]bool{
		"text\x1b[1m": false, "\x1b]2;title\a": false, "\x1b]52;c;aGk=\a": true, "\x1bPq~\x1b\\": true, "\x1b_Ga=T,f=100;AAAA\x1b\\": true,
	} {
		f := Filter{MaxClip: testClip}
		if f.Pass([]byte(in)); f.Payload != want {
			t.Errorf("%q: %v, want %v", in, f.Payload, want)
		}
	}
}

func TestFilterRecordsPictureProtocols(t *testing.T) {
	for in, want := range map[string][2]bool{
		"\x1b_Ga=T,f=100;AAAA\x1b\\": {true, false}, "\x1b_Gf=100,i=1;AAAA\x1b\\": {true, false}, "\x1b_Ga=p,i=1\x1b\\": {true, false},
		"\x1bP0;1q~\x1b\\": {false, true}, "\x1b_Ga=q,i=1;AAAA\x1b\\": {}, "\x1b_Ga=d\x1b\\": {}, "\x1b_Gt=f;L2E=\x1b\\": {}, "\x1bP$qm\x1b\\": {}, "text": {},
	} {
		for _, f := range []*Filter{{MaxClip: testClip}, {MaxClip: testClip, played: true}, {MaxClip: testClip, redrawn: true}} {
			passed(f, in)
			f.ExpectRepaint()
			if got := [2]bool{f.Kitty, f.Sixel}; got != want {
				t.Errorf("%q: %v, want %v", in, got, want)
			}
		}
	}
}

func TestFilterDetectsASwitchInPieces(t *testing.T) {
	const in = "a\x1b[?1049hb\x1b[?25lc\x1b[?1049ld"
	want, _ := passed(&Filter{MaxClip: testClip}, in)
	for i := range len(in) {
		for j := i; j < len(in); j++ {
			got, left := passed(&Filter{MaxClip: testClip}, in[:i], in[i:j], in[j:])
			if got != want || !left {
				t.Fatalf("cut at %d and %d: %q, %v; want %q", i, j, got, left, want)
			}
		}
	}
}

func TestRepaintOfBothScreensLeavesTheLastOneShown(t *testing.T) {
	var f Filter
	f.ExpectRepaint()
	if got, left := passed(&f, "\x1b[?47hother\x1b[?47lmain"); got != clearedScreen+"other"+clearedScreen+"main" || left || f.Alt {
		t.Fatalf("the repaint becomes %q, %v", got, left)
	}
}

func TestRepaintReportsTheShownScreen(t *testing.T) {
	var f Filter
	f.ExpectRepaint()
	if got, left := passed(&f, "\x1b[?1049lmain\x1b[?1049halt"); got != clearedScreen+"main"+clearedScreen+"alt" || left {
		t.Fatalf("the repaint becomes %q, %v", got, left)
	}
	if got, left := passed(&f, "x\x1b[?1049l"); got != "x" || !left {
		t.Fatalf("what follows becomes %q, %v", got, left)
	}
}

func TestFilterRecordsExtendedKeys(t *testing.T) {
	for _, on := range []string{"\x1b[>1u", "\x1b[=5;1u", "\x1b[>4;2m"} {
		var f Filter
		passed(&f, on)
		if !f.Extended {
			t.Errorf("%q is not noticed", on)
		}
	}
	var f Filter
	passed(&f, "\x1b[1m\x1b[u\x1b[?25h")
	if f.Extended {
		t.Error("colours are taken for a keyboard protocol")
	}
}

// inPieces cuts p into pieces of n bytes.
func inPieces(p []byte, n int) []string {
	var pieces []string
	for rest := p; len(rest) > 0; rest = rest[min(n, len(rest)):] {
		pieces = append(pieces, string(rest[:min(n, len(rest))]))
	}
	return pieces
}

func FuzzFilter(f *testing.F) {
	f.Add([]byte("a\x1b[?1049hb\x1b[?1049lc"), uint8(3))
	f.Add([]byte("\x1bc\x1b[>1u\x1b[?1;47;25l\x1b[?99999999999999999999h"), uint8(1))
	f.Add([]byte("\x1b[?\x1b[?\xff1049h"), uint8(2))
	f.Add([]byte("\x1b[?10\n49h\x05\xc2\x9b6n\xc2\xa0\x1b[6\x18n\x1b\x1b[c"), uint8(1))
	f.Add([]byte("\x1b]4;1;red;2;?\a\x1b]10;?;#fff\x1b\\\x1b]52;c;?\a\x1b]52;c;aGk=\xc2\x9c\a\x1b]11;?\x18"), uint8(4))
	f.Add([]byte("\x1bP1;2q#0\n~\x1b\\\x1bP$qm\x1b\\\x1b_Ga=q,i=1;AA\x1b\\\x1b_Ga=T,q=1;AA\x1b[c\x1bX\x1b[c\x1b\\"), uint8(5))
	f.Add([]byte("\x1b["+strings.Repeat("1;", 300)+"mx\x1b]2;"+strings.Repeat("title", 2000)+"\a"), uint8(7))
	f.Fuzz(func(t *testing.T, p []byte, size uint8) {
		n := int(size)%9 + 1
		var whole, cut Filter
		a, leftA := passed(&whole, string(p))
		b, leftB := passed(&cut, inPieces(p, n)...)
		if a != b || leftA != leftB || !leftA && (string(whole.held) != string(cut.held) || whole.inside != cut.inside) {
			t.Fatalf("%q becomes %q, %v; in pieces of %d %q, %v", p, a, leftA, n, b, leftB)
		}
		if len(cut.held) > maxCommand {
			t.Fatalf("%d bytes are held back", len(cut.held))
		}
		for _, s := range []string{"\x1b[?1049h", "\x1b[?1049l", "\x1b[?47l", "\x1b[c", "\x1b[6n", "\x1b[?u", "\x1b[?2048h", "\x05"} {
			if strings.Contains(a, s) {
				t.Fatalf("%q becomes %q, which holds %q", p, a, s)
			}
		}
		var redrawn, cutRedrawn Filter
		redrawn.Redraw()
		cutRedrawn.Redraw()
		all, _ := redrawn.Pass(p)
		var joined []byte
		for _, piece := range inPieces(p, n) {
			out, _ := cutRedrawn.Pass([]byte(piece))
			joined = append(joined, out...)
		}
		if string(all) != string(joined) || strings.Contains(string(all), "\x1b_") || strings.Contains(string(all), "\x1bP") {
			t.Fatalf("redrawn, %q becomes %q; in pieces of %d %q", p, all, n, joined)
		}
		if leftA || len(whole.held) > 0 || whole.inside != insideNothing || strings.Contains(a, RestModes()) {
			return
		}
		var again Filter
		if twice, _ := passed(&again, a); twice != a {
			t.Fatalf("%q becomes %q, and that %q", p, a, twice)
		}
	})
}
