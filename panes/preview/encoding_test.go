package preview

import (
	"encoding/binary"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// encodeUTF16 encodes a text in UTF-16, with a byte order mark.
func encodeUTF16(order binary.AppendByteOrder, text string) []byte {
	var out []byte
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		out = order.AppendUint16(out, unit)
	}
	return out
}

func TestPreviewDecodesTextOfOtherEncodings(t *testing.T) {
	const text = "größer\r\n第二行 😀\n"
	for name, data := range map[string][]byte{
		"UTF-16 little-endian": encodeUTF16(binary.LittleEndian, text),
		"UTF-16 big-endian":    encodeUTF16(binary.BigEndian, text),
		"UTF-8 with a mark":    []byte("\ufeff" + text),
	} {
		t.Run(name, func(t *testing.T) {
			v := openPreview(t, "/a.txt", data)
			v.expectText("1  größer ")
			v.expectText("2  第二行 😀 ")
		})
	}
	t.Run("Latin-1", func(t *testing.T) {
		v := openPreview(t, "/a.txt", []byte("caf\xe9 \xa9 1998\nna\xefve\n"))
		v.expectText("1  café © 1998 ")
		v.expectText("2  naïve ")
		if got := v.describeFile(); !strings.Contains(got, "latin-1") {
			t.Errorf("the heading is %q", got)
		}
	})
}

// Reading from the middle or the end of a long file starts inside a line; line boundaries must be
// found again.
func TestLongUTF16TextIsReadFromBothEnds(t *testing.T) {
	const n = 30_000
	for name, order := range map[string]binary.AppendByteOrder{"little-endian": binary.LittleEndian, "big-endian": binary.BigEndian} {
		t.Run(name, func(t *testing.T) {
			v := openPreview(t, "/long.txt", encodeUTF16(order, string(numberedLines(n))))
			v.topLine()
			v.End()
			v.expectText("line number 30000 ")
			for range n / 500 {
				v.Scroll(-400)
				if rows := strings.Split(v.renderRows(), "\n"); !strings.Contains(rows[len(rows)-1], "line number ") {
					t.Fatalf("not decoded:\n%s", strings.Join(rows, "\n"))
				}
			}
			v.Home()
			v.expectText("1  line number 1 ")
		})
	}
}

func TestFinderSearchesDecodedLines(t *testing.T) {
	re := regexp.MustCompile("größe|number 29999$")
	text := "große\nGröße, größe\n" + string(numberedLines(30_000))
	latin1 := []byte(strings.NewReplacer("ö", "\xf6", "ß", "\xdf").Replace(text))
	for name, data := range map[string][]byte{"UTF-16": encodeUTF16(binary.BigEndian, text), "Latin-1": latin1} {
		v := openPreview(t, "/a.txt", data)
		v.renderRows()
		find := v.Finder(re, 10)
		if find == nil {
			t.Fatalf("%s is left to the engine", name)
		}
		if found, err := find(t.Context(), v.from); err != nil || !slices.Equal(found, []int64{2, 30_001}) {
			t.Errorf("%s: found lines %v, %v", name, found, err)
		}
	}
	plain := openPreview(t, "/a.txt", []byte(text))
	if plain.renderRows(); plain.Finder(re, 10) != nil {
		t.Error("UTF-8 is not left to the engine")
	}
}

func TestAmbiguousBytesAreLatin1OnlyIfPrintable(t *testing.T) {
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

func TestSurrogatePairIsNotSplitBetweenLines(t *testing.T) {
	text := strings.Repeat("x", maxLine/2-2) + "😀y"
	lines, _ := textLines(encodeUTF16(binary.LittleEndian, text), 0, true, encodingUTF16LE)
	if len(lines) != 2 || lines[1].text != "😀y" {
		t.Errorf("got %d lines, the last %q", len(lines), lines[len(lines)-1].text)
	}
}
