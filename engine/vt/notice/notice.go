// Package notice puts desktop notifications together that come in parts: kitty's OSC 99
// (sw.kovidgoyal.net/kitty/desktop-notifications).
package notice

import (
	"bytes"
	"encoding/base64"

	"tandem/engine/vt/scan"
)

// Most is how many bytes of metadata, of a title and of a body count.
const Most = 4096

// Parts is a notification of which parts have arrived.
type Parts struct{ id, title, body string }

// Add takes what stands behind "99;": metadata and a payload, which is a part of the
// title or the body. Parts of an identifier (i) belong together until one is the last
// (d is not 0); then the notification is whole. What else there is (icons, buttons,
// closing) is ignored, and a query of it not answered.
func (n *Parts) Add(b []byte) (title, body string, whole bool) {
	metadata, payload, ok := bytes.Cut(b, []byte{';'})
	if !ok || len(metadata) > Most || len(payload) > Most {
		return "", "", false
	}
	if value(metadata, 'e') == "1" {
		text, err := base64.RawStdEncoding.DecodeString(string(bytes.TrimRight(payload, "=")))
		if err != nil {
			return "", "", false
		}
		payload = text
	}
	if id := value(metadata, 'i'); id != n.id {
		*n = Parts{id: id}
	}
	switch value(metadata, 'p') {
	case "", "title":
		n.title = scan.Clean(append([]byte(n.title), payload...), Most)
	case "body":
		n.body = scan.Clean(append([]byte(n.body), payload...), Most)
	default:
		return "", "", false
	}
	if value(metadata, 'd') == "0" {
		return "", "", false
	}
	told := *n
	*n = Parts{}
	if told.body == "" {
		told.title, told.body = "", told.title
	}
	return told.title, told.body, told.body != ""
}

// value is that of a key in metadata, "" if it is not there.
func value(metadata []byte, key byte) string {
	for pair := range bytes.SplitSeq(metadata, []byte{':'}) {
		if len(pair) > 1 && pair[0] == key && pair[1] == '=' {
			return string(pair[2:])
		}
	}
	return ""
}
