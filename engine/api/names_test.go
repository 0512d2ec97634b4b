package api

import (
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tandem/engine/base/cellwidth"
	"tandem/tests/seed"
)

func anyName() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"a", " ", `\`, `"`, "\n", "\a", "\x1b[2J", "\u202e", "\u0085", "\u0301", "\xff", "\xc3", "é", "日", "\U000e0001", `\x41`, "%"}),
		rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
	)
	return rapid.Map(rapid.SliceOfN(piece, 0, 6), func(pieces []string) string {
		return strings.ReplaceAll(strings.Join(pieces, ""), "\x00", "")
	})
}

func TestNamesOfAnyBytesRoundTrip(t *testing.T) {
	seed.Check(t, func(t *rapid.T) {
		name := anyName().Draw(t, "name")
		quoted := strconv.Quote(name)
		if back, ok := UnquoteName(quoted); !ok || back != name {
			t.Fatalf("%q is quoted as %s and read as %q", name, quoted, back)
		}
		for _, r := range quoted {
			if !strconv.IsPrint(r) {
				t.Fatalf("%q is quoted as %s", name, quoted)
			}
		}
		escaped := string(cellwidth.AppendEscaped(nil, name))
		if back, err := ParseName(escaped); err != nil || back != name {
			t.Fatalf("%q is written %s and read as %q, %v", name, escaped, back, err)
		}
	})
}

func TestUnquoteNameRejectsUnquotedText(t *testing.T) {
	for _, text := range []string{"", `"`, `a`, `"a`, `a"`, `"a"b"`, `"a\"`, `"\q"`, `"\x0"`, `"\x00"`, `"a" `} {
		if name, ok := UnquoteName(text); ok {
			t.Errorf("%s is read as %q", text, name)
		}
	}
	for text, want := range map[string]string{`""`: "", `"\\"`: `\`, `"\\\""`: `\"`, `"\e[2J"`: "\x1b[2J", `"it\'s"`: "it's", `"é\u0301"`: "é\u0301"} {
		if name, ok := UnquoteName(text); !ok || name != want {
			t.Errorf("%s is read as %q, %v", text, name, ok)
		}
	}
	for _, text := range []string{`a\`, `\q`, `\x`, `\xG0`, `\u12`, `\UFFFFFFFF`, `\x00`, `\ud800`, `\é`} {
		if name, err := ParseName(text); err == nil {
			t.Errorf("%s is read as %q", text, name)
		}
	}
}

func FuzzParseName(f *testing.F) {
	f.Add(`a\n\xff\u202e\U0001f600\\\"`)
	f.Fuzz(func(t *testing.T, text string) {
		name, err := ParseName(text)
		if err != nil || strings.Contains(name, "\x00") {
			return
		}
		if back, ok := UnquoteName(strconv.Quote(name)); !ok || back != name {
			t.Fatalf("%q comes back as %q", name, back)
		}
		UnquoteName(text)
	})
}
