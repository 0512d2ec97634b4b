package terminal

import (
	"bytes"
	"errors"
	"io"
	"net/url"
	"os"
	"strconv"
	"strings"

	"tandem/engine/screen/vt"
	"tandem/engine/session/prompt"
	"tandem/engine/system/pty"
	"tandem/persist/store"
)

// isLocal reports whether a host that was reported with a directory is this machine. The program
// may run on another one through ssh. If the name is "", the host is this machine.
func isLocal(host string) bool {
	own, err := os.Hostname()
	return err != nil || host == "" || sameHost(host, "localhost") || sameHost(host, own)
}

// believesFolder reports whether the session really is in the reported directory. It is if the
// shell reports it before its prompt, or the kernel agrees. Any program can print such a report, so
// the directory itself is not accessed: that would reveal whether it exists, or block.
func (s *screen) believesFolder(e vt.CWDEvent) bool {
	if s.facts.isCurrentFolder(e.Path) || !isLocal(e.Host) {
		return false
	}
	if s.shell.IsBetween() {
		return true
	}
	folder, err := foregroundFolder(s.o.Master, 0)
	return err == nil && folder == e.Path
}

// sameHost compares host names with or without their domain.
func sameHost(a, b string) bool {
	a, domainA, _ := strings.Cut(a, ".")
	b, domainB, _ := strings.Cut(b, ".")
	return strings.EqualFold(a, b) && (domainA == "" || domainB == "" || strings.EqualFold(domainA, domainB))
}

// Folder returns the working directory of the foreground program. If there is none, it returns that
// of the process child.
func (s *Session) Folder(child int) (string, error) {
	return foregroundFolder(s.options.Master, child)
}

func foregroundFolder(master *os.File, child int) (string, error) {
	if master == nil {
		return "", errors.New("find folder: the session has exited")
	}
	group := child
	if fg, err := pty.Foreground(master); err == nil && fg > 0 {
		group = fg
	}
	return os.Readlink("/proc/" + strconv.Itoa(group) + "/cwd")
}

// A LastState is what the log of an exited session reveals about its program.
type LastState struct {
	Folder  string // the last one reported by its shell on this machine; "" if none
	Command string // the command that its shell ran; "" at the prompt, or if unknown
	IsFresh bool   // the shell was still at its first prompt
}

// ReadLastState reads the state from the newest checkpoint and the log after it. The program's
// output begins at the offset start. nonce is the one in the shell's marks. It parses only the
// reports in the log, which is much faster than a replay.
func ReadLastState(log Log, start int64, newestFirst []store.Checkpoint, nonce string) (state LastState) {
	from := store.Checkpoint{Offset: max(log.Start(), log.End()-maxReplay)}
	for _, c := range newestFirst {
		if c.Offset >= from.Offset && c.Offset <= log.End() {
			from = c
			break
		}
	}
	shell := prompt.NewFollower(nonce)
	believed := true // in the checkpoint, which the engine wrote
	reports := vt.New(vt.Options{Cols: 1, Rows: 1, Event: func(e vt.Event) {
		switch e := e.(type) {
		case vt.CWDEvent:
			if (believed || shell.IsBetween()) && isLocal(e.Host) {
				state.Folder = e.Path
			}
		case vt.PromptEvent:
			shell.NoteMark(e)
		}
	}})
	writeReports(reports, from.Repaint)
	believed = false
	tail := make([]byte, log.End()-from.Offset)
	n, err := log.ReadAt(tail, from.Offset)
	if err == nil || err == io.EOF {
		begin := min(max(0, start-from.Offset), int64(n))
		writeReports(reports, tail[:begin])
		if start >= from.Offset { // otherwise the checkpoint is of this shell
			shell.Begin()
		}
		writeReports(reports, tail[begin:n])
	}
	state.Command, state.IsFresh = shell.Running(), from.Offset <= start && shell.IsFresh()
	return state
}

// maxReport is the maximum length of a report of a folder or command, in bytes.
const maxReport = 256 << 10

// writeReports writes those parts of p to w that are marks or report a folder.
func writeReports(w io.Writer, p []byte) {
	for {
		at := bytes.Index(p, []byte("\x1b]"))
		if at < 0 {
			return
		}
		p = p[at:]
		end := bytes.IndexAny(p[2:min(len(p), maxReport)], "\a\x1b\x18\x1a")
		if end < 0 {
			p = p[2:]
			continue
		}
		if isReport(p[2:]) && (p[2+end] == '\a' || p[2+end] == '\x1b') {
			w.Write(append(bytes.Clone(p[:2+end]), '\a'))
		}
		p = p[2+end:]
	}
}

// isReport reports whether an OSC sequence is a mark or reports a folder.
func isReport(b []byte) bool {
	for _, kind := range []string{"7;", "9;9;", "133;", "633;", "1337;CurrentDir=", "1337;RemoteHost="} {
		if bytes.HasPrefix(b, []byte(kind)) {
			return true
		}
	}
	return false
}

// appendFolder appends a report of a folder on this machine to dst. If folder is "", it appends
// nothing.
func appendFolder(dst []byte, folder string) []byte {
	if folder == "" {
		return dst
	}
	host, _ := os.Hostname()
	u := url.URL{Scheme: "file", Host: host, Path: folder}
	return append(append(append(dst, "\x1b]7;"...), u.String()...), '\a')
}
