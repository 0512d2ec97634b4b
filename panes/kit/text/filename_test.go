package text

import (
	"strings"
	"testing"
	"unicode/utf8"

	"tandem/engine/api"
)

func TestFileNameEscapesUnsafeCharacters(t *testing.T) {
	cases := map[string]string{
		"a\nb":                              "a␊b",
		"\x1b[31mred":                       "␛[31mred",
		"gpj\u202eexe.":                     "gpj\ufffdexe.",
		"bad\xff":                           "bad\ufffd",
		"a" + strings.Repeat("\u0301", 127): "a\u0301\u0301",
		"\u0301x":                           "\u25ccx",
		"é":                                 "é",
		"日本":                                "日本",
		"a\u200bb":                          "a\ufffdb",
		"cafe\u0301":                        "cafe\u0301",
		"x\u0332":                           "x\u0332",
		"1\ufe0f\u20e3":                     "1\ufe0f\u20e3",
		"🇩🇪.txt":                            "🇩🇪.txt",
		"🇩🇪🇫":                               "🇩🇪F",
		"🇩\u200c🇪":                          "DE",
		"👩‍👩‍👧":                             "👩‍👩‍👧",
		"👩\u0301\u200d\u0301🚀":              "👩\u0301🚀",
		"नमस्ते":                            "नमस्ते",
		"น้ำ":                               "น้ำ",
		"🏴\U000e0067\U000e007f":             "🏴",
	}
	for name, want := range cases {
		if got := FileName(name); got != want {
			t.Errorf("%q is shown as %q, want %q", name, got, want)
		}
	}
}

func FuzzFileName(f *testing.F) {
	for _, s := range []string{"a\nb", "\x1b]0;x\a", "\u202e", "👩‍👩‍👧", "🇩🇪🇩", "क्षि", "\xff\xfe", "á́́"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := FileName(s)
		if !utf8.ValidString(got) {
			t.Fatalf("%q is not UTF-8", got)
		}
		for _, r := range got {
			if CleanRune(r) != r && r != utf8.RuneError {
				t.Fatalf("%q holds %U", got, r)
			}
		}
		row, _ := AppendRun(nil, &api.Run{Text: got, Cells: Width(got)}, 0, Width(got))
		if a, b := Width(got), Width(string(row)); a != b {
			t.Fatalf("%q of %q is %d cells, drawn as %q in %d", got, s, a, row, b)
		}
		if again := FileName(got); again != got {
			t.Fatalf("%q of %q is shown as %q in turn", got, s, again)
		}
	})
}

func TestFileModeUsesLsNotation(t *testing.T) {
	for mode, want := range map[string]string{"0755": "-rwxr-xr-x", "4755": "-rwsr-xr-x", "1777": "-rwxrwxrwt", "2644": "-rw-r-Sr--", "": "----------"} {
		if got := FileMode(&api.FileInfo{Type: "file", Mode: mode}); got != want {
			t.Errorf("%s is %s, want %s", mode, got, want)
		}
	}
}
