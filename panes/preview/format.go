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

// A pictureFormat is an image format the preview can show.
type pictureFormat struct {
	name   string
	config func(*io.SectionReader) (image.Config, error)
	decode func(*io.SectionReader) (image.Image, error)
}

// pictureFormatOf returns the image format of a file that begins with head. If it is not an image
// that can be shown, the format has no name.
func pictureFormatOf(head []byte) pictureFormat {
	begins := func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }
	switch {
	case begins("\x89PNG\r\n\x1a\n"):
		return pictureFormat{"png", sequential(png.DecodeConfig), sequential(png.Decode)}
	case begins("\xff\xd8\xff"):
		return pictureFormat{"jpeg", sequential(jpeg.DecodeConfig), sequential(jpeg.Decode)}
	case begins("GIF87a"), begins("GIF89a"):
		return pictureFormat{"gif", sequential(gif.DecodeConfig), sequential(gif.Decode)}
	case begins("BM") && len(head) >= 10 && binary.LittleEndian.Uint32(head[6:]) == 0:
		return pictureFormat{"bmp", sequential(bmp.DecodeConfig), sequential(bmp.Decode)}
	case begins("II*\x00"), begins("MM\x00*"): // TIFF's parts may be in any order
		return pictureFormat{"tiff", atRandom(tiff.DecodeConfig), atRandom(tiff.Decode)}
	case begins("RIFF") && len(head) >= 12 && string(head[8:12]) == "WEBP":
		return pictureFormat{"webp", sequential(webp.DecodeConfig), decodeWebP}
	}
	return pictureFormat{}
}

// sequential adapts a decoder that reads from a stream, so that it reads only the part of the file
// that it needs.
func sequential[T any](read func(io.Reader) (T, error)) func(*io.SectionReader) (T, error) {
	return func(file *io.SectionReader) (T, error) {
		return read(bufio.NewReader(io.NewSectionReader(file, 0, min(file.Size(), mostPictureBytes))))
	}
}

func atRandom[T any](read func(io.Reader) (T, error)) func(*io.SectionReader) (T, error) {
	return func(file *io.SectionReader) (T, error) { return read(file) }
}

// describeFault says why an image cannot be shown.
func describeFault(err error) string {
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

// Sizes of WebP chunks, in bytes (developers.google.com/speed/webp/docs/riff_container).
const (
	webpHeader   = 12 // RIFF, the length of the rest, and WEBP
	webpChunk    = 8  // type and length
	webpExtended = 10 // content of VP8X: flags and canvas size
	webpFrame    = 16 // ANMF before the image: position, size, duration, flags
	webpMoves    = 1 << 1
	webpAlpha    = 1 << 4
)

// decodeWebP decodes an image, or the first frame of an animation.
func decodeWebP(file *io.SectionReader) (image.Image, error) {
	var head [webpHeader + webpChunk + webpExtended]byte
	if _, err := file.ReadAt(head[:], 0); err == nil && string(head[webpHeader:][:4]) == "VP8X" && head[webpHeader+webpChunk]&webpMoves != 0 {
		return firstWebP(file, head[:])
	}
	return sequential(webp.Decode)(file)
}

// firstWebP decodes the first frame of an animation. It passes the frame to the decoder as a file
// of its own, because the decoder knows no animations.
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
		copy(flags[4:], chunk[webpChunk+6:][:6]) // canvas size
		return webp.Decode(bufio.NewReader(io.MultiReader(bytes.NewReader(whole), frame)))
	}
	return nil, io.ErrUnexpectedEOF
}

// describeOther describes an image in a format the preview cannot show, or returns "".
func describeOther(head []byte) string {
	const box = "\x00\x00\x00\x0c"
	be := binary.BigEndian
	switch {
	case len(head) >= 16 && string(head[4:8]) == "ftyp":
		return describeHEIF(head)
	case bytes.HasPrefix(head, []byte("8BPS\x00\x01")) && len(head) >= 26: // Adobe Photoshop File Formats Specification
		return describeSized("psd", be.Uint32(head[18:]), be.Uint32(head[14:]))
	case bytes.HasPrefix(head, []byte(box+"jP  ")): // ISO/IEC 15444-1, I.5
		return "jpeg 2000 picture"
	case bytes.HasPrefix(head, []byte(box+"JXL ")):
		return "jpeg xl picture"
	case len(head) >= 22 && bytes.HasPrefix(head, []byte("\x00\x00\x01\x00")) && head[4] > 0 && head[5] == 0 && head[9] == 0:
		return "icon"
	}
	return ""
}

// describeHEIF describes an image in a container of boxes (ISO/IEC 14496-12). The container names
// several sizes. The largest is that of the image; the others are those of its tiles and its
// thumbnail.
func describeHEIF(head []byte) string {
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
	return describeSized(name, w, h)
}

func describeSized(format string, w, h uint32) string {
	if w == 0 || h == 0 {
		return format + " picture"
	}
	return fmt.Sprintf("%s picture, %d×%d", format, w, h)
}
