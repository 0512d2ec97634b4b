package vt

import (
	"bytes"
	"encoding/base64"
	"net/url"
	"strings"

	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt/scan"
)

// Limits of operating system commands.
const (
	maxTitle     = 1024    // bytes
	maxTitles    = 10      // depth of XTWINOPS 22
	maxLink      = 2083    // bytes of a hyperlink's target
	maxText      = 4096    // bytes of a notification (notice.Most) or a path
	maxClipboard = 1 << 20 // bytes
)

// dispatchOSC executes an operating system command. end is its terminator, which replies repeat.
func (t *host) dispatchOSC(b []byte, end string) {
	n, rest := splitNumber(b)
	switch n {
	case 0, 2:
		t.setTitle(scan.Clean(rest, maxTitle))
	case 4, 5, 10, 11, 12, 104, 105, 110, 111, 112:
		if answer := t.colors.Command(n, rest, end); answer != nil {
			t.sendReply(answer)
		}
	case 7:
		t.parseWorkingDirectory(rest)
	case 8:
		t.setHyperlink(rest)
	case 9:
		t.notify9(rest)
	case 52:
		t.writeClipboard(rest)
	case 99:
		if title, body, whole := t.notice.Add(rest); whole {
			t.sendEvent(NotifyEvent{title, body})
		}
	case 133:
		t.parsePromptMark(rest)
	case 633:
		t.parseCodeMark(rest)
	case 777:
		t.notify777(rest)
	case 1337:
		t.parseITerm(rest)
	}
}

// Changes returns the colours changed by the program (OSC 4, 10, 11); nil if none.
func (t *Terminal) Changes() *styled.ColorChanges { return t.host.colors.Changes() }

func (t *host) setTitle(title string) {
	if title == t.title {
		return
	}
	t.title = title
	t.sendEvent(TitleEvent{title})
}

// pushTitle implements XTWINOPS 22. The saved title is never reported back to the program.
func (t *host) pushTitle() {
	if t.param(1, 0) == 1 { // the icon's name alone
		return
	}
	if len(t.titles) == maxTitles {
		t.titles = append(t.titles[:0], t.titles[1:]...)
	}
	t.titles = append(t.titles, t.title)
}

// popTitle implements XTWINOPS 23.
func (t *host) popTitle() {
	if n := len(t.titles); n > 0 && t.param(1, 0) != 1 {
		title := t.titles[n-1]
		t.titles = t.titles[:n-1]
		t.setTitle(title)
	}
}

// parseWorkingDirectory handles OSC 7, a file URL.
func (t *host) parseWorkingDirectory(b []byte) {
	if len(b) > maxText {
		return
	}
	u, err := url.Parse(string(b))
	if err != nil || u.Scheme != "file" || !strings.HasPrefix(u.Path, "/") {
		return
	}
	t.remoteHost = scan.Clean([]byte(u.Host), maxText)
	t.sendEvent(CWDEvent{Host: t.remoteHost, Path: scan.Clean([]byte(u.Path), maxText)})
}

// parseITerm handles two commands of iTerm2's OSC 1337: the working directory, and
// RemoteHost=user@host, the host of later paths sent without one.
func (t *host) parseITerm(b []byte) {
	if path, ok := bytes.CutPrefix(b, []byte("CurrentDir=")); ok {
		t.reportWorkingPath(path)
	}
	if at, ok := bytes.CutPrefix(b, []byte("RemoteHost=")); ok && len(at) <= maxText {
		t.remoteHost = scan.Clean(at[bytes.LastIndexByte(at, '@')+1:], maxText)
	}
}

// reportWorkingPath reports a working directory sent as a path: by iTerm2's OSC 1337, ConEmu's OSC
// 9;9 or Visual Studio Code's OSC 633. Its host is the last one named.
func (t *host) reportWorkingPath(b []byte) {
	if len(b) > 0 && len(b) <= maxText && b[0] == '/' {
		t.sendEvent(CWDEvent{Host: t.remoteHost, Path: scan.Clean(b, maxText)})
	}
}

// setHyperlink handles OSC 8: params ; URI. An empty URI ends the link.
func (t *host) setHyperlink(b []byte) {
	_, uri, ok := bytes.Cut(b, []byte{';'})
	if !ok {
		return
	}
	t.page.penChanged = true
	t.page.cur.pen.link = 0
	// Beyond this size, links are dropped until the next collection makes room.
	if len(uri) > 0 && len(uri) <= maxLink && isPlainURI(uri) && t.store.links.bytes < 2*maxLinkBytes {
		t.page.cur.pen.link = t.store.links.intern(uri)
	}
}

// isPlainURI reports whether a target has only printable ASCII, as the hyperlink specification
// requires.
func isPlainURI(b []byte) bool { return scan.PrintableLen(b) == len(b) }

// notify9 handles OSC 9: a notification; progress after "4;"; or, after "9;", a working directory
// (ConEmu).
func (t *host) notify9(b []byte) {
	if rest, ok := bytes.CutPrefix(b, []byte("4;")); ok {
		state, rest := splitNumber(rest)
		percent, _ := splitNumber(rest)
		if state >= 0 && state <= 4 {
			t.sendEvent(ProgressEvent{state, min(max(percent, 0), 100)})
		}
		return
	}
	if path, ok := bytes.CutPrefix(b, []byte("9;")); ok {
		t.reportWorkingPath(bytes.Trim(path, `"`))
		return
	}
	n, rest := splitNumber(b)
	if n > 0 && n <= 12 && len(rest) > 0 { // ConEmu's own commands
		return
	}
	if text := scan.Clean(b, maxText); text != "" {
		t.sendEvent(NotifyEvent{Body: text})
	}
}

// notify777 handles OSC 777;notify;title;body (urxvt).
func (t *host) notify777(b []byte) {
	rest, ok := bytes.CutPrefix(b, []byte("notify;"))
	if !ok {
		return
	}
	title, body, _ := bytes.Cut(rest, []byte{';'})
	t.sendEvent(NotifyEvent{scan.Clean(title, maxText), scan.Clean(body, maxText)})
}

// writeClipboard handles OSC 52 writes. Queries are ignored, so that a program cannot read the
// clipboard.
func (t *host) writeClipboard(b []byte) {
	_, data, ok := bytes.Cut(b, []byte{';'})
	data = bytes.TrimRight(data, "=")
	size := base64.RawStdEncoding.DecodedLen(len(data))
	if !ok || string(data) == "?" || size > maxClipboard {
		return
	}
	out := make([]byte, size)
	n, err := base64.RawStdEncoding.Decode(out, data)
	if err == nil {
		t.sendEvent(ClipboardEvent{out[:n]})
	}
}

// splitNumber cuts a decimal number and the following semicolon off b. n is -1 without a number.
func splitNumber(b []byte) (n int, rest []byte) {
	head, rest, _ := bytes.Cut(b, []byte{';'})
	return parseNumber(head), rest
}

// parseNumber parses a decimal number of at most six digits; it returns -1 for anything else.
func parseNumber(b []byte) int {
	if len(b) == 0 || len(b) > 6 {
		return -1
	}
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	return n
}
