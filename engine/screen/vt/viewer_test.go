package vt_test

import (
	"image"
	"testing"

	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt"
)

const white, black = styled.ColorRGB | 0xFFFFFF, styled.ColorRGB

func TestColourQueriesReturnUsersColours(t *testing.T) {
	b := newTestTerminal(10, 3, "own")
	b.SetColors(styled.Palette{Background: white, Colors: [16]styled.Color{2: styled.ColorRGB | 0x00AA00}})
	b.Write([]byte("\x1b]11;?\a\x1b]4;2;?;1;?\x1b\\\x1b]10;?;?;?\a\x1b[?996n"))
	want := "\x1b]11;rgb:ffff/ffff/ffff\a" +
		"\x1b]4;2;rgb:0000/aaaa/0000\x1b\\\x1b]4;1;rgb:e0e0/6c6c/7575\x1b\\" + // unknown colours have defaults
		"\x1b]10;rgb:1e1e/2121/2828\a\x1b]11;rgb:ffff/ffff/ffff\a\x1b]12;rgb:1e1e/2121/2828\a" + // contrasting with the background
		"\x1b[?997;2n"
	if b.replies != want {
		t.Errorf("answered %q, want %q", b.replies, want)
	}
	b.replies = ""
	b.Write([]byte("\x1b]11;#123456\a"))
	b.SetColors(styled.Palette{Background: black})
	b.Write([]byte("\x1b]11;?\a\x1b]111\a\x1b]11;?\a"))
	if want := "\x1b]11;rgb:1212/3434/5656\a\x1b]11;rgb:0000/0000/0000\a"; b.replies != want {
		t.Errorf("after the program has set one: %q, want %q", b.replies, want)
	}
}

func TestMode2031ReportsSchemeChange(t *testing.T) {
	b := newTestTerminal(10, 3, "own")
	b.SetColors(styled.Palette{Background: white})
	b.Write([]byte("\x1b[?2031h"))
	b.SetColors(styled.Palette{Background: white, Cursor: black})
	b.SetColors(styled.Palette{Background: black})
	b.SetColors(styled.Palette{Background: white})
	b.Write([]byte("\x1b[?2031l"))
	b.SetColors(styled.Palette{})
	if want := "\x1b[?997;1n\x1b[?997;2n"; b.replies != want {
		t.Errorf("replies %q, want %q", b.replies, want)
	}
}

func TestPixelSizesMatchUsersTerminal(t *testing.T) {
	b := newTestTerminal(10, 3, "own")
	b.Write([]byte("\x1b[14t"))
	b.SetCell(image.Pt(8, 17))
	b.Write([]byte("\x1b[14t\x1b[16t\x1b[?2048h"))
	b.SetCell(image.Pt(8, 17))
	b.SetCell(image.Pt(0, 100_000)) // invalid: as if unset
	want := "\x1b[4;60;100t" + "\x1b[4;51;80t\x1b[6;17;8t\x1b[48;3;10;51;80t" + "\x1b[48;3;10;60;100t"
	if b.replies != want {
		t.Errorf("answered %q, want %q", b.replies, want)
	}
}

func TestUsersCursorStaysUntilProgramSetsOne(t *testing.T) {
	term := vt.New(vt.Options{Cols: 10, Rows: 3})
	for _, c := range []struct {
		in    string
		own   bool
		color styled.Color
	}{
		{"", true, 0}, {"\x1b[?12l", true, 0}, {"\x1b[1 q", false, 0}, {"\x1b[0 q", true, 0},
		{"\x1b]12;red\a", true, styled.ColorRGB | 0xFF0000}, {"\x1b]112\a", true, 0},
		{"\x1b[5 q\x1b]12;red\a\x1bc", true, 0},
	} {
		term.Write([]byte(c.in))
		if got := term.Cursor(); got.Own != c.own || got.Color != c.color {
			t.Errorf("after %q: own %v, colour %x", c.in, got.Own, got.Color)
		}
	}
}

func TestCheckpointKeepsReportModes(t *testing.T) {
	original, restored := newTestTerminal(10, 3, "own"), newTestTerminal(10, 3, "own")
	original.Write([]byte("\x1b[?2031h\x1b[?2048h"))
	restored.SetReplies(false)
	restored.RestoreCheckpoint(original.AppendCheckpoint(nil))
	restored.SetReplies(true)
	restored.SetColors(styled.Palette{Background: white})
	restored.Resize(11, 3)
	if want := "\x1b[?997;2n\x1b[48;3;11;60;110t"; restored.replies != want {
		t.Errorf("replies %q, want %q", restored.replies, want)
	}
}
