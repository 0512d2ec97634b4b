package terminal

import (
	"sync"
	"time"

	"tandem/engine/prompt"
	"tandem/engine/vt"
	"tandem/engine/vt/scan"
)

// Facts are what a session shows and no record holds.
type Facts struct {
	Cols, Rows int
	Title      string
	CWD        string // from OSC 7; "" when the program told none
	Progress   int    // state of OSC 9;4 plus 1; 0 when the program told none
	Percent    int    // that goes with it
	Notice     string // the desktop notification that the program asked for last; "" since somebody typed
	Notices    int    // how many it asked for
	Rang       bool
	Viewers    int
	Typist     string
	Bytes      int64
	Active     time.Time // when it was used last
	Interrupt  time.Time // when somebody has interrupted what runs in it last
	Waiting    prompt.Need
}

// facts keeps what a session's program and screen tell, and announces changes.
type facts struct {
	pace *pacer

	mu    sync.Mutex
	known Facts // but for bytes and what viewers, keyboard and shell know
}

func newFacts(o Options) *facts {
	return &facts{pace: newPacer(o.Touched), known: Facts{Cols: o.Cols, Rows: o.Rows}}
}

func (k *facts) all() Facts {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.known
}

// touch has a change announced that is known elsewhere.
func (k *facts) touch() { k.pace.touch() }

func (k *facts) stop() { k.pace.stop() }

// note notes an event of the program.
func (k *facts) note(e vt.Event) {
	if cwd, ok := e.(vt.CWDEvent); ok && (k.isIn(cwd.Path) || !isHere(cwd)) {
		return
	}
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
		k.pace.touch()
	}
}

// isIn reports whether a folder is the one that is known already; shells tell of
// theirs with each prompt, and nobody has to look for it again.
func (k *facts) isIn(folder string) bool { return k.all().CWD == folder }

func (k *facts) setCWD(path string) {
	k.mu.Lock()
	k.known.CWD = path
	k.mu.Unlock()
}

func (k *facts) setSize(cols, rows int) {
	k.mu.Lock()
	k.known.Cols, k.known.Rows = cols, rows
	k.mu.Unlock()
	k.pace.touch()
}

// setTitle notes a title that a replay has shown.
func (k *facts) setTitle(title string) {
	k.mu.Lock()
	k.known.Title = title
	k.mu.Unlock()
}

// hear notes that somebody has heard the bell and read what the program notified of, and
// tells whether there was any of it.
func (k *facts) hear() (any bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	any = k.known.Rang || k.known.Notice != ""
	k.known.Rang, k.known.Notice = false, ""
	return any
}

// noticeMost bounds what is kept of a notification, in bytes.
const noticeMost = 400

func noticeOf(e vt.NotifyEvent) string {
	text := e.Body
	switch {
	case e.Body == "":
		text = e.Title
	case e.Title != "":
		text = e.Title + ": " + e.Body
	}
	return text[:scan.Whole([]byte(text[:min(len(text), noticeMost)]))]
}
