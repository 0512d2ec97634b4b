package passthrough

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// acts lists sequences that make a terminal do more than display something, and what the filter
// passes of each.
var acts = [...]struct{ in, want string }{
	{"\x1b]9;9;/tmp\a", ""}, {"\x1b]9;1;500\a", ""}, {"\x1b]9;4;7;50\a", ""}, {"\x1b]9;4;1;x\a", ""}, {"\x1b]9;4\a", ""}, {"\x1b]9;\a", ""}, // the desktop
	{"\x1b]99;i=1:p=?;\a", ""}, {"\x1b]99;i=1:p=close;\a", ""}, {"\x1b]99;hello\a", ""}, {"\x1b]777;precmd\a", ""}, {"\x1b]9;" + strings.Repeat("x", 2000) + "\a", ""},
	{"\x1b]1337;File=name=YQ==;inline=1:QUJD\a", ""}, {"\x1b]1337;MultipartFile=a\a", ""}, {"\x1b]1337;SetMark\a", ""},
	{"\x1b]1337;CurrentDir=/tmp\a", ""}, {"\x1b]7;file://host/tmp\a", ""}, {"\x1b]133;A\a", ""}, {"\x1b]633;E;rm\a", ""},
	{"\x1b]5;0;red\a", ""}, {"\x1b]\a", ""}, {"\x1b]02;t\a", ""}, {"\x1b]105\a", ""}, {"\x1b]4;256;red\a", ""}, {"\x1b]13;red\a", ""}, {"\x1b]22;hand\a", ""}, {"\x1b]50;font\a", ""},
	{"\x1b_Gt=f,f=100;L2V0Yy9wYXNzd2Q=\x1b\\", ""}, {"\x1b_Ga=T,t=t;L3RtcC9h\x1b\\", ""}, {"\x1b_Gt=s;L2E=\x1b\\", ""}, // files
	{"\x1b_Gt=d,t=f;L2E=\x1b\\", ""}, {"\x1b_G t=f;L2E=\x1b\\", ""}, {"\x1b_Gt =f;L2E=\x1b\\", ""}, {"\x1b_Gt=\x1b\\", ""}, {"\x1b_G0=A;\x1b\\", ""},
	{"\x1b[8;24;80t", ""}, {"\x1b[3;1;1t", ""}, {"\x1b[2t", ""}, {"\x1b[5t", ""}, {"\x1b[9;1t", ""}, {"\x1b[30t", ""}, // the window
	{"\x1b[?40h\x1b[?3h", ""}, {"\x1b[132$|", ""}, {"\x1b[50*|", ""}, {"\x1b[?40;3;25h", "\x1b[?25h"},
	{"\x1b[?1001h\x1b[?9001h\x1b[?5522h", ""}, {"\x1b[5i\x1b[?5i", ""},
	{"\x1b]8;;javascript:alert(1)\x1b\\x\x1b]8;;\x1b\\", "\x1b]8;;\x1b\\x\x1b]8;;\x1b\\"},
	{"\x1b]8;id=1;file:///etc/passwd\ax", "\x1b]8;;\ax"}, {"\x1b]8;;FILE://h/x\ax", "\x1b]8;;\ax"}, {"\x1b]8;;x-apple:y\ax", "\x1b]8;;\ax"},
	{"\x1b]8;;https\u202e://x\ax", "\x1b]8;;https://x\ax"}, {"\x1b]8;;https://é.example\ax", "\x1b]8;;\ax"}, {"\x1b]8;;HTTPS://x\ax", "\x1b]8;;HTTPS://x\ax"},
	{"\x1b]0;\xeb\xb0\v\a", "\x1b]0;\uFFFD\a"}, {"\x1b]2;a\x01b\u202e\u200bc\a", "\x1b]2;abc\a"}, {"\x1b]2;" + strings.Repeat("é", 800) + "\a", "\x1b]2;" + strings.Repeat("é", 512) + "\a"},
	{"\x00\x01\x06\x10\x11\x13\x18\x1a\x1c\x1f\x7f.", "."}, {"\x9b6n\x90\x9d2;a\x9c", strings.Repeat("\uFFFD", 1) + "6n\uFFFD\uFFFD2;a\uFFFD"},
	{"0000\x1f000\x7f00000000\x05", "000000000000000"}, {"\xe2\x82A\xe0\x80\x9b", "\uFFFDA\uFFFD\uFFFD\uFFFD"}, {"\x1b#9\x1b#0\x1b#8", "\x1b#8"},
	{"\x1bP1;2|17/41\x1b\\", ""}, {"\x1b]52;c;?\a", ""}, {"\x1b]52;?;aGk=\a", ""}, {"\x1b]52;?;\a", ""},
}

func TestFilterDropsSequencesThatDoNotDisplay(t *testing.T) {
	for _, c := range acts {
		for _, size := range []int{1, 2, len(c.in)} {
			got, _ := passed(&Filter{MaxClip: testClip}, inPieces([]byte("a"+c.in+"b"), size)...)
			if got != "a"+c.want+"b" {
				t.Errorf("%q in pieces of %d becomes %q, want %q", c.in, size, got, "a"+c.want+"b")
			}
		}
		if got := string(new(Replay).Pass([]byte("a" + c.in + "b"))); got != "a"+c.want+"b" {
			t.Errorf("%q is replayed as %q, want %q", c.in, got, "a"+c.want+"b")
		}
	}
}

func TestFilterPassesNotifications(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b]9;done\a":                               "\x1b]9;done\a",
		"\x1b]9;12 files left\x1b\\":                  "\x1b]9;12 files left\x1b\\",
		"\x1b]9;4;1;50\a":                             "\x1b]9;4;1;50\a",
		"\x1b]9;4;3\a":                                "\x1b]9;4;3\a",
		"\x1b]777;notify;a;b\x1b\\":                   "\x1b]777;notify;a;b\x1b\\",
		"\x1b]99;;hello\x1b\\":                        "\x1b]99;;hello\x1b\\",
		"\x1b]99;i=1:d=0;hello\x1b\\":                 "\x1b]99;i=1:d=0;hello\x1b\\",
		"\x1b]99;i=1:p=body;all\x1b\\":                "\x1b]99;i=1:p=body;all\x1b\\",
		"\x1b]99;i=1:a=report:c=1:s=bell:u=2;x\x1b\\": "\x1b]99;i=1:u=2;x\x1b\\",
	} {
		for _, size := range []int{1, 3, len(in)} {
			if got, _ := passed(&Filter{MaxClip: testClip}, inPieces([]byte("a"+in+"b"), size)...); got != "a"+want+"b" {
				t.Errorf("%q in pieces of %d becomes %q", in, size, got)
			}
		}
		if got := string(new(Replay).Pass([]byte("a" + in + "b"))); got != "ab" {
			t.Errorf("replaying %q gives %q, want %q", in, got, "ab")
		}
	}
}

func TestFilterTracksProgress(t *testing.T) {
	var f Filter
	for _, c := range []struct {
		in   string
		want bool
	}{{"\x1b]9;text\a", false}, {"\x1b]9;4;1;50\a", true}, {"x", true}, {"\x1b]9;4;0\a", false}, {"\x1b]9;4;3\a", true}} {
		if f.Pass([]byte(c.in)); f.Progress != c.want {
			t.Errorf("after %q: Progress is %v", c.in, f.Progress)
		}
	}
	if f.ExpectRepaint(); !f.Progress {
		t.Error("a repaint reset Progress")
	}
}

func TestReplayDropsKeyModesClipboardAndKittyPictures(t *testing.T) {
	for _, in := range []string{
		"\x1b[?1000;1002;1003;1004;1006h", "\x1b[?2004h", "\x1b[?1h", "\x1b[>1u", "\x1b[=5u", "\x1b[<u", "\x1b[>4;2m", "\x1b[?1007h", "\x1b[?12h",
		"\x1b]52;c;aGVsbG8=\a", "\x1b]52;c;\a", "\x1b]52;c;" + strings.Repeat("QUJD", 5000) + "\a", "\x1b_Ga=T,f=100;AAAA\x1b\\",
	} {
		if got := string(new(Replay).Pass([]byte("a" + in + "b"))); got != "ab" {
			t.Errorf("%q is replayed as %q", in, got)
		}
	}
	const shown = "\x1b[?1049h\x1b[?25l\x1b[31mé\x1b[0m\x1bPq~\x1b\\\x1b]11;#000\a\x1b[?2026h\x1b]8;;https://x\a\x1b(0"
	var r Replay
	if got := string(r.Pass([]byte(shown))); got != shown || !r.InAltScreen() || !strings.HasSuffix(r.Reset(), RestColors) {
		t.Errorf("%q is replayed as %q", shown, got)
	}
	if got := string(r.Pass([]byte("\x1bc"))); got != LeaveAlt+RestModes()+RestColors+Home || r.InAltScreen() {
		t.Errorf("a reset is replayed as %q", got)
	}
}

func TestNoClipboardDropsClipboardWrites(t *testing.T) {
	for _, in := range []string{"\x1b]52;c;aGVsbG8=\a", "\x1b]52;c;\a", "\x1b]52;c;" + strings.Repeat("QUJD", 5000) + "\a"} {
		f := Filter{}
		if got, _ := passed(&f, "a"+in+"b"); got != "ab" {
			t.Errorf("%.20q becomes %.20q", in, got)
		}
		f.ExpectRepaint()
		if got, _ := passed(&f, "a"+in+"b"); got != "ab" {
			t.Errorf("%.20q in a repaint becomes %.20q", in, got)
		}
	}
}

// testClip is the longest text for the clipboard in tests, and maxCopy the longest command with it.
const testClip = 6 << 20

var maxCopy = (&Filter{MaxClip: testClip}).maxCopy()

// ST would end the string normally, and the terminal would then copy the part before it. Only CAN
// cancels the string.
func TestCancelledStringsHaveNoEffect(t *testing.T) {
	for _, in := range []string{"\x1b]52;c;aGVs\x18", "\x1b]52;c;aGVs\x1a", "\x1b]52;c;aGVs\x1b[m", "\x1b]52;c;" + strings.Repeat("A", maxCopy+1), "\x1b_Ga=T;AA\x1b[m"} {
		f := Filter{MaxClip: testClip}
		if got, _ := passed(&f, in); strings.Count(got, "\x18") != 1 || strings.HasSuffix(got, stringEnd) {
			t.Errorf("%.20q becomes %.20q … %q", in, got, got[max(len(got)-20, 0):])
		}
	}
}

func TestFilterEndsOverlongStrings(t *testing.T) {
	for in, limit := range map[string]int{"\x1b]52;c;A": maxCopy, "\x1bPq~": maxPicture, "\x1bPq\n": maxPicture, "\x1b_Ga=T;A": maxPicture} {
		f := Filter{MaxClip: testClip}
		chunk := []byte(strings.Repeat(in[len(in)-1:], 1<<20))
		written := 0
		first, _ := f.Pass([]byte(in))
		written += len(first)
		for range limit>>20 + 2 {
			out, _ := f.Pass(chunk)
			written += len(out)
		}
		if last, _ := f.Pass([]byte("\x1b\\b")); written > limit+100 || string(last) != "b" {
			t.Errorf("%q: %d bytes pass, of at most %d, and then %q", in, written, limit, last)
		}
	}
}

// allowed matches everything a filter may pass besides text. It is written independently of the
// filter's own rules.
var allowed = regexp.MustCompile("^(?:" + strings.Join([]string{
	`\x1b\[[0-9:;]*[@A-MPSTXZ^` + "`" + `abdefgmrsu]`,
	`\x1b\[(?:0*4|0*20)(?:;0*4|;0*20)*[hl]`,
	`\x1b\[2[23](?:;[0-9:;]*)?t`,
	`\x1b\[[<=>][0-9:;]*u`, `\x1b\[>(?:4(?:;[0-9:;]*)?)?[mn]`,
	`\x1b\[\?[0-9:;]*[JKW]`, `\x1b\[\?[0-9;]*[hlsr]`,
	`\x1b\[[0-9:;]*(?: [q@A]|!p|"q|\$[xz{vrt]|'[}~]|#[{}pq]|\*x)`,
	`\x1b[6789=>DEHMNOVWno\\]`, `\x1b[()*+./-][0-~]`, `\x1b#[34568]`,
	`\x1b\][012];[^\x00-\x1f\x7f-\x{9f}\x{202a}-\x{202e}\x{2066}-\x{2069}]*(?:\x07|\x1b\\)`,
	`\x1b\]8;(?:;|[!-~]*;(?i:https?|mailto):[!-~]*)(?:\x07|\x1b\\)`,
	`\x1b\](?:4;[0-9]|1[012];)[^?\x00-\x1f\x7f-\x{9f}]*(?:\x07|\x1b\\)`,
	`\x1b\]1(?:04|10|11|12)(?:;[^\x00-\x1f\x7f-\x{9f}]*)?(?:\x07|\x1b\\)`,
	`\x1b\](?:9|777;notify);[^\x00-\x1f\x7f-\x{9f}]*(?:\x07|\x1b\\)`, `\x1b\]99;(?:[idpeou]=[\w.+-]*:?)*;[^\x00-\x1f\x7f-\x{9f}]*(?:\x07|\x1b\\)`,
	`\x1b\]52;[^;?\x00-\x1f\x7f-\x{9f}]*;(?:[^? \x00-\x1f\x7f][ -~]*)?(?:\x07|\x1b\\)`,
	`\x1bP[0-9:;]*q[ -~\r\n]*\x1b\\`,
	`\x1b_G(?:[a-zA-Z]=[0-9-]+,|[b-su-zA-Z]=[ -+--:<-~],|a=[ -+--:<-pr-~],|t=d,)*q=2(?:;[ -~\r\n]*|[\r\n][ -~\r\n]*)?\x1b\\`,
}, "|") + ")")

// denied is what begins the part of a filter's output that is not allowed, or
// the beginning of a sequence at its end; "" if there is none.
func denied(out string) string {
	for out != "" {
		switch c := out[0]; {
		case c == esc:
			n := len(allowed.FindString(out))
			if n == 0 {
				return out
			}
			out = out[n:]
		case c < bel, c > si && c < 0x20, c == del:
			return out
		default:
			r, n := utf8.DecodeRuneInString(out)
			if r == utf8.RuneError && n == 1 || r >= 0x80 && r < 0xa0 {
				return out
			}
			out = out[n:]
		}
	}
	return ""
}

// privateModes are those of a set or reset of modes.
var privateModes = regexp.MustCompile(`\x1b\[\?([0-9;]*)[hlsr]`)

func FuzzFilterPassesNothingDenied(f *testing.F) {
	for _, q := range questions {
		f.Add([]byte("a"+q+"b"), uint8(1), false)
	}
	for i, c := range acts {
		f.Add([]byte("a"+c.in+"b"), uint8(i), i%2 == 0)
	}
	f.Add([]byte("\x1b_Ga=T;AA\x1b\\\x1bPq~\n\x1b\\\x1b]52;c;aGk=\a\x1b]10;red;blue\a\x1b[?1049;25h\x1b[?1049l\x1bc"), uint8(3), true)
	f.Fuzz(func(t *testing.T, p []byte, size uint8, played bool) {
		whole, cut := Filter{MaxClip: testClip, played: played}, Filter{MaxClip: testClip, played: played}
		a, leftA := passed(&whole, string(p))
		b, leftB := passed(&cut, inPieces(p, int(size)%9+1)...)
		if a != b || leftA != leftB {
			t.Fatalf("%q becomes %q, %v; in pieces %q, %v", p, a, leftA, b, leftB)
		}
		if len(cut.held) > maxCommand {
			t.Fatalf("%d bytes are held back", len(cut.held))
		}
		if whole.inside == insidePassed {
			a += stringEnd
		}
		for _, ours := range []string{RestModes() + RestColors, RestModes(), clearedScreen} {
			a = strings.ReplaceAll(a, ours, "")
		}
		if bad := denied(a); bad != "" {
			t.Fatalf("%q becomes %q, which holds %q", p, a, bad)
		}
		for _, modes := range privateModes.FindAllStringSubmatch(a, -1) {
			for mode := range strings.SplitSeq(modes[1], ";") {
				if !whole.passesMode(parseNumber(mode)) && !(played && switchesScreen(parseNumber(mode))) {
					t.Fatalf("%q becomes %q, with mode %s", p, a, mode)
				}
			}
		}
	})
}
