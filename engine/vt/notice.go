package vt

import (
	"bytes"
	"encoding/base64"
)

// A notice is a notification of which parts have arrived.
type notice struct{ id, title, body string }

// notify99 does OSC 99, kitty's desktop notifications: metadata and a payload,
// which is a part of the title or the body. Parts of an identifier (i) belong
// together until one is the last (d is not 0). What else there is (icons, buttons,
// closing) is ignored, and a query of it not answered.
func (t *host) notify99(b []byte) {
	metadata, payload, ok := bytes.Cut(b, []byte{';'})
	if !ok || len(metadata) > maxText || len(payload) > maxText {
		return
	}
	value := func(key byte) string {
		for pair := range bytes.SplitSeq(metadata, []byte{':'}) {
			if len(pair) > 1 && pair[0] == key && pair[1] == '=' {
				return string(pair[2:])
			}
		}
		return ""
	}
	if value('e') == "1" {
		text, err := base64.RawStdEncoding.DecodeString(string(bytes.TrimRight(payload, "=")))
		if err != nil {
			return
		}
		payload = text
	}
	n := &t.notice
	if id := value('i'); id != n.id {
		*n = notice{id: id}
	}
	switch value('p') {
	case "", "title":
		n.title = cleanText(append([]byte(n.title), payload...), maxText)
	case "body":
		n.body = cleanText(append([]byte(n.body), payload...), maxText)
	default:
		return
	}
	if value('d') == "0" {
		return
	}
	told := *n
	*n = notice{}
	if told.body == "" {
		told.title, told.body = "", told.title
	}
	if told.body != "" {
		t.event(NotifyEvent{told.title, told.body})
	}
}
