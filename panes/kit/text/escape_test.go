package text_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tandem/engine/api"
	"tandem/panes/kit/field"
	"tandem/panes/kit/text"
	"tandem/tests/seed"
)

// maxFieldText is the maximum size of a field.Field's text, in bytes.
const maxFieldText = 4096

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
	seed.Check(t, func(t *rapid.T) {
		name := hostileName().Draw(t, "name")
		escaped := text.EscapeName(name)
		if back, err := api.ParseName(escaped); err != nil || back != name {
			t.Fatalf("%q is written %q and read as %q, %v", name, escaped, back, err)
		}
		if text.NeedsEscapes(escaped) {
			t.Fatalf("%q is written %q, which cannot be shown", name, escaped)
		}
		var f field.Field
		f.Set(escaped)
		if f.Text() != escaped && len(escaped) < maxFieldText {
			t.Fatalf("%q is %q where it is edited", escaped, f.Text())
		}
	})
}

func TestEscapeNameWritesExpectedEscapes(t *testing.T) {
	cases := map[string]string{
		"line\nbreak": `line\nbreak`, "esc\x1b[2J": `esc\x1b[2J`, "bad\xff": `bad\xff`, "gpj\u202eexe": `gpj\u202eexe`,
		`a\b`: `a\\b`, " a b ": `\x20a b\x20`, "é日本": "é日本",
	}
	for name, want := range cases {
		if got := text.EscapeName(name); got != want {
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
		if back, err := api.ParseName(text.EscapeName(name)); err != nil || back != name {
			t.Fatalf("%q comes back as %q, %v", name, back, err)
		}
	})
}
