package panes

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// hostileName draws names of bytes, controls, marks and runes of all kinds.
func hostileName() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"a", " ", `\`, "\n", "\x1b[2J", "\u202e", "\u0301", "\u200d", "\xff", "\xc3", "é", "日", "👩‍💻", "\u00a0", "%", "\r\n"}),
		rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
	)
	return rapid.Map(rapid.SliceOfN(piece, 0, 6), func(pieces []string) string {
		return strings.ReplaceAll(strings.Join(pieces, ""), "\x00", "")
	})
}

func TestEscapedNamesCanBeSeenEditedAndReadAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := hostileName().Draw(t, "name")
		text := EscapeName(name)
		if back, err := ParseName(text); err != nil || back != name {
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

func TestEscapesReadAsWritten(t *testing.T) {
	cases := map[string]string{
		"line\nbreak": `line\nbreak`, "esc\x1b[2J": `esc\e[2J`, "bad\xff": `bad\xFF`, "gpj\u202eexe": `gpj\u202Eexe`,
		`a\b`: `a\\b`, " a b ": `\x20a b\x20`, "é日本": "é日本",
	}
	for name, want := range cases {
		if got := EscapeName(name); got != want {
			t.Errorf("%q is written %s, want %s", name, got, want)
		}
	}
	for _, text := range []string{`a\`, `\q`, `\x`, `\xG0`, `\u12`, `\UFFFFFFFF`, `\x00`, `\ud800`, `\é`} {
		if name, err := ParseName(text); err == nil {
			t.Errorf("%s is read as %q", text, name)
		}
	}
}

func FuzzParseName(f *testing.F) {
	f.Add(`a\n\xFF\u202E\U0001F600\\`)
	f.Fuzz(func(t *testing.T, text string) {
		name, err := ParseName(text)
		if err != nil {
			return
		}
		if back, err := ParseName(EscapeName(name)); err != nil || back != name {
			t.Fatalf("%q comes back as %q, %v", name, back, err)
		}
	})
}
