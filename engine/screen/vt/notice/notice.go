// Package notice assembles desktop notifications sent in parts: kitty's OSC 99
// (sw.kovidgoyal.net/kitty/desktop-notifications).
package notice

import (
	"bytes"
	"encoding/base64"

	"tandem/engine/screen/vt/scan"
)

// Most is the maximum number of bytes of metadata, of a title and of a body.
const Most = 4096

// Parts is a notification with the parts received so far.
type Parts struct{ id, title, body string }

// Add processes the text after "99;": metadata and a payload, a part of the title or the body.
// Parts with the same identifier (i) belong together. The part without d=0 is the last, and makes
// the notification whole. Icons, buttons and requests to close are ignored; queries are not
// answered.
func (n *Parts) Add(b []byte) (title, body string, whole bool) {
	metadata, payload, ok := bytes.Cut(b, []byte{';'})
	if !ok || len(metadata) > Most || len(payload) > Most {
		return "", "", false
	}
	if findValue(metadata, 'e') == "1" {
		text, err := base64.RawStdEncoding.DecodeString(string(bytes.TrimRight(payload, "=")))
		if err != nil {
			return "", "", false
		}
		payload = text
	}
	if id := findValue(metadata, 'i'); id != n.id {
		*n = Parts{id: id}
	}
	switch findValue(metadata, 'p') {
	case "", "title":
		n.title = scan.Clean(append([]byte(n.title), payload...), Most)
	case "body":
		n.body = scan.Clean(append([]byte(n.body), payload...), Most)
	default:
		return "", "", false
	}
	if findValue(metadata, 'd') == "0" {
		return "", "", false
	}
	told := *n
	*n = Parts{}
	// A notification with a title only is shown as text without a title.
	if told.body == "" {
		told.title, told.body = "", told.title
	}
	return told.title, told.body, told.body != ""
}

// findValue returns the value of a key in metadata, or "".
func findValue(metadata []byte, key byte) string {
	for pair := range bytes.SplitSeq(metadata, []byte{':'}) {
		if len(pair) > 1 && pair[0] == key && pair[1] == '=' {
			return string(pair[2:])
		}
	}
	return ""
}
