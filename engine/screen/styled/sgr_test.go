package styled

import (
	"testing"

	"pgregory.net/rapid"

	"tandem/tests/seed"
)

func TestSGRRoundTripsThroughAppendSGR(t *testing.T) {
	color := rapid.OneOf(rapid.Just(Color(0)), rapid.Map(rapid.Uint8(), func(n uint8) Color { return ColorIndexed | Color(n) }),
		rapid.Map(rapid.Uint32Range(0, 1<<24-1), func(n uint32) Color { return ColorRGB | Color(n) }))
	seed.Check(t, func(t *rapid.T) {
		style := rapid.Custom(func(t *rapid.T) Style {
			return Style{Rendition: Rendition{
				FG: color.Draw(t, "fg"), BG: color.Draw(t, "bg"), UL: color.Draw(t, "ul"),
				Attrs: Attr(rapid.Uint8().Draw(t, "attrs")), Underline: Underline(rapid.IntRange(0, 5).Draw(t, "underline")),
			}, Link: "https://example.org"}
		})
		want, got := style.Draw(t, "want"), style.Draw(t, "before")
		if got.ParseSGR(string(AppendSGR(nil, want))); got != want {
			t.Fatalf("%+v, want %+v", got, want)
		}
	})
}

func TestSGRIgnoresUnknownParameters(t *testing.T) {
	before := Style{Rendition: Rendition{FG: ColorIndexed | 1, Attrs: Bold}}
	for _, text := range []string{"38;5;256", "38;2;1;2;300", "38;9;1", "1:2", "3x", "99", "38", "99999999999"} {
		got := before
		if got.ParseSGR(text); got != before {
			t.Errorf("%q sets %+v", text, got)
		}
	}
	got := before
	if got.ParseSGR(""); got != (Style{}) {
		t.Errorf("no parameter leaves %+v", got)
	}
}
