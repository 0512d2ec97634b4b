package api

import (
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"tandem/tests/seed"
)

func TestEscapedPathsAreUTF8AndRoundTrip(t *testing.T) {
	seed.Check(t, func(t *rapid.T) {
		path := string(rapid.SliceOf(rapid.Byte()).Draw(t, "path"))
		escaped := EscapePath(path)
		if !utf8.ValidString(escaped) {
			t.Fatalf("%q is not UTF-8", escaped)
		}
		if back := UnescapePath(escaped); back != path {
			t.Fatalf("%q comes back as %q", path, back)
		}
	})
}

func TestFileScopeEscapesOnlyIfEscapedIsSet(t *testing.T) {
	if got := (FileScope{}).In("50%25"); got != "50%25" {
		t.Errorf("in: %s", got)
	}
	if got := (FileScope{Escaped: true}).Out("50%\xff"); got != "50%25%FF" {
		t.Errorf("out: %s", got)
	}
}
