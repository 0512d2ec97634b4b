package preview

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"
)

// A pictureFormat is a format of pictures that are shown.
type pictureFormat struct {
	name   string
	config func(*io.SectionReader) (image.Config, error)
	decode func(*io.SectionReader) (image.Image, error)
}

// pictureFormatOf is the format of a file that begins with head; without a name
// if it is none.
func pictureFormatOf(head []byte) pictureFormat {
	begins := func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }
	switch {
	case begins("\x89PNG\r\n\x1a\n"):
		return pictureFormat{"png", inOrder(png.DecodeConfig), inOrder(png.Decode)}
	case begins("\xff\xd8\xff"):
		return pictureFormat{"jpeg", inOrder(jpeg.DecodeConfig), inOrder(jpeg.Decode)}
	case begins("GIF87a"), begins("GIF89a"):
		return pictureFormat{"gif", inOrder(gif.DecodeConfig), inOrder(gif.Decode)}
	case begins("BM") && len(head) >= 10 && binary.LittleEndian.Uint32(head[6:]) == 0:
		return pictureFormat{"bmp", inOrder(bmp.DecodeConfig), inOrder(bmp.Decode)}
	case begins("II*\x00"), begins("MM\x00*"): // its parts lie in any order
		return pictureFormat{"tiff", atRandom(tiff.DecodeConfig), atRandom(tiff.Decode)}
	case begins("RIFF") && len(head) >= 12 && string(head[8:12]) == "WEBP":
		return pictureFormat{"webp", inOrder(webp.DecodeConfig), decodeWebP}
	}
	return pictureFormat{}
}

// inOrder reads a format from its beginning to its end, and no more of it than
// is shown.
func inOrder[T any](read func(io.Reader) (T, error)) func(*io.SectionReader) (T, error) {
	return func(file *io.SectionReader) (T, error) {
		return read(bufio.NewReader(io.NewSectionReader(file, 0, min(file.Size(), mostPictureBytes))))
	}
}

func atRandom[T any](read func(io.Reader) (T, error)) func(*io.SectionReader) (T, error) {
	return func(file *io.SectionReader) (T, error) { return read(file) }
}

// faultOf says why a picture cannot be shown.
func faultOf(err error) string {
	var ofPNG png.UnsupportedError
	var ofJPEG jpeg.UnsupportedError
	var ofTIFF tiff.UnsupportedError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "takes too long to show here"
	case errors.Is(err, bmp.ErrUnsupported), errors.As(err, &ofPNG), errors.As(err, &ofJPEG), errors.As(err, &ofTIFF):
		return "cannot be shown here"
	}
	return "damaged"
}

// Chunks of WebP (developers.google.com/speed/webp/docs/riff_container).
const (
	webpHeader   = 12 // RIFF, the length of what follows, and WEBP
	webpChunk    = 8  // what it is, and the length of what it holds
	webpExtended = 10 // what VP8X holds: flags, and the sides of the whole
	webpFrame    = 16 // what ANMF holds before the picture: place, sides, duration, flags
	webpMoves    = 1 << 1
	webpAlpha    = 1 << 4
)

// decodeWebP reads a picture; of one that moves the first.
func decodeWebP(file *io.SectionReader) (image.Image, error) {
	var head [webpHeader + webpChunk + webpExtended]byte
	if _, err := file.ReadAt(head[:], 0); err == nil && string(head[webpHeader:][:4]) == "VP8X" && head[webpHeader+webpChunk]&webpMoves != 0 {
		return firstWebP(file, head[:])
	}
	return inOrder(webp.Decode)(file)
}

// firstWebP reads the first picture of a file that begins with head, as a file
// of its own.
func firstWebP(file *io.SectionReader, head []byte) (image.Image, error) {
	le := binary.LittleEndian
	for at := int64(len(head)); at < mostPictureBytes; {
		var chunk [webpChunk + webpFrame]byte
		n, err := file.ReadAt(chunk[:], at)
		if n < webpChunk {
			return nil, err
		}
		size := int64(le.Uint32(chunk[4:]))
		if string(chunk[:4]) != "ANMF" || size < webpFrame || n < len(chunk) {
			at += webpChunk + size + size%2
			continue
		}
		frame := io.NewSectionReader(file, at+int64(len(chunk)), size-webpFrame)
		whole := bytes.Clone(head)
		le.PutUint32(whole[4:], uint32(int64(len(head))-8+frame.Size()))
		flags := whole[webpHeader+webpChunk:]
		flags[0] = 0
		var first [4]byte
		if _, err := frame.ReadAt(first[:], 0); err == nil && string(first[:]) == "ALPH" {
			flags[0] = webpAlpha
		}
		copy(flags[4:], chunk[webpChunk+6:][:6]) // the sides
		return webp.Decode(bufio.NewReader(io.MultiReader(bytes.NewReader(whole), frame)))
	}
	return nil, io.ErrUnexpectedEOF
}

// otherPicture says what a file is that begins like a picture of a format that
// is not shown; "" if it does not.
func otherPicture(head []byte) string {
	const box = "\x00\x00\x00\x0c"
	be := binary.BigEndian
	switch {
	case len(head) >= 16 && string(head[4:8]) == "ftyp":
		return heifPicture(head)
	case bytes.HasPrefix(head, []byte("8BPS\x00\x01")) && len(head) >= 26: // Adobe Photoshop File Formats Specification
		return sizedPicture("psd", be.Uint32(head[18:]), be.Uint32(head[14:]))
	case bytes.HasPrefix(head, []byte(box+"jP  ")): // ISO/IEC 15444-1, I.5
		if at := bytes.Index(head, []byte("ihdr")); at >= 0 && at+12 <= len(head) {
			return sizedPicture("jpeg 2000", be.Uint32(head[at+8:]), be.Uint32(head[at+4:]))
		}
		return "jpeg 2000 picture"
	case bytes.HasPrefix(head, []byte(box+"JXL ")):
		return "jpeg xl picture"
	case len(head) >= 22 && bytes.HasPrefix(head, []byte("\x00\x00\x01\x00")) && head[5] == 0 && head[9] == 0:
		return iconPicture(head)
	}
	return ""
}

// heifPicture is a file of boxes (ISO/IEC 14496-12) that says it is a picture.
// The largest that it describes is the whole; others are its tiles and its
// preview.
func heifPicture(head []byte) string {
	be := binary.BigEndian
	brands := string(head[8:min(int64(be.Uint32(head)), int64(len(head)), 64)])
	name := ""
	switch {
	case strings.Contains(brands, "avif"), strings.Contains(brands, "avis"):
		name = "avif"
	case strings.Contains(brands, "heic"), strings.Contains(brands, "heix"), strings.Contains(brands, "mif1"), strings.Contains(brands, "hevc"):
		name = "heic"
	default:
		return ""
	}
	var w, h uint32
	for rest := head; ; {
		_, after, found := bytes.Cut(rest, []byte("ispe"))
		if !found || len(after) < 12 {
			break
		}
		if x, y := be.Uint32(after[4:]), be.Uint32(after[8:]); uint64(x)*uint64(y) > uint64(w)*uint64(h) {
			w, h = x, y
		}
		rest = after
	}
	return sizedPicture(name, w, h)
}

// iconPicture is a file of several pictures of one thing.
func iconPicture(head []byte) string {
	n, side := int(head[4]), 0
	if n == 0 || len(head) < 6+16*n {
		return ""
	}
	for i := range n { // 0 stands for 256
		side = max(side, int(head[6+16*i]-1)+1)
	}
	if n == 1 {
		return fmt.Sprintf("icon, %d×%d", side, side)
	}
	return fmt.Sprintf("icon of %d sizes, up to %d×%d", n, side, side)
}

func sizedPicture(format string, w, h uint32) string {
	if w == 0 || h == 0 {
		return format + " picture"
	}
	return fmt.Sprintf("%s picture, %d×%d", format, w, h)
}
