package files

import (
	"bytes"
)

// A Kind is what a file holds, by its content.
type Kind string

const (
	Text   Kind = "text"
	Image  Kind = "image"
	Binary Kind = "binary"
)

// sampleSize is how much of a file is looked at to tell what it holds; git
// looks at as much.
const sampleSize = 8000

// sniff tells what a file holds from its first bytes: an image of a format that
// everybody can show, with its MIME type; binary if there is a NUL byte.
func sniff(head []byte) (Kind, string) {
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return Image, "image/png"
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return Image, "image/jpeg"
	case bytes.HasPrefix(head, []byte("GIF87a")), bytes.HasPrefix(head, []byte("GIF89a")):
		return Image, "image/gif"
	case len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP":
		return Image, "image/webp"
	case bytes.IndexByte(head[:min(len(head), sampleSize)], 0) >= 0:
		return Binary, ""
	}
	return Text, ""
}
