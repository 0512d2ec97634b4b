package vt_test

import (
	"bytes"
	"runtime"
	"testing"

	"tandem/engine/vt"
)

// hostile are inputs that have hung or killed terminals.
var hostile = []string{
	"\x1b[-1P", "\x1b[4294967295I", "\x1b[4294967295Z", "\x1b[4294967295b", "x\x1b[4294967295b", "\x1b[99999999999999999999L",
	"\x1b[2147483647@", "\x1b[2147483647S\x1b[2147483647T", "\x1b[2147483647;2147483647H\x1b[2147483647X", "\x1b[9999'}\x1b[9999'~",
	"\x1b[0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0m",
	"\x1b]2;never ended", "\x1bPnever ended", "\x1b]52;c;AAAA", "\x1b[?69h\x1b[2;3s\x1b[?45h\b\b\b\b\b\b中中",
	"\x1b[88;1;1;65535;65535$x\x1b[1;1;65535;65535;1;65535;65535$v", "\x1b[1;65535;1;1;1;1$r\x1b[65535;65535$t",
	"\x1b[?6h\x1b[5;2r\x1b[?69h\x1b[9;1s\x1b[0;0;0;0$z", "\x1b7\x1b[?1049h\x1b8\x1b[?47l\x1bc\x1b8", "\x1b[1;1;1;9;9;9*y",
	"\u200d\u200d\u0301\ufe0f🇩🇩🇩", "\x1b[?7l中\x1b[?7h中\x1b[4h中", "\x1b]4;0;?;1;?;2;?;3;?\a", "\x1bP+q;;;;;;\x1b\\",
}

// FuzzWrite writes anything, resizes in between and reads all there is to
// read: no panic, no hang, and both grids show the same.
func FuzzWrite(f *testing.F) {
	for _, s := range append(hostile, pieces...) {
		f.Add([]byte(s), uint8(9), uint8(5))
	}
	f.Fuzz(func(t *testing.T, data []byte, cols, rows uint8) {
		var states []vt.Diff
		for _, name := range []string{"own", "vt10x"} {
			term := vt.New(vt.Options{Cols: 8, Rows: 4, Grid: grids[name], ScrollbackLines: 20,
				Reply: func([]byte) {}, Event: func(vt.Event) {}})
			term.Write(data)
			term.Diff(1)
			term.Resize(int(cols), int(rows%64))
			term.Write(data)
			term.AppendRepaint(nil)
			term.Lines(0, 100)
			term.Resize(8, 4)
			states = append(states, state(term))
		}
		if len(states[0].Lines) != 4 || states[0].Lines[0].Line.Text() != states[1].Lines[0].Line.Text() {
			t.Errorf("grids differ: %v, %v", states[0].Lines, states[1].Lines)
		}
	})
}

func TestHostileInputIsBounded(t *testing.T) {
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
			before := heap()
			if name == "repeat" || name == "tall scroll" {
				input = input[:64<<10]
			}
			term.Write(input)
			if grown := heap() - before; grown > 4<<20 {
				t.Errorf("%d bytes of input cost %d bytes of memory", len(input), grown)
			}
			runtime.KeepAlive(term)
		})
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
