package passthrough

import (
	"strings"
	"testing"

	"tandem/tests/seed"
)

// questions lists sequences that make a terminal send a reply, now or at a later event.
var questions = [...]string{
	"\x05",                                                                              // answerback
	"\x1bZ", "\u009a", "\x1b[c", "\x1b[0c", "\x1b[>c", "\x1b[>0c", "\x1b[=c", "\u009bc", // device attributes
	"\x1b[5n", "\x1b[6n", "\x1b[?6n", "\x1b[?15n", "\x1b[?996n", "\u009b6n", // device status
	"\x1b[4$p", "\x1b[?2026$p", // DECRQM
	"\x1b[>q", "\x1b[>0q", // XTVERSION
	"\x1b[?u", "\x1b[?4m", "\x1b[?1;1;0S", // keyboard and graphics
	"\x1b[x", "\x1b[1x", "\x1b[1;1;1;1;1;1*y", "\x1b[1$w", "\x1b[1$u", "\x1b[&u", "\x1b[+x", "\x1b[1\"v", // reports of DEC terminals
	"\x1b[11t", "\x1b[13t", "\x1b[14t", "\x1b[14;2t", "\x1b[15t", "\x1b[16t", "\x1b[18t", "\x1b[19t", "\x1b[20t", "\x1b[21t", // window
	"\x1b['|", "\x1b[1;2'z", "\x1b[?1001h", "\x1b[1;2;3;4;5T", // locator, highlight tracking
	"\x1b[?2031h", "\x1b[?2048h", "\x1b[?2031;2048h", "\x1b[?5522h", "\x1b[?9001h", // notifications, other keys
	"\x1b[>1t", "\x1b[>2;1m", "\x1b[4i", "\x1b[?26n",
	"\x1b G", "\x1b%@", "\x1b[2h", "\x1b[12h",
	"\x1b]4;1;?\a", "\x1b]4;1;?;2;?\x1b\\", "\x1b]5;0;?\a", "\x1b]10;?\a", "\x1b]11;?\x1b\\", "\x1b]12;?\a", "\x1b]10;?;?;?\a",
	"\x1b]13;?\a", "\x1b]17;?\a", "\x1b]19;?\a", "\u009d11;?\a", "\x1b]11;?\u009c\x1b\\", "\x1b]1\x011;?\a",
	"\x1b]3;?x\a", "\x1b]21;foreground=?\a", "\x1b]22;?__current__\a", "\x1b]50;?\a", "\x1b]52;c;?\a", "\x1b]52;;?\x1b\\", "\x1b]52;c;\x01?\a",
	"\x1b]60\a", "\x1b]61\a", "\x1b]99;i=1:p=?;\a", "\x1b]1337;ReportCellSize\a", "\x1b]1337;ReportVariable=bmFtZQ==\a",
	"\x1b]1337;Capabilities\a", "\x1b]1337;RequestUpload=format=tgz\a", "\x1b]5522;type=read;Lg==\x1b\\",
	"\x1bP$qm\x1b\\", "\x1bP$q q\x1b\\", "\x1bP+q544e\x1b\\", "\x1bP=1s\x1b\\", "\x1bP1$tx\x1b\\", "\x1bP@kitty-cmd{\"cmd\":\"ls\"}\x1b\\",
	"\x1bPtmux;\x1b\x1b[c\x1b\\", "\u0090$qm\x1b\\",
	"\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\", "\x1b_Ga=q\x1b\\", "\x1b^x\x1b\\", "\x1bXx\x1b\\", "\x1b_other\x1b\\",
}

// shown returns the filter's output without the harmless rests of a query: string terminators, and
// "[c" shown as text.
func shown(out string) string {
	return strings.ReplaceAll(strings.ReplaceAll(out, "\x1b\\", ""), "[c", "")
}

func TestFilterDropsQueries(t *testing.T) {
	for _, q := range questions {
		if got, _ := passed(&Filter{MaxClip: testClip}, "a"+q+"b"); shown(got) != "ab" {
			t.Errorf("%q becomes %q", q, got)
		}
		if got := string(new(Replay).Pass([]byte("a" + q + "b"))); shown(got) != "ab" {
			t.Errorf("%q is replayed as %q", q, got)
		}
		if got, _ := passed(&Filter{MaxClip: testClip}, inPieces([]byte("a"+q+"b"), 1)...); shown(got) != "ab" {
			t.Errorf("%q in pieces becomes %q", q, got)
		}
	}
}

func TestFilterDropsAQueryInsideAnotherSequence(t *testing.T) {
	cases := []struct{ in, want string }{
		{"\x1b[6\nn", "\n"},
		{"\x1b[\x05\a6n", "\a"},
		{"\x1b[?25\x1b[6nl", "l"},
		{"\x1b[0=A.", "."},
		{"\x1b[3\nA", "\n\x1b[3A"},
		{"\x1b[?10\n49h", "\n" + clearedScreen},
		{"\xc2\x1b[c\x9b6n", "\uFFFD\uFFFD6n"},
		{"\x1b]2;a\xc2\x01\x9b6n\a", "\x1b]2;a\uFFFD\uFFFD6n\a"},
		{"\x1b]2;a\u009c\u009b6n\a", "\x1b]2;a6n\a"},
		{"\x1bPq#0\u009c\u009b6n\x1b\\", "\x1bPq#06n\x1b\\"},
		{"\x1bPq#0\x1b[6n~", "\x1bPq#0\x18~"},
		{"\x1b]2;lost\x1b[6n", ""},
		{"\x1b[" + strings.Repeat("0;", 400) + "c.", "."},
		{"\x1b]11;" + strings.Repeat(" ", maxCommand) + "?\a.", "."},
		{"\x1b[?25;2048;1049;2004h", "\x1b[?25;2004h" + clearedScreen},
	}
	for _, c := range cases {
		if got, _ := passed(&Filter{MaxClip: testClip}, c.in); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.in, got, c.want)
		}
	}
}

func TestFilterKeepsColourChangesNextToQueries(t *testing.T) {
	cases := []struct{ in, want string }{
		{"\x1b]4;1;red;2;?;3;#123456\a", "\x1b]4;1;red;3;#123456\a"},
		{"\x1b]10;?;#fff;?\x1b\\", "\x1b]11;#fff\x1b\\"},
		{"\x1b]10;#000;?;#fff\a", "\x1b]10;#000\x1b\\\x1b]12;#fff\a"},
		{"\x1b]10;#000;#111;#222\a", "\x1b]10;#000;#111;#222\a"},
		{"\x1b_Ga=T,f=100,i=7,q=1;AAAA\x1b\\", "\x1b_Ga=T,f=100,i=7,q=2;AAAA\x1b\\"},
		{"\x1b_Gm=0;AAAA\x1b\\", "\x1b_Gm=0,q=2;AAAA\x1b\\"},
		{"\u009b31mred\u009d2;title\a\u008d", "\x1b[31mred\x1b]2;title\a\x1bM"},
		{"\x1b[61;1\"p", "\x1b[!p"},
	}
	for _, c := range cases {
		if got, _ := passed(&Filter{MaxClip: testClip}, c.in); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.in, got, c.want)
		}
	}
}

func TestFilterPassesDisplaySequencesUnchanged(t *testing.T) {
	for _, s := range []string{
		"naïve £5 °C 漢字 👩\u200d🚀 \uFFFD\a\b\t\r\n\x0e\x0f", "\x1b7\x1b8\x1bM\x1b(0q\x1b(B\x1b#8\x1b=\x1b>",
		"\x1b[m\x1b[1;38:2::1:2:3;4:3mx\x1b[H\x1b[2J\x1b[3;4H\x1b[K\x1b[2@\x1b[1;5r\x1b[s\x1b[u\x1b[5b",
		"\x1b[2 q\x1b[!p\x1b[1\"q\x1b[1;1;2;2$z\x1b[#{\x1b[#}\x1b[2*x\x1b[2'}\x1b[1 @",
		"\x1b[?1h\x1b[?25l\x1b[?1002;1006h\x1b[?2004h\x1b[?2026h\x1b[?2027h\x1b[4h\x1b[?5W\x1b[?1000s\x1b[?1000r",
		"\x1b[>4;2m\x1b[>4m\x1b[>1u\x1b[<u\x1b[=5;1u\x1b[22;0t\x1b[23;0t\x1b[2T",
		"\x1b]0;title?\a\x1b]2;títle\x1b\\\x1b]8;id=1;https://example.org/?q=1\x1b\\link\x1b]8;;\a\x1b]8;;mailto:a@example.org\a",
		"\x1b]4;1;rgb:ff/00/00\a\x1b]11;#123456\x1b\\\x1b]104\a\x1b]111\a\x1b]52;c;aGVsbG8=\a\x1b]52;c;\a",
		"\x1b_Ga=t,f=100,i=2147483649,m=1,q=2;AAAA\x1b\\\x1b_Ga=p,C=1,i=2147483649,p=3,x=0,y=20,w=30,h=20,c=3,r=1,z=-1,q=2\x1b\\",
		"\x1bP0;1q\"1;1;6;6#0;2;0;0;0~~@@\n-\x1b\\\x1b]52;c;" + strings.Repeat("QUJD", 5000) + "\a",
	} {
		if got, _ := passed(&Filter{MaxClip: testClip}, s); got != s {
			t.Errorf("%q becomes %q", s, got)
		}
	}
}

func TestFilterResultDoesNotDependOnPieces(t *testing.T) {
	random := seed.Rand(t)
	parts := append(questions[:], "text", "£", "\x1b[31m", "\x1b[?25l", "\x1b]2;t\a", "\x1bPq~\x1b\\", "\x18", "\x1b", "\xc2", "\n",
		"\x1b_Ga=T;", "\x1b[", "\x1b]", "\x1bP", strings.Repeat("9", 600), strings.Repeat("x;", 5000))
	for range 3000 {
		var in strings.Builder
		for range 1 + random.IntN(6) {
			in.WriteString(parts[random.IntN(len(parts))])
		}
		var whole, cut Filter
		want, _ := passed(&whole, in.String())
		got, _ := passed(&cut, inPieces([]byte(in.String()), 1+random.IntN(40))...)
		if got != want || string(whole.held) != string(cut.held) || whole.inside != cut.inside {
			t.Fatalf("%q becomes %q, in pieces %q", in.String(), want, got)
		}
	}
}

func TestExpectRepaintResetsColoursAndClustering(t *testing.T) {
	var f Filter
	passed(&f, "\x1b]11;#123456\a\x1b[?2027h")
	f.ExpectRepaint()
	if got, _ := passed(&f, "main"); !strings.Contains(got, RestColors) || !strings.Contains(got, "\x1b[?2027l") || !strings.HasSuffix(got, "main") {
		t.Errorf("the repaint becomes %q", got)
	}
	f.ExpectRepaint()
	if got, _ := passed(&f, "main"); got != "main" {
		t.Errorf("the next repaint becomes %q", got)
	}
}

func BenchmarkFilter(b *testing.B) {
	line := "2026-11-21 02:00:00 INFO request served path=/api/v1/items status=200 duration=12ms\r\n"
	colored := "\x1b[38;5;33m-rw-r--r--\x1b[0m \x1b[1;32mroot\x1b[0m \x1b[38;2;10;20;30mfile.go\x1b[m\x1b[K\r\n"
	moving := "\x1b[12;40H\x1b[1mcell\x1b[22m\x1b[3C\x1b[2K\x1b[?25l"
	for _, c := range []struct{ name, text string }{{"text", line}, {"latin", "Größe 12 °C für £5 – naïve\r\n"}, {"colour", colored}, {"moving", moving},
		{"sixel", "\x1bPq" + strings.Repeat("#1~~~@@@!20~-", 5000) + "\x1b\\"}} {
		b.Run(c.name, func(b *testing.B) {
			p := []byte(strings.Repeat(c.text, 1+(64<<10)/len(c.text)))
			var f Filter
			b.SetBytes(int64(len(p)))
			for b.Loop() {
				f.Pass(p)
			}
		})
	}
}
