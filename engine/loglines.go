package engine

import (
	"os"
	"strings"

	"tandem/persist"
)

// lastLines is the end of what a process without a terminal has written; of
// split logs that of its errors, or if there is none, of its output.
func (h *host) lastLines(r persist.Record) []string {
	if lines := lastLinesOf(h.errorLogPath(r)); len(lines) > 0 || !r.SplitLog {
		return lines
	}
	return lastLinesOf(h.logPath(r))
}

func lastLinesOf(path string) []string {
	text, _, err := tail(path, 0, shownBytes)
	text = strings.TrimRight(text, "\r\n")
	if err != nil || text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	lines = lines[max(0, len(lines)-shownLines):]
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], "\r")
	}
	return lines
}

// tail is the end of a file from an offset on, as text, of at most a number of
// bytes; dropped is what it leaves out before. It begins with a whole character.
func tail(path string, from int64, most int) (text string, dropped int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		if os.IsNotExist(err) {
			err = nil
		}
		return "", 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", 0, err
	}
	start := max(from, info.Size()-int64(most))
	p := make([]byte, max(info.Size()-start, 0))
	n, err := f.ReadAt(p, start)
	if n < len(p) && n == 0 && err != nil {
		return "", 0, err
	}
	p = p[:n]
	for cut := 0; cut < 3 && start > from && len(p) > 0 && p[0]&0xC0 == 0x80; cut++ {
		p, start = p[1:], start+1
	}
	return strings.ToValidUTF8(string(p), "\uFFFD"), start - from, nil
}

func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
