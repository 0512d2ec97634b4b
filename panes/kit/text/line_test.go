package text

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"tandem/engine/api"
	"tandem/engine/screen/styled"
	"tandem/tests/seed"
)

func TestAppendLineFillsItsWidth(t *testing.T) {
	red := api.Style{Rendition: api.Rendition{FG: styled.ColorIndexed | 1, Attrs: styled.Bold}}
	tests := []struct {
		name string
		line api.Line
		w    int
		want string
	}{
		{"blank", api.Line{}, 4, "    "},
		{"plain, padded", line(run("ab", 2, api.Style{})), 4, "ab  "},
		{"plain, cut", line(run("abcdef", 6, api.Style{})), 4, "abcd"},
		{"styled", line(run("ab", 2, red), run("c", 1, api.Style{})), 4, "\x1b[0;1;31mab\x1b[mc "},
		{"styled to the edge", line(run("abcd", 4, red)), 4, "\x1b[0;1;31mabcd\x1b[m"},
		{"wide, cut by the edge", line(run("漢字", 4, api.Style{})), 3, "漢 "},
		{"wide", line(run("漢字", 4, api.Style{})), 4, "漢字"},
		{"combining", line(run("e\u0301x", 2, api.Style{})), 3, "e\u0301x "},
		{"control characters", line(run("a\x1b[2J\x07b", 7, api.Style{})), 8, "a [2J b "},
		{"C1 control", line(run("a\u009bb", 3, api.Style{})), 3, "a b"},
		{"keycap", line(run("1\ufe0f\u20e3x", 3, api.Style{})), 4, "1\ufe0f\u20e3x "},
		{"heart", line(run("❤\ufe0fx", 3, api.Style{})), 4, "❤\ufe0fx "},
		{"vowel beside its letter", line(run("น้ำx", 3, api.Style{})), 4, "น้ำx "},
		{"conjunct of three cells", line(run("क्या", 3, api.Style{})), 4, "क्या "},
		{"conjunct of two cells", line(run("क्या", 2, api.Style{}), run("x", 1, api.Style{})), 4, "\x1b]66;w=2;क्या\x1b\\x "},
		{"vowel in one cell", line(run("की", 1, api.Style{}), run("x", 1, api.Style{})), 2, "\x1b]66;w=1;की\x1b\\x"},
		{"vowel cut by the edge", line(run("की", 2, api.Style{})), 1, " "},
		{"decomposed Hangul", line(run("\u1112\u1161\u11abx", 3, api.Style{})), 4, "\u1112\u1161\u11abx "},
		{"flag", line(run("🇩🇪x", 3, api.Style{})), 4, "🇩🇪x "},
		{"joined emoji", line(run("👩‍🚀x", 3, api.Style{})), 4, "👩‍🚀x "},
		{"text longer than it says", line(run("漢字", 2, api.Style{}), run("x", 1, api.Style{})), 4, "漢x "},
		{"text shorter than it says", line(run("a", 3, api.Style{}), run("x", 1, api.Style{})), 4, "a  x"},
		{"palette", line(run("a", 1, api.Style{Rendition: api.Rendition{FG: styled.ColorIndexed | 9, BG: styled.ColorIndexed | 200}})), 1, "\x1b[0;91;48;5;200ma\x1b[m"},
		{"true colour", line(run("a", 1, api.Style{Rendition: api.Rendition{BG: styled.ColorRGB | 0x0a141e}})), 1, "\x1b[0;48;2;10;20;30ma\x1b[m"},
		{"underline", line(run("a", 1, api.Style{Rendition: api.Rendition{Underline: styled.UnderlineCurly, UL: styled.ColorIndexed | 1}})), 1, "\x1b[0;4:3;58:5:1ma\x1b[m"},
		{"overline", line(run("a", 1, api.Style{Rendition: api.Rendition{Attrs: styled.Overline}})), 1, "\x1b[0;53ma\x1b[m"},
		{"link to a script", line(run("a", 1, api.Style{Link: "javascript:x"})), 2, "\x1b]8;;\x1b\\a\x1b]8;;\x1b\\ "},
		{"link to a file", line(run("a", 1, api.Style{Link: "file:///x"})), 2, "\x1b]8;;\x1b\\a\x1b]8;;\x1b\\ "},
		{"link", line(run("a", 1, api.Style{Link: "http://x\x07y"})), 2, "\x1b]8;id=95307890;http://xy\x1b\\a\x1b]8;;\x1b\\ "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(AppendLine(nil, tt.line, tt.w)); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func run(text string, cells int, s api.Style) api.Run {
	return api.Run{Style: s, Text: text, Cells: cells}
}

func line(runs ...api.Run) api.Line { return api.Line{Runs: runs} }

var sizedText = regexp.MustCompile(`\x1b\]66;w=\d;([^\x1b]*)\x1b\\`)

// plainText returns the text of a drawn row.
func plainText(row string) string { return ansi.Strip(sizedText.ReplaceAllString(row, "$1")) }

func TestFlagHalvesInTwoRunsDoNotMerge(t *testing.T) {
	got := string(AppendLine(nil, line(run("🇩", 1, api.Style{}), run("🇪", 1, api.Style{})), 2))
	if want := "\x1b]66;w=1;🇩\x1b\\\x1b]66;w=1;🇪\x1b\\"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAnyLineFillsItsCellsWithoutControls(t *testing.T) {
	alphabet := []rune("abc 漢字é\u0301\u200d👩🚀🇩🇪\x1b\x07\u009b\u0600\ufe0f❤ก็ำि🏽1\u20e3\u1112\u1161\u11ab👍")
	seed.Check(t, func(t *rapid.T) {
		var l api.Line
		for range rapid.IntRange(0, 6).Draw(t, "runs") {
			text := rapid.StringOfN(rapid.SampledFrom(alphabet), 0, 12, -1).Draw(t, "text")
			l.Runs = append(l.Runs, api.Run{
				Style: api.Style{Rendition: api.Rendition{FG: api.Color(rapid.Uint32().Draw(t, "fg")), Attrs: api.Attr(rapid.Uint16().Draw(t, "attrs"))}},
				Text:  text, Cells: rapid.IntRange(-1, 20).Draw(t, "cells"),
			})
		}
		w := rapid.IntRange(0, 40).Draw(t, "w")
		got := string(AppendLine(nil, l, w))
		if n := Width(got); n != w {
			t.Fatalf("%q takes %d cells, want %d", got, n, w)
		}
		if text := plainText(got); strings.ContainsFunc(text, func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }) {
			t.Fatalf("%q has control characters", text)
		}
	})
}

func FuzzLine(f *testing.F) {
	f.Add("a\x1b]0;x\x07", 5, "http://\x1b", 10)
	f.Add("漢字\xff\xfe", 4, "", 3)
	f.Fuzz(func(t *testing.T, text string, cells int, link string, w int) {
		if w < 0 || w > 400 || cells > 1000 {
			return
		}
		got := string(AppendLine(nil, line(run(text, cells, api.Style{Link: link})), w))
		if n := Width(got); n != w || !utf8.ValidString(got) {
			t.Errorf("%q takes %d cells, want %d", got, n, w)
		}
	})
}

func BenchmarkColourfulLine(b *testing.B) {
	var l api.Line
	for i := range 40 {
		l.Runs = append(l.Runs, run("word ", 5, api.Style{Rendition: api.Rendition{FG: styled.ColorIndexed | api.Color(i)}}))
	}
	var buf []byte
	for b.Loop() {
		buf = AppendLine(buf[:0], l, 200)
	}
}
