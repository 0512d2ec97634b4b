package preview

import (
	"bytes"
	"context"
	"encoding/binary"
	"regexp"
	"unicode/utf16"
	"unicode/utf8"

	"tandem/engine/screen/vt/scan"
)

// An encoding is the character encoding of a text file.
type encoding uint8

const (
	encodingUTF8 encoding = iota
	encodingLatin1
	encodingUTF16LE
	encodingUTF16BE
)

// encodingOf guesses the encoding of a file from its first bytes. It is UTF-16 if they begin with
// the byte order mark, and Latin-1 if they are not valid UTF-8 but may be Latin-1 text.
func encodingOf(head []byte) encoding {
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}) && !bytes.HasPrefix(head, []byte{0xff, 0xfe, 0, 0}): // the longer mark is UTF-32's
		return encodingUTF16LE
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return encodingUTF16BE
	case couldBeLatin1(head[:scan.CompleteLen(head)]):
		return encodingLatin1
	}
	return encodingUTF8
}

// couldBeLatin1 reports whether data may be Latin-1 text: it is not valid UTF-8, contains no
// multibyte UTF-8 characters, and no control characters that are unusual in text files.
func couldBeLatin1(data []byte) bool {
	invalid := false
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch c := data[i]; {
		case size > 1, c < ' ' && !bytes.ContainsRune([]byte("\t\n\f\r\x1b"), r), c >= 0x7f && c < 0xa0:
			return false
		case r == utf8.RuneError:
			invalid = true
		}
		i += size
	}
	return invalid
}

// name returns the encoding's name for a heading, or "" for UTF-8.
func (e encoding) name() string {
	return map[encoding]string{encodingLatin1: "latin-1", encodingUTF16LE: "utf-16", encodingUTF16BE: "utf-16"}[e]
}

func (e encoding) isUTF16() bool { return e == encodingUTF16LE || e == encodingUTF16BE }

// unitSize returns the size of a code unit in bytes.
func (e encoding) unitSize() int {
	if e.isUTF16() {
		return 2
	}
	return 1
}

func (e encoding) byteOrder() binary.ByteOrder {
	if e == encodingUTF16BE {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// indexNewline returns the offset of the first line feed in data, or -1. data must begin at the
// start of a code unit.
func (e encoding) indexNewline(data []byte) int {
	if !e.isUTF16() {
		return bytes.IndexByte(data, '\n')
	}
	for i := 0; i+1 < len(data); i += 2 {
		if e.byteOrder().Uint16(data[i:]) == '\n' {
			return i
		}
	}
	return -1
}

// completeLen returns the length of data without an incomplete character at its end.
func (e encoding) completeLen(data []byte) int {
	switch {
	case e == encodingLatin1:
		return len(data)
	case !e.isUTF16():
		return scan.CompleteLen(data)
	}
	n := len(data) &^ 1
	if n >= 2 && utf16.IsSurrogate(rune(e.byteOrder().Uint16(data[n-2:]))) && e.byteOrder().Uint16(data[n-2:]) < 0xdc00 {
		n -= 2
	}
	return n
}

// decode returns data as UTF-8. Invalid bytes of a UTF-8 file stay as they are.
func (e encoding) decode(data []byte) string {
	switch {
	case e == encodingLatin1:
		runes := make([]rune, len(data))
		for i, c := range data {
			runes[i] = rune(c)
		}
		return string(runes)
	case !e.isUTF16():
		return string(data)
	}
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = e.byteOrder().Uint16(data[2*i:])
	}
	return string(utf16.Decode(units))
}

// Finder returns a function that searches the current file for re and returns the numbers of the
// matching lines, at most limit of them. For a UTF-8 file Finder returns nil, because the engine
// searches such files itself.
func (p *Preview) Finder(re *regexp.Regexp, limit int) func(context.Context, Source) ([]int64, error) {
	path, enc := p.path, p.encoding
	if p.kind != previewText || enc == encodingUTF8 {
		return nil
	}
	return func(ctx context.Context, src Source) (found []int64, err error) {
		number := int64(0)
		for off, size := int64(0), int64(1); off < size && len(found) < limit; {
			var data []byte
			if data, size, err = src.ReadAt(ctx, path, off, previewChunk); err != nil || len(data) == 0 {
				return found, err
			}
			lines, end := textLines(data, off, off+int64(len(data)) >= size, enc)
			for _, l := range lines {
				if !l.cont {
					number++
				}
				if re.MatchString(l.text) && len(found) < limit && (len(found) == 0 || found[len(found)-1] != number) {
					found = append(found, number)
				}
			}
			off = end
		}
		return found, nil
	}
}
