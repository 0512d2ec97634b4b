package vt_test

import (
	"bytes"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"tandem/engine/screen/vt"
	"tandem/tests/needs"
)

// hostile are inputs known to have hung or crashed terminals.
var hostile = []string{
	"\x1b[-1P", "\x1b[4294967295I", "\x1b[4294967295Z", "\x1b[4294967295b", "x\x1b[4294967295b", "\x1b[99999999999999999999L",
	"\x1b[2147483647@", "\x1b[2147483647S\x1b[2147483647T", "\x1b[2147483647;2147483647H\x1b[2147483647X", "\x1b[9999'}\x1b[9999'~",
	"\x1b[0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0m",
	"\x1b]2;never ended", "\x1bPnever ended", "\x1b]52;c;AAAA", "\x1b[?69h\x1b[2;3s\x1b[?45h\b\b\b\b\b\b中中",
	"\x1b[88;1;1;65535;65535$x\x1b[1;1;65535;65535;1;65535;65535$v", "\x1b[1;65535;1;1;1;1$r\x1b[65535;65535$t",
	"\x1b]4;1;rgb:1e9999/-0/0x1p-9;1;?\a", "\x1b]5;0;?;1;?;2;?\x1b\\", "\x1b]10;red;?;?;?\a", "\x1b]4;1;gray99999999999;1;?\a",
	"\x1bP$qm;ls\r\x1b\\", "\x1bP+q6c73;544e\x1b\\", "\x1b[21t\x1b[20t\x05", "\x1b[?63;9999999n\x1b[65535;1;1;1;1;1*y",
	"\x1b[?42h\x1b(K\x1b-A\x0e\x1b*>\x1bNa", "\x1b#6\x1b[99C中\x1b#5\x1b[?69h\x1b#3", "\x1bVab\x1b[2J\x1bW\x1b[1K\x1b[?40;3h", "\x1b[1;44m\x1b[1;31#{\x1b[m\x1b[#}a\x1b[#p\x1b[#q\x1b[#q", "\x1b[61\"p\x1b[?69h\x1b[65\"p\x1b[?95h",
	"\x1b[?2048h\x1b[?2031h\x1b[?996n\x1b[?1;1S\x1b[?65535;1;9S", "\x1b]99;i=\x01:d=0:p=?;\x1b\\\x1b]99;i=2:e=1;AA\x1b\\", "\x1b]9;9;\a\x1b]9;9;\"\a\x1b]1337;CurrentDir=\a\x1b]633;P;Cwd=\\x\a",
	"\x1b[?6h\x1b[5;2r\x1b[?69h\x1b[9;1s\x1b[0;0;0;0$z", "\x1b7\x1b[?1049h\x1b8\x1b[?47l\x1bc\x1b8", "\x1b[1;1;1;9;9;9*y",
	"\x1bPq!999999999~\"1;1;99999;99999~-!9999?$#99999~\x1b\\", "\x1bPq#1;1;999;999;999~!~!\"#-\x1b\\", "\x1b_Ga=T,f=32,s=4096,v=4096,o=z;eJxjYBgFAAABAAE=\x1b\\",
	"\x1b_Ga=T,f=24,s=1,v=1,c=99999,r=99999,X=99999,Y=-5,x=-1,w=4294967295;AAAA\x1b\\\x1b[3L\x1b_Ga=d,d=p,x=-1,y=0\x1b\\", "\x1b_Ga=T,i=1,U=1,f=24,s=1,v=1;AAAA\x1b\\\x1b[38;5;1m\U0010EEEE\u0305\u0305\u0305\u0305\U0010EEEE\u030D",
	"\u200d\u200d\u0301\ufe0f🇩🇩🇩", "\x1b[?7l中\x1b[?7h中\x1b[4h中", "\x1b]4;0;?;1;?;2;?;3;?\a", "\x1bP+q;;;;;;\x1b\\",
}

// replyForms matches everything a terminal may reply: sequences of our own making with numbers, hex
// digits and a few words of ours.
var replyForms = regexp.MustCompile(`^(?:` + strings.Join([]string{
	`\x1b\[[?>]?[0-9;]*(?:[cnRStxum]|\$y|\*\{)`,
	`\x1bP[01]\$r[0-9;:]*(?:[mrst]| q|"[pq]|\*[x|]|\$[|}~])?\x1b\\`,
	`\x1bP[01]\+r[0-9A-F=]*\x1b\\`,
	`\x1bP[0-9]+!~[0-9A-F]{4}\x1b\\`,
	`\x1bP!\|00000000\x1b\\`,
	`\x1b_G(?:[iIp]=[0-9]+,?)+;(?:OK|E[A-Z]+:[a-z0-9A-Z ,()=]+)\x1b\\`,
	`\x1bP>\|tandem\x1b\\`,
	`\x1b\](?:[45];[0-9]+|1[012]);rgb:[0-9a-f]{4}/[0-9a-f]{4}/[0-9a-f]{4}(?:\a|\x1b\\)`,
}, "|") + `)*$`)

// FuzzWrite writes arbitrary bytes, resizes in between and reads everything readable. There must be
// no panic, no hang and no reply chosen by the program, and both grids must show the same.
func FuzzWrite(f *testing.F) {
	for _, s := range slices.Concat(hostile, pieces, pictures) {
		f.Add([]byte(s), uint8(9), uint8(5))
	}
	f.Fuzz(func(t *testing.T, data []byte, cols, rows uint8) {
		var states []vt.Diff
		var replies []byte
		for _, name := range []string{"own", "vt10x"} {
			term := vt.New(vt.Options{Cols: 8, Rows: 4, Grid: grids[name], ScrollbackLines: 20,
				Reply: func(b []byte) { replies = append(replies, b...) }, Event: func(vt.Event) {}})
			term.Write(data)
			term.Diff(1)
			term.Resize(int(cols), int(rows%64))
			term.Write(data)
			term.AppendRepaint(nil)
			term.Lines(0, 100)
			term.Resize(8, 4)
			states = append(states, state(term))
		}
		if !replyForms.Match(replies) {
			t.Errorf("a reply is of no known form: %q", replies)
		}
		if len(states[0].Lines) != 4 || states[0].Lines[0].Line.Text() != states[1].Lines[0].Line.Text() {
			t.Errorf("grids differ: %v, %v", states[0].Lines, states[1].Lines)
		}
	})
}

func TestHostileInputUsesBoundedMemory(t *testing.T) {
	needs.FullRun(t)
	flood := func(s string) []byte { return bytes.Repeat([]byte(s), 1<<21/len(s)) }
	inputs := map[string][]byte{
		"endless title":      append([]byte("\x1b]2;"), flood("x")...),
		"endless DCS":        append([]byte("\x1bP$q"), flood("x")...),
		"endless APC":        append([]byte("\x1b_"), flood("x")...),
		"endless parameters": append([]byte("\x1b["), flood("1;")...),
		"combining flood":    append([]byte("a"), flood("\u0301")...),
		"joiner flood":       append([]byte("👩"), flood("\u200d👩")...),
		"title stack":        flood("\x1b]2;0123456789012345678901234567890123456789\a\x1b[22t"),
		"keyboard stack":     flood("\x1b[>1u"),
		"tall scroll":        flood("\x1b[65535S"),
		"repeat":             flood("x\x1b[65535b\r"),
	}
	for name, input := range inputs {
		t.Run(name, func(t *testing.T) {
			term := vt.New(vt.Options{Cols: 80, Rows: 24})
			before := heapBytes()
			if name == "repeat" || name == "tall scroll" {
				input = input[:64<<10]
			}
			term.Write(input)
			if grown := heapBytes() - before; grown > 4<<20 {
				t.Errorf("%d bytes of input cost %d bytes of memory", len(input), grown)
			}
			runtime.KeepAlive(term)
		})
	}
}

func heapBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
