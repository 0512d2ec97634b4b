package keys

import "testing"

func TestInsertionTextRemovesActiveControlCharacters(t *testing.T) {
	for text, want := range map[string]string{
		"a\x1b[201~\rrm\x00 \u009b x\t|\n\xff\n": "a[201~rm  x\t|\n\uFFFD",
		"one\r\ntwo\r\n\n":                       "one\ntwo",
		"\x03\x04\x7f":                           "",
		"a\\ ":                                   "a\\ ",
	} {
		if got := InsertionText(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
