package vt

import (
	"bytes"
	"encoding/base64"
	"net/url"
	"strings"

	"tandem/engine/styled"
	"tandem/engine/vt/scan"
)

// Bounds of what operating system commands may keep.
const (
	maxTitle     = 1024    // bytes
	maxTitles    = 10      // pushed by XTWINOPS 22
	maxLink      = 2083    // bytes of a hyperlink's target
	maxText      = 4096    // bytes of a notification (notice.Most) or a path
	maxClipboard = 1 << 20 // bytes
)

// dispatchOSC does an operating system command. end is how it was terminated;
// a reply ends the same way.
func (t *host) dispatchOSC(b []byte, end string) {
	n, rest := splitNumber(b)
	switch n {
	case 0, 2:
		t.setTitle(scan.Clean(rest, maxTitle))
	case 4, 5, 10, 11, 12, 104, 105, 110, 111, 112:
		if answer := t.colors.Command(n, rest, end); answer != nil {
			t.reply(answer)
		}
	case 7:
		t.workingDirectory(rest)
	case 8:
		t.hyperlink(rest)
	case 9:
		t.notify9(rest)
	case 52:
		t.clipboard(rest)
	case 99:
		if title, body, whole := t.notice.Add(rest); whole {
			t.event(NotifyEvent{title, body})
		}
	case 133:
		t.promptMark(rest)
	case 633:
		t.codeMark(rest)
	case 777:
		t.notify777(rest)
	case 1337:
		t.iterm(rest)
	}
}

// Changes returns the colours changed by the program (OSC 4, 10, 11); nil if none.
func (t *host) Changes() *styled.ColorChanges { return t.colors.Changes() }

func (t *host) setTitle(title string) {
	if title == t.title {
		return
	}
	t.title = title
	t.event(TitleEvent{title})
}

// pushTitle does XTWINOPS 22; the title is kept, never told.
func (t *host) pushTitle() {
	if t.param(1, 0) == 1 { // the icon's name alone
		return
	}
	if len(t.titles) == maxTitles {
		t.titles = append(t.titles[:0], t.titles[1:]...)
	}
	t.titles = append(t.titles, t.title)
}

// popTitle does XTWINOPS 23.
func (t *host) popTitle() {
	if n := len(t.titles); n > 0 && t.param(1, 0) != 1 {
		title := t.titles[n-1]
		t.titles = t.titles[:n-1]
		t.setTitle(title)
	}
}

// workingDirectory does OSC 7: a file URL.
func (t *host) workingDirectory(b []byte) {
	if len(b) > maxText {
		return
	}
	u, err := url.Parse(string(b))
	if err != nil || u.Scheme != "file" || !strings.HasPrefix(u.Path, "/") {
		return
	}
	t.remoteHost = scan.Clean([]byte(u.Host), maxText)
	t.event(CWDEvent{Host: t.remoteHost, Path: scan.Clean([]byte(u.Path), maxText)})
}

// iterm does of iTerm2's OSC 1337 the working directory and RemoteHost=user@host,
// which says where paths are that come without a host, until the next is told.
func (t *host) iterm(b []byte) {
	if path, ok := bytes.CutPrefix(b, []byte("CurrentDir=")); ok {
		t.workingPath(path)
	}
	if at, ok := bytes.CutPrefix(b, []byte("RemoteHost=")); ok && len(at) <= maxText {
		t.remoteHost = scan.Clean(at[bytes.LastIndexByte(at, '@')+1:], maxText)
	}
}

// workingPath takes a working directory that is told as a path: by iTerm2's OSC
// 1337, ConEmu's OSC 9;9 and Visual Studio Code's OSC 633. It is on the host that
// was told last.
func (t *host) workingPath(b []byte) {
	if len(b) > 0 && len(b) <= maxText && b[0] == '/' {
		t.event(CWDEvent{Host: t.remoteHost, Path: scan.Clean(b, maxText)})
	}
}

// hyperlink does OSC 8; params ; URI, an empty URI ends the link.
func (t *host) hyperlink(b []byte) {
	_, uri, ok := bytes.Cut(b, []byte{';'})
	if !ok {
		return
	}
	t.penChanged = true
	t.cur.pen.link = 0
	if len(uri) > 0 && len(uri) <= maxLink && plainURI(uri) && t.links.bytes < 2*maxLinkBytes {
		t.cur.pen.link = t.links.id(uri)
	}
}

// plainURI says that a hyperlink's target has printable ASCII only, as the
// hyperlink specification wants it.
func plainURI(b []byte) bool { return scan.PrintableLen(b) == len(b) }

// notify9 does OSC 9: a notification, with 4; a progress, or with 9; a working
// directory (ConEmu).
func (t *host) notify9(b []byte) {
	if rest, ok := bytes.CutPrefix(b, []byte("4;")); ok {
		state, rest := splitNumber(rest)
		percent, _ := splitNumber(rest)
		if state >= 0 && state <= 4 {
			t.event(ProgressEvent{state, min(max(percent, 0), 100)})
		}
		return
	}
	if path, ok := bytes.CutPrefix(b, []byte("9;")); ok {
		t.workingPath(bytes.Trim(path, `"`))
		return
	}
	n, rest := splitNumber(b)
	if n > 0 && n <= 12 && len(rest) > 0 { // ConEmu's own commands
		return
	}
	if text := scan.Clean(b, maxText); text != "" {
		t.event(NotifyEvent{Body: text})
	}
}

// notify777 does OSC 777;notify;title;body (urxvt).
func (t *host) notify777(b []byte) {
	rest, ok := bytes.CutPrefix(b, []byte("notify;"))
	if !ok {
		return
	}
	title, body, _ := bytes.Cut(rest, []byte{';'})
	t.event(NotifyEvent{scan.Clean(title, maxText), scan.Clean(body, maxText)})
}

// clipboard does OSC 52 for writing. Asking for the clipboard is refused.
func (t *host) clipboard(b []byte) {
	_, data, ok := bytes.Cut(b, []byte{';'})
	data = bytes.TrimRight(data, "=")
	size := base64.RawStdEncoding.DecodedLen(len(data))
	if !ok || string(data) == "?" || size > maxClipboard {
		return
	}
	out := make([]byte, size)
	n, err := base64.RawStdEncoding.Decode(out, data)
	if err == nil {
		t.event(ClipboardEvent{out[:n]})
	}
}
