package files

import (
	"bytes"
)

// A Kind is the kind of a file's content.
type Kind string

const (
	Text   Kind = "text"
	Image  Kind = "image"
	Binary Kind = "binary"
)

// sampleSize is how many bytes of a file are examined to detect its kind, as in git.
const sampleSize = 8000

// detectKind detects a file's kind from its first bytes: an image in a common format, with its MIME
// type, or binary if there is a NUL byte.
func detectKind(head []byte) (Kind, string) {
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
