package terminal

import (
	"sync"
	"time"

	"tandem/engine/base/throttle"
	"tandem/engine/screen/vt"
	"tandem/engine/screen/vt/scan"
	"tandem/engine/session/prompt"
)

// Facts are the properties of a session that are not in its record.
type Facts struct {
	Cols, Rows int
	Title      string
	CWD        string // from OSC 7; "" if not reported
	Progress   int    // state of OSC 9;4 plus 1; 0 if not reported
	Percent    int    // of that progress
	Notice     string // the last desktop notification since the last input, or ""
	Notices    int    // number of notifications
	Rang       bool
	Viewers    int
	Typist     string
	Bytes      int64
	Active     time.Time // time of the last use
	Typed      time.Time // time of the last input; zero if none
	Interrupt  time.Time // time of the last interrupt of the running program
	Waiting    prompt.Need
	Running    string // the command that the shell runs, see prompt.Shell.Running
}

// factsGap is the minimum time between two announcements of changed facts.
const factsGap = 100 * time.Millisecond

// facts holds what a session's program and screen have reported, and announces changes.
type facts struct {
	announce *throttle.Throttle

	mu    sync.Mutex
	known Facts // without bytes and the facts held by viewers, keyboard and shell
}

func newFacts(o Options) *facts {
	return &facts{announce: throttle.New(factsGap, o.Host.FactsChanged), known: Facts{Cols: o.Cols, Rows: o.Rows}}
}

func (k *facts) all() Facts {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.known
}

// touch announces a change of a fact held elsewhere.
func (k *facts) touch() { k.announce.Trigger() }

func (k *facts) stop() { k.announce.Stop() }

// noteEvent records an event of the program.
func (k *facts) noteEvent(e vt.Event) {
	k.mu.Lock()
	before := k.known
	switch e := e.(type) {
	case vt.TitleEvent:
		k.known.Title = e.Title
	case vt.BellEvent:
		k.known.Rang = true
	case vt.CWDEvent:
		k.known.CWD = e.Path
	case vt.ProgressEvent:
		k.known.Progress, k.known.Percent = e.State+1, e.Percent
	case vt.NotifyEvent:
		k.known.Notice, k.known.Notices = noticeOf(e), k.known.Notices+1
	}
	changed := before != k.known
	k.mu.Unlock()
	if changed {
		k.announce.Trigger()
	}
}

// isCurrentFolder reports whether a directory is the one already known. Shells report theirs at
// each prompt.
func (k *facts) isCurrentFolder(folder string) bool { return k.all().CWD == folder }

func (k *facts) setCWD(path string) {
	k.mu.Lock()
	k.known.CWD = path
	k.mu.Unlock()
}

func (k *facts) setSize(cols, rows int) {
	k.mu.Lock()
	k.known.Cols, k.known.Rows = cols, rows
	k.mu.Unlock()
	k.announce.Trigger()
}

// setTitle records a title shown by a replay.
func (k *facts) setTitle(title string) {
	k.mu.Lock()
	k.known.Title = title
	k.mu.Unlock()
}

// clearNotices records that the user has seen bells and notifications. It reports whether there
// were any.
func (k *facts) clearNotices() (any bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	any = k.known.Rang || k.known.Notice != ""
	k.known.Rang, k.known.Notice = false, ""
	return any
}

// clearBell records that the user has noticed the bell. It reports whether the bell had rung.
func (k *facts) clearBell() (rang bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	rang, k.known.Rang = k.known.Rang, false
	return rang
}

// maxNotice is how many bytes of a notification are kept.
const maxNotice = 400

func noticeOf(e vt.NotifyEvent) string {
	text := e.Body
	switch {
	case e.Body == "":
		text = e.Title
	case e.Title != "":
		text = e.Title + ": " + e.Body
	}
	return text[:scan.CompleteLen([]byte(text[:min(len(text), maxNotice)]))]
}
