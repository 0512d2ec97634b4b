package display

import (
	"image"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/screen/styled"
	"tandem/panes/kit/graphics"
)

const rgb = styled.ColorRGB

// handleAll handles answers and returns the last effect.
func handleAll(t *Terminal, answers ...string) (news Effect) {
	for _, a := range answers {
		news = t.HandleAnswer([]byte(a))
	}
	return news
}

func TestAnswersApplyOnceAllHaveArrived(t *testing.T) {
	var term Terminal
	news := handleAll(&term, "\x1b]4;1;rgb:cd/00/00\a", "\x1b]4;15;rgb:ffff/ffff/ffff\x1b\\", "\x1b]4;16;rgb:1/1/1\a", "\x1b]4;1\a",
		"\x1b]10;rgb:1111/1111/1111\x1b\\", "\x1b]11;#ffffff\a", "\x1b]12;nonsense\a", "\x1b]13;rgb:1/1/1\a", "\x1b[6;18;9t", "\x1b[?1016;2$y", "\x1b_Gi=31;OK\x1b\\")
	if got, known := term.Display(); news != NoEffect || known {
		t.Errorf("before the last answer it is %+v (%v)", got, news)
	}
	news = handleAll(&term, "\x1b[?62;4;22c")
	want := api.Display{CellWidth: 9, CellHeight: 18, Pixels: true, Colors: styled.Palette{Foreground: rgb | 0x111111, Background: rgb | 0xFFFFFF}}
	want.Colors.Colors[1], want.Colors.Colors[15] = rgb|0xCD0000, rgb|0xFFFFFF
	if got, known := term.Display(); news != DisplayUpdated || got != want || !known {
		t.Errorf("it is %+v (%v), want %+v", got, news, want)
	}
	if !term.Pixels() || term.ReportsChanges() || term.PictureScreen("kitty", true).Backdrop.R != 255 {
		t.Errorf("it is %+v", term)
	}
	term.SetMeasuredCell(image.Pt(10, 20))
	if got, _ := term.Display(); got.CellWidth != 10 || got.CellHeight != 20 {
		t.Errorf("by its size in pixels a cell has %d×%d", got.CellWidth, got.CellHeight)
	}
}

func TestSchemeReportIsChangeOnlyAfterFirstAnswer(t *testing.T) {
	var term Terminal
	if news := handleAll(&term, "\x1b[?997;1n"); news != NoEffect || !term.ReportsChanges() {
		t.Errorf("the answer is %v", news)
	}
	if news := handleAll(&term, "\x1b[?997;2n"); news != ColorsChanged {
		t.Errorf("the change is %v", news)
	}
}

func plainTerminal(t *testing.T) {
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("TMUX", "")
	t.Setenv("STY", "")
}

func TestSixelNeedsCellSize(t *testing.T) {
	plainTerminal(t)
	for _, cell := range []int{0, 8, 100_000} {
		var term Terminal
		term.SetCellSize(cell, 2*cell)
		term.SetAttributes([]int{62, 4, 22})
		want := graphics.Blocks
		if cell == 8 {
			want = graphics.Sixel
		}
		if got := term.PictureScreen("auto", true).Protocol; got != want {
			t.Errorf("with cells of %d pixels it is %d", cell, got)
		}
	}
}

func TestSupportedPicturesFollowTerminalAndConfiguration(t *testing.T) {
	for _, c := range []struct {
		term, tmux, wanted, answers string
		kitty, sixel, known         bool
	}{
		{"xterm", "", "", "", false, false, false},
		{"xterm", "", "", "\x1b[?62c", false, false, true},
		{"xterm", "", "", "\x1b[?62;4c", false, true, true},
		{"xterm", "", "auto", "\x1b_Gi=31;OK\x1b\\ \x1b[?62;4c", true, true, true},
		{"xterm", "", "auto", "\x1b_Gi=31;OK\x1b\\ \x1b[?62c", true, false, true},
		{"xterm", "", "sixel", "\x1b_Gi=31;OK\x1b\\ \x1b[?62c", false, true, true},
		{"xterm", "", "blocks", "\x1b_Gi=31;OK\x1b\\ \x1b[?62;4c", false, false, true},
		{"xterm", "/tmp/tmux", "auto", "\x1b[?62;4c", false, true, true},
		{"xterm", "/tmp/tmux", "auto", "\x1b[?62c", false, false, true},
		{"xterm", "/tmp/tmux", "sixel", "\x1b[?62;4c", false, true, true},
		{"linux", "", "auto", "", false, false, true},
	} {
		plainTerminal(t)
		t.Setenv("TERM", c.term)
		t.Setenv("TMUX", c.tmux)
		var term Terminal
		handleAll(&term, strings.Fields(c.answers)...)
		if kitty, sixel, known := term.SupportsPictures(c.wanted); kitty != c.kitty || sixel != c.sixel || known != c.known {
			t.Errorf("%+v: it knows %v, %v (%v)", c, kitty, sixel, known)
		}
	}
}

func TestMultiplexerAndLinuxConsoleGetFewerQueries(t *testing.T) {
	for _, c := range []struct {
		env              map[string]string
		colors, pictures bool
	}{
		{map[string]string{"TERM": "xterm-256color"}, true, true},
		{map[string]string{"TERM": "xterm-256color", "TERM_PROGRAM": "tandem"}, true, true},
		{map[string]string{"TERM": "xterm-256color", "TMUX": "/tmp/tmux"}, true, false},
		{map[string]string{"TERM": "screen-256color"}, true, false},
		{map[string]string{"TERM": "linux"}, false, false},
	} {
		getenv := func(name string) string { return c.env[name] }
		asks := QuerySequence(getenv)
		if strings.Contains(asks, "\x1b_G") != c.pictures || strings.Contains(asks, "\x1b]11;?") != c.colors || strings.Contains(ColorQuery(getenv), "\x1b]4;15;?") != c.colors {
			t.Errorf("with %v it is asked %q", c.env, asks)
		}
		if asks != "" && !strings.HasSuffix(asks, "\x1b[c") {
			t.Errorf("with %v the question ends with %q", c.env, asks)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	for _, a := range []string{"\x1b]4;1;rgb:cd/00/00\a", "\x1b]11;?\x1b\\", "\x1b[6;1;2t", "\x1b[?1016;", "\x1b[?1016;2$y", "\x1b[?c", "\x1b[?;c", "\x1b]", "\x1b_Gi=31;OK"} {
		f.Add([]byte(a))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		var term Terminal
		term.HandleAnswer(p)
		term.SetAttributes(nil)
		d, _ := term.Display()
		for _, c := range d.Colors.Colors {
			if c != 0 && c>>24 != rgb>>24 {
				t.Fatalf("%q gives the colour %x", p, c)
			}
		}
	})
}

func TestLateAnswersAreDrained(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() {
		defer w.Close()
		for _, piece := range []string{"\x1b]11;rgb:1e1e/2121/2828\a\x1b[?99", "7;1n\x1b[?1016;2$y", "\x1b[?64;1;", "52cls\r"} {
			if _, err := w.WriteString(piece); err != nil {
				t.Error(err)
			}
		}
	}()
	DrainAnswers(r, time.Now().Add(time.Minute))
	DrainAnswers(r, time.Now().Add(-time.Minute)) // the deadline has passed: the rest was typed
	if rest, err := io.ReadAll(r); string(rest) != "ls\r" {
		t.Errorf("%q is left: %v", rest, err)
	}
}
