package attach

import (
	"bytes"
	"strings"
	"testing"
)

// passed is what a filter makes of pieces of output up to the first leaving.
func passed(f *filter, pieces ...string) (string, bool) {
	var out bytes.Buffer
	for _, p := range pieces {
		b, left := f.pass([]byte(p))
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
		{"leaving what was not entered", "a\x1b[?1049lb", "ab", false},
		{"reset stays here", "a\x1bcb", "a" + restModes() + home + "\x1b[3Jb", false},
		{"other questions", "\x1b[?1049$p\x1b[?u", "\x1b[?1049$p\x1b[?u", false},
	}
	for _, c := range cases {
		got, left := passed(&filter{}, c.in)
		if got != c.want || left != c.left {
			t.Errorf("%s: %q becomes %q, %v; want %q, %v", c.name, c.in, got, left, c.want, c.left)
		}
	}
}

func TestFilterFindsASwitchInPieces(t *testing.T) {
	const in = "a\x1b[?1049hb\x1b[?25lc\x1b[?1049ld"
	want, _ := passed(&filter{}, in)
	for i := range len(in) {
		for j := i; j < len(in); j++ {
			got, left := passed(&filter{}, in[:i], in[i:j], in[j:])
			if got != want || !left {
				t.Fatalf("cut at %d and %d: %q, %v; want %q", i, j, got, left, want)
			}
		}
	}
}

func TestRepaintOfBothScreensLeavesTheLast(t *testing.T) {
	var f filter
	f.expectRepaint()
	if got, left := passed(&f, "\x1b[?47hother\x1b[?47lmain"); got != clearedScreen+"other"+clearedScreen+"main" || left || f.alt {
		t.Fatalf("the repaint becomes %q, %v", got, left)
	}
}

func TestRepaintSaysWhichScreenIsShown(t *testing.T) {
	var f filter
	f.expectRepaint()
	if got, left := passed(&f, "\x1b[?1049lmain\x1b[?1049halt"); got != clearedScreen+"main"+clearedScreen+"alt" || left {
		t.Fatalf("the repaint becomes %q, %v", got, left)
	}
	if got, left := passed(&f, "x\x1b[?1049l"); got != "x" || !left {
		t.Fatalf("what follows becomes %q, %v", got, left)
	}
}

func TestFilterNoticesKeysAsEscapeCodes(t *testing.T) {
	for _, on := range []string{"\x1b[>1u", "\x1b[=5;1u", "\x1b[>4;2m"} {
		var f filter
		passed(&f, on)
		if !f.extended {
			t.Errorf("%q is not noticed", on)
		}
	}
	var f filter
	passed(&f, "\x1b[1m\x1b[u\x1b[?25h")
	if f.extended {
		t.Error("colours are taken for a keyboard protocol")
	}
}

func FuzzFilter(f *testing.F) {
	f.Add([]byte("a\x1b[?1049hb\x1b[?1049lc"), uint8(3))
	f.Add([]byte("\x1bc\x1b[>1u\x1b[?1;47;25l\x1b[?99999999999999999999h"), uint8(1))
	f.Add([]byte("\x1b[?\x1b[?\xff1049h"), uint8(2))
	f.Fuzz(func(t *testing.T, p []byte, size uint8) {
		n := int(size)%9 + 1
		var pieces []string
		for rest := p; len(rest) > 0; rest = rest[min(n, len(rest)):] {
			pieces = append(pieces, string(rest[:min(n, len(rest))]))
		}
		var whole, cut filter
		a, leftA := passed(&whole, string(p))
		b, leftB := passed(&cut, pieces...)
		if leftA != leftB || !leftA && a+string(whole.held) != b+string(cut.held) || leftA && a != b {
			t.Fatalf("%q becomes %q, %v; in pieces of %d %q, %v", p, a, leftA, n, b, leftB)
		}
		if len(cut.held) > filterLimit {
			t.Fatalf("%d bytes are held back", len(cut.held))
		}
		for _, s := range []string{"\x1b[?1049h", "\x1b[?1049l", "\x1b[?47l"} {
			if strings.Contains(a, s) {
				t.Fatalf("%q becomes %q, which switches the screen", p, a)
			}
		}
	})
}
