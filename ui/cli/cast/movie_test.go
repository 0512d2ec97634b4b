package cast

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"
)

// film draws events on a terminal of 20 columns and 3 rows.
func film(t *testing.T, o PlayOptions, events ...Event) string {
	t.Helper()
	var b bytes.Buffer
	list := eventList(events)
	if err := writeMovie(t.Context(), &b, &list, 20, 3, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestMovieShowsEachScreenAtItsTime(t *testing.T) {
	svg := film(t, PlayOptions{Speed: 2, Idle: 4 * time.Second},
		Event{5 * time.Second, Output, "one\x1b[?25l"},
		Event{7 * time.Second, Output, "\rtwo"},
		Event{time.Hour, Output, "\r\nthree"})
	for _, text := range []string{">one<", ">two<", ">three<"} {
		if strings.Count(svg, text) != 1 {
			t.Errorf("%s is not drawn once in\n%s", text, svg)
		}
	}
	// One second and two of playback, and three of the last frame.
	for _, frames := range []string{
		`animation:r0 6.00s[^{]*{0.000%{transform:translateX(-0px)}16.667%{transform:translateX(-`,
		`animation:r1 6.00s[^{]*{0.000%{transform:translateX(-0px)}50.000%{transform:translateX(-`,
	} {
		if !strings.Contains(regexp.MustCompile(` step-end infinite}@keyframes r\d`).ReplaceAllString(svg, "[^{]*"), frames) {
			t.Errorf("%s is missing in\n%s", frames, svg)
		}
	}
	if strings.Contains(svg, "@keyframes r2") {
		t.Error("an unchanged row is animated")
	}
}

func TestMovieSkipsScreensShownTooBriefly(t *testing.T) {
	svg := film(t, PlayOptions{Speed: 1},
		Event{0, Output, "a"}, Event{time.Millisecond, Output, "b"}, Event{2 * time.Millisecond, Output, "c"},
		Event{time.Second, Output, "d"}, Event{2 * time.Second, Resize, "10x2"}, Event{2 * time.Second, Resize, "nonsense"})
	if n := strings.Count(svg, "%{transform"); n != 2 {
		t.Errorf("%d screens in\n%s", n, svg)
	}
}

func FuzzMovie(f *testing.F) {
	f.Add("\x1b#3wide\x1b[2;2H\x1b[7mx", "3x1", uint16(40))
	f.Fuzz(func(t *testing.T, text, size string, gap uint16) {
		d := time.Duration(gap) * time.Millisecond
		film(t, PlayOptions{Speed: 1, Idle: time.Second}, Event{d, Output, text}, Event{2 * d, Resize, size}, Event{3 * d, Output, text})
	})
}
