package preview

import (
	"encoding/binary"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// utf16Of encodes a text with its byte order mark.
func utf16Of(order binary.AppendByteOrder, text string) []byte {
	var out []byte
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		out = order.AppendUint16(out, unit)
	}
	return out
}

func TestPreviewDecodesTextOfOtherEncodings(t *testing.T) {
	const text = "größer\r\n第二行 😀\n"
	for name, data := range map[string][]byte{
		"UTF-16 little-endian": utf16Of(binary.LittleEndian, text),
		"UTF-16 big-endian":    utf16Of(binary.BigEndian, text),
		"UTF-8 with a mark":    []byte("\ufeff" + text),
	} {
		t.Run(name, func(t *testing.T) {
			v := view(t, "/a.txt", data)
			v.shows("1  größer ")
			v.shows("2  第二行 😀 ")
		})
	}
	t.Run("Latin-1", func(t *testing.T) {
		v := view(t, "/a.txt", []byte("caf\xe9 \xa9 1998\nna\xefve\n"))
		v.shows("1  café © 1998 ")
		v.shows("2  naïve ")
		if got := v.detail(); !strings.Contains(got, "latin-1") {
			t.Errorf("the heading is %q", got)
		}
	})
}

// The lines of a long file are found again from its middle and its end, where reading
// begins in the middle of a line.
func TestLongUTF16TextIsReadFromBothEnds(t *testing.T) {
	const n = 30_000
	for name, order := range map[string]binary.AppendByteOrder{"little-endian": binary.LittleEndian, "big-endian": binary.BigEndian} {
		t.Run(name, func(t *testing.T) {
			v := view(t, "/long.txt", utf16Of(order, string(countedLines(n))))
			v.atTop()
			v.End()
			v.shows("line number 30000 ")
			for range n / 500 {
				v.Scroll(-400)
				if rows := strings.Split(v.see(), "\n"); !strings.Contains(rows[len(rows)-1], "line number ") {
					t.Fatalf("not decoded:\n%s", strings.Join(rows, "\n"))
				}
			}
			v.Home()
			v.shows("1  line number 1 ")
		})
	}
}

func TestFinderSearchesDecodedLines(t *testing.T) {
	re := regexp.MustCompile("größe|number 29999$")
	text := "große\nGröße, größe\n" + string(countedLines(30_000))
	latin1 := []byte(strings.NewReplacer("ö", "\xf6", "ß", "\xdf").Replace(text))
	for name, data := range map[string][]byte{"UTF-16": utf16Of(binary.BigEndian, text), "Latin-1": latin1} {
		v := view(t, "/a.txt", data)
		v.see()
		find := v.Finder(re, 10)
		if find == nil {
			t.Fatalf("%s is left to the engine", name)
		}
		if found, err := find(t.Context(), v.from); err != nil || !slices.Equal(found, []int64{2, 30_001}) {
			t.Errorf("%s: found lines %v, %v", name, found, err)
		}
	}
	plain := view(t, "/a.txt", []byte(text))
	if plain.see(); plain.Finder(re, 10) != nil {
		t.Error("UTF-8 is not left to the engine")
	}
}

func TestEncodingOfDoubtfulBytes(t *testing.T) {
	for _, c := range []struct {
		name, head string
		want       encoding
	}{
		{"ASCII", "plain\n", encodingUTF8},
		{"UTF-8 cut in a character", "gr\xc3", encodingUTF8},
		{"damaged UTF-8", "größe \xff\n", encodingUTF8},
		{"control characters", "\xe9\x01\x02", encodingUTF8},
		{"C1 control characters", "\xe9\x85", encodingUTF8},
		{"a NUL", "\xe9\x00", encodingUTF8},
		{"UTF-32", "\xff\xfe\x00\x00a\x00\x00\x00", encodingUTF8},
		{"Latin-1 with an escape sequence", "\x1b[1mcaf\xe9\x1b[m\r\n", encodingLatin1},
	} {
		if got := encodingOf([]byte(c.head)); got != c.want {
			t.Errorf("%s: encoding %d, want %d", c.name, got, c.want)
		}
	}
}

func TestSurrogatePairIsNotCutBetweenLines(t *testing.T) {
	text := strings.Repeat("x", mostLine/2-2) + "😀y"
	lines, _ := textLines(utf16Of(binary.LittleEndian, text), 0, true, encodingUTF16LE)
	if len(lines) != 2 || lines[1].text != "😀y" {
		t.Errorf("got %d lines, the last %q", len(lines), lines[len(lines)-1].text)
	}
}
