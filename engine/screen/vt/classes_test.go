package vt_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
)

// classes are inputs like those of other projects' benchmarks: the first five like kitty's
// (kitten __benchmark__), the others like vtebench's. bench/pty.sh measures them.
var classes = []stream{
	{"ascii", asciiText},
	{"unicode", unicodeText},
	{"csi", csiText},
	{"images", imageCommands},
	{"escapes", func(_, _ int, b *bytes.Buffer, r *rand.Rand) {
		// OSC 6 means nothing to any of the programs.
		b.WriteString("\x1b]6;")
		writeASCII(b, r, 8000)
		b.WriteString("\a")
	}},
	{"dense_cells", denseCells},
	{"light_cells", func(cols, rows int, b *bytes.Buffer, r *rand.Rand) {
		b.WriteString("\x1b[H" + strings.Repeat(string(rune('A'+r.IntN(26))), cols*rows))
	}},
	{"cursor_motion", func(cols, rows int, b *bytes.Buffer, r *rand.Rand) {
		fmt.Fprintf(b, "\x1b[%d;%dH%c", 1+r.IntN(rows), 1+r.IntN(cols), 'A'+r.IntN(26))
	}},
	{"scrolling_fullscreen", func(cols, _ int, b *bytes.Buffer, r *rand.Rand) {
		b.WriteString(strings.Repeat(string(rune('A'+r.IntN(26))), cols) + "\r\n")
	}},
	{"scrolling_top_region", func(_, rows int, b *bytes.Buffer, _ *rand.Rand) { scrollRegion(b, 1, rows-1) }},
	{"scrolling_bottom_region", func(_, rows int, b *bytes.Buffer, _ *rand.Rand) { scrollRegion(b, 2, rows) }},
}

// writeASCII writes n random printable characters.
func writeASCII(b *bytes.Buffer, r *rand.Rand, n int) {
	for range n {
		b.WriteByte(byte(' ' + r.IntN(95)))
	}
}

// asciiText writes random text with tabs and line feeds.
func asciiText(_, _ int, b *bytes.Buffer, r *rand.Rand) {
	writeASCII(b, r, r.IntN(100))
	b.WriteByte("\n\t"[r.IntN(2)])
}

// unicodeText writes Chinese sentences and a line of other characters.
func unicodeText(_, _ int, b *bytes.Buffer, r *rand.Rand) {
	for range 8 {
		for range 10 + r.IntN(60) {
			b.WriteRune(rune(0x4E00 + r.IntN(0x2000)))
		}
		b.WriteString("。\n")
	}
	b.WriteString("‘’“”‹›«»‚„ 😀😛👍👎 —–§¶†‡©®™ →⇒•·°±−×÷¼½¾ …µ¢£€¿¡ ÀÁÂÃÄÅÆÇ ŒŠÙÚÛÜÝ αΩ∞\n")
}

// csiText writes control sequences of many kinds and a little text.
func csiText(_, _ int, b *bytes.Buffer, r *rand.Rand) {
	if r.IntN(10) == 0 {
		writeASCII(b, r, 1+r.IntN(70))
		return
	}
	kinds := []string{
		"\x1b[m\x1b[?1h\x1b[H", "\x1b[1;2;3;4:3;%dm", "\x1b[38:5:%d;48:2:120:130:140m",
		"\x1b[58;5;%d;2m", "\x1b[m\x1b[9A\x1b[3E\x1b[2K", "\x1b[39m\x1b[10`x\x1b[100b\x1b[?1l",
	}
	b.WriteString(strings.Replace(kinds[r.IntN(len(kinds))], "%d", fmt.Sprint(30+r.IntN(8)), 1))
}

// imageCommands transmits and deletes a picture of 256×256 pixels, 32 bits each.
func imageCommands(_, _ int, b *bytes.Buffer, _ *rand.Rand) {
	data := base64.StdEncoding.EncodeToString(make([]byte, 4*256*256))
	control := "a=t,q=2,f=32,s=256,v=256,i=12345,"
	for ; len(data) > 4096; data = data[4096:] {
		fmt.Fprintf(b, "\x1b_G%sm=1;%s\x1b\\", control, data[:4096])
		control = ""
	}
	fmt.Fprintf(b, "\x1b_Gm=0;%s\x1b\\\x1b_Ga=d,d=I,q=2,i=12345\x1b\\", data)
}

// denseCells fills the screen with characters of which each has its own style.
func denseCells(cols, rows int, b *bytes.Buffer, r *rand.Rand) {
	b.WriteString("\x1b[H")
	for i := range cols * rows {
		fmt.Fprintf(b, "\x1b[38;5;%d;48;5;%d;1;3;4m%c", i%156+100, 255-i%156, 'A'+r.IntN(26))
	}
}

// scrollRegion prints 1,000 short lines in a part of the screen.
func scrollRegion(b *bytes.Buffer, top, bottom int) {
	fmt.Fprintf(b, "\x1b[%d;%dr\x1b[%d;1H%s", top, bottom, bottom, strings.Repeat("y\r\n", 1000))
}
