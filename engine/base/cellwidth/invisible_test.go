package cellwidth

import (
	"strings"
	"testing"
)

func TestSpellReplacesInvisibleCharacters(t *testing.T) {
	t.Parallel()
	hidden := []rune{0x7f, 0xa0, 0xad, 0x34f, 0x61c, 0x115f, 0x17b4, 0x180e, 0x2800, 0x3000, 0x3164, 0xfeff, 0xffa0, 0xfff9, 0xfffd, 0xe000, 0xe0100, 0x10ffff}
	for _, span := range [][2]rune{{0, 0x1f}, {0x80, 0x9f}, {0x2000, 0x200f}, {0x2028, 0x202f}, {0x205f, 0x206f}, {0xfe00, 0xfe0f}, {0xe0000, 0xe007f}} {
		for r := span[0]; r <= span[1]; r++ {
			hidden = append(hidden, r)
		}
	}
	for _, r := range hidden {
		shown := Spell("a" + string(r) + "b")
		for _, c := range shown {
			if c < ' ' || c > '~' {
				t.Errorf("U+%04X is shown as %q", r, shown)
			}
		}
	}
	for text, want := range map[string]string{
		"plain é漢 ~ 👩": "plain é漢 ~ 👩", "a\u202eb": `a\u{202e}b`, "\U000e0041": `\u{e0041}`, "x\x9by\xff": `x\x9by\xff`, "\ufffd": `\u{fffd}`, "👩\u200d🚀": `👩\u{200d}🚀`, "two\nlines": `two\u{a}lines`,
	} {
		if got := Spell(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
	if got, want := SpellLines("two\r\nlines\t"), `two\u{d}`+"\n"+`lines\u{9}`; got != want {
		t.Errorf("lines are shown as %q, want %q", got, want)
	}
}

func TestSpellLimitsCombiningMarks(t *testing.T) {
	t.Parallel()
	accent := "\u0301"
	pile := strings.Repeat(accent, 300)
	for text, want := range map[string]string{
		"e" + accent + "a" + strings.Repeat(accent, maxMarks): "e" + accent + "a" + strings.Repeat(accent, maxMarks),
		"ls " + pile + "x": "ls " + strings.Repeat(accent, maxMarks) + strings.Repeat(`\u{301}`, 300-maxMarks) + "x",
		"नमस्ते ngữ ทำไม":  "नमस्ते ngữ ทำไม",
	} {
		got := Spell(text)
		if got != want || Spell(got) != got || SpellLines(text) != want {
			t.Errorf("%q is shown as %q", text, got)
		}
	}
}
