package cellwidth

import (
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"tandem/tests/seed"
)

func TestWidthIsTheSumOfTheCodePoints(t *testing.T) {
	cases := []struct {
		text string
		want int
	}{
		{"", 0}, {"abc", 3}, {"漢字", 4}, {"e\u0301x", 2}, {"\u00ad", 1},
		{"กำ", 2}, {"น้ำ", 2}, {"ກຳ", 2}, {"กิ", 1},
		{"की", 2}, {"क्ष", 2}, {"कं", 1}, {"क्या", 3}, {"स्त्री", 4}, {"क्\u200dष", 2}, {"நி", 2},
		{"ｶﾞ", 2}, {"\u1112\u1161\u11ab", 2}, {"한", 2}, {"\u0600\u0661", 2},
		{"👨\u200d👩\u200d👧", 2}, {"👩\u200d❤️\u200d👨", 2}, {"👍🏽", 2}, {"☝🏽", 2}, {"a🏽", 3}, {"🇩🇪", 2}, {"🇩🇪🇫🇷", 4}, {"🇩", 1},
		{"❤", 1}, {"❤\ufe0f", 2}, {"a\ufe0f", 1}, {" \ufe0f", 1}, {"ำ\ufe0f", 1}, {"ℹ\ufe0f", 2}, {"1\ufe0f\u20e3", 2}, {"😀\ufe0e", 2}, {"❤\ufe0e", 1},
		{"\x07\u0301\u200d", 0}, {"a\xffb", 3},
	}
	for _, tt := range cases {
		if got := Of(tt.text); got != tt.want {
			t.Errorf("%q takes %d cells, want %d", tt.text, got, tt.want)
		}
	}
}

func TestFirstSplitsClustersWiderThanTwoCells(t *testing.T) {
	for text, want := range map[string][]string{
		"क्या":              {"क्य", "ा"},
		"स्त्री":            {"स्त्", "री"},
		"กำa":               {"กำ", "a"},
		"a🏽":                {"a", "🏽"},
		"👩\u200d❤️\u200d👨b": {"👩\u200d❤️\u200d👨", "b"},
	} {
		var got []string
		for rest := text; rest != ""; {
			c, _ := First(rest)
			got, rest = append(got, c), rest[len(c):]
		}
		if len(got) != len(want) {
			t.Errorf("%q is divided into %q", text, got)
			continue
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%q is divided into %q", text, got)
			}
		}
	}
}

func TestFirstDividesAllTextIntoAtMostTwoCells(t *testing.T) {
	alphabet := []rune("ab é\u0301\u200d\ufe0f漢ก็ำ้कीष्य👩🏽❤🇩🇪1\u20e3\u1112\u1161\u11abｶﾞ\u0600\x1b\u0085")
	seed.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom(alphabet), 0, 20, -1).Draw(t, "text") + rapid.SampledFrom([]string{"", "\xff", "\xe0\xa4"}).Draw(t, "end")
		whole := ""
		for rest := text; rest != ""; {
			c, w := First(rest)
			if c == "" || w < 0 || w > 2 || len(c) > len(rest) {
				t.Fatalf("%q begins with %q, %d wide", rest, c, w)
			}
			if _, n := utf8.DecodeRuneInString(c); n == len(c) && w > 0 && utf8.ValidString(c) && Of(c) != w {
				t.Fatalf("%q is %d wide, by itself %d", c, w, Of(c))
			}
			whole, rest = whole+c, rest[len(c):]
		}
		if whole != text {
			t.Fatalf("%q became %q", text, whole)
		}
	})
}

func BenchmarkFirst(b *testing.B) {
	for name, text := range map[string]string{"ascii": "hello world ", "thai": "ภาษาไทยน้ำ", "emoji": "👨\u200d👩\u200d👧 ok ❤\ufe0f", "han": "漢字漢字"} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Of(text)
			}
		})
	}
}

func TestPerCodePointCountsEachCodePoint(t *testing.T) {
	for text, want := range map[string]int{"ab漢": 4, "👨\u200d👩\u200d👧": 6, "👍🏽": 4, "❤\ufe0f": 1, "🇩🇪": 2, "क्या": 3, "\u1112\u1161\u11ab": 2, "e\u0301": 1} {
		if got := PerCodePoint(text); got != want {
			t.Errorf("%q counts %d, want %d", text, got, want)
		}
	}
}
