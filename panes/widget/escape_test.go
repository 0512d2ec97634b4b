package widget

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tandem/engine/api"
)

// hostileName generates names of bytes, controls, combining characters and arbitrary runes.
func hostileName() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"a", " ", `\`, "\n", "\x1b[2J", "\u202e", "\u0301", "\u200d", "\xff", "\xc3", "é", "日", "👩‍💻", "\u00a0", "%", "\r\n"}),
		rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
	)
	return rapid.Map(rapid.SliceOfN(piece, 0, 6), func(pieces []string) string {
		return strings.ReplaceAll(strings.Join(pieces, ""), "\x00", "")
	})
}

func TestEscapeNameRoundTripsAndIsVisible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := hostileName().Draw(t, "name")
		text := EscapeName(name)
		if back, err := api.ParseName(text); err != nil || back != name {
			t.Fatalf("%q is written %q and read as %q, %v", name, text, back, err)
		}
		if NeedsEscapes(text) {
			t.Fatalf("%q is written %q, which cannot be shown", name, text)
		}
		var f Field
		f.Set(text)
		if f.Text() != text && len(text) < maxFieldText {
			t.Fatalf("%q is %q where it is edited", text, f.Text())
		}
	})
}

func TestEscapeNameWritesExpectedEscapes(t *testing.T) {
	cases := map[string]string{
		"line\nbreak": `line\nbreak`, "esc\x1b[2J": `esc\x1b[2J`, "bad\xff": `bad\xff`, "gpj\u202eexe": `gpj\u202eexe`,
		`a\b`: `a\\b`, " a b ": `\x20a b\x20`, "é日本": "é日本",
	}
	for name, want := range cases {
		if got := EscapeName(name); got != want {
			t.Errorf("%q is written %s, want %s", name, got, want)
		}
	}
}

func FuzzEscapeName(f *testing.F) {
	f.Add("a\n\xff\u202e\U0001F600\\")
	f.Fuzz(func(t *testing.T, name string) {
		if strings.Contains(name, "\x00") {
			return
		}
		if back, err := api.ParseName(EscapeName(name)); err != nil || back != name {
			t.Fatalf("%q comes back as %q, %v", name, back, err)
		}
	})
}
