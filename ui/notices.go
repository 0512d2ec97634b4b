package ui

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/panes/states"
	"tandem/persist/config/settings"
)

// notices shows the user what happens without a key press: in the status bar and on the
// desktop.
type notices struct {
	toast   toast
	desktop desktop
	failed  map[string]bool // processes whose failure was shown

	questions int      // how many questions wait
	announced []string // ids of the requests announced last, oldest first
}

// reportChanges shows which processes have failed or become ready since the news in earlier.
func (n *notices) reportChanges(earlier *panes.News, now []api.Process) tea.Cmd {
	old := earlier.ByID()
	var failed, ready []string
	for i := range now {
		p := &now[i]
		was := old[p.ID]
		if was == nil && time.Since(p.StartedAt) < minSteadyTime {
			// The process started and changed between two snapshots.
			was = &api.Process{}
		}
		if was == nil || p.Kind != api.KindProcess || p.IsOneShot() {
			continue
		}
		switch {
		case isFailing(p) && !isFailing(was) && !n.isRepeatedFailure(p):
			failed = append(failed, states.FullName(p)+" failed: "+states.HowEnded(p))
		case p.IsReady() && !was.IsReady():
			ready = append(ready, states.FullName(p)+" is ready")
		}
	}
	switch {
	case len(failed) > 0:
		note := text.First(failed)
		return n.report(note, note, panes.HasFailed)
	case len(ready) > 0:
		note := text.First(ready)
		return n.report(note, note, panes.NeedsNothing)
	}
	return nil
}

// report shows an event in the status bar and on the desktop.
func (n *notices) report(bar, desktop string, urgency panes.Urgency) tea.Cmd {
	return tea.Batch(n.toast.ShowEvent(bar, urgency), n.desktop.notify(desktop))
}

// minSteadyTime is how long a process must run for its next failure to be reported as a
// new one.
const minSteadyTime = 10 * time.Second

// isRepeatedFailure records a failure of p, and reports whether it need not be shown: p
// has failed before and ran for less than minSteadyTime.
func (n *notices) isRepeatedFailure(p *api.Process) bool {
	failedBefore := n.failed[p.ID]
	n.failed[p.ID] = true
	return failedBefore && p.ExitedAt != nil && p.ExitedAt.Sub(p.StartedAt) < minSteadyTime
}

func isFailing(p *api.Process) bool {
	return p.Failed() || p.State == api.StateBackoff && (p.ExitCode == nil || *p.ExitCode != 0)
}

// maxAnnounced is how many announced requests are remembered.
const maxAnnounced = 1000

// announceRequests reports the first new request. A request that was not listed for a while,
// because its engine could not be reached, is not new when it is listed again. key is the text that
// names the key for answering the request. listed is set if the dialog of requests is open: it
// counts the new request already, so only the desktop is notified. That dialog is never opened
// here, as it would take the user's next keys as an answer.
func (n *notices) announceRequests(now []api.Request, key string, listed bool) tea.Cmd {
	var first *api.Request
	for i := range now {
		if !slices.Contains(n.announced, now[i].ID) {
			n.announced = append(n.announced[max(len(n.announced)+1-maxAnnounced, 0):], now[i].ID)
			first = cmp.Or(first, &now[i])
		}
	}
	if first == nil {
		return nil
	}
	who, asks := dialog.AskerName(*first)+" asks", ": "+dialog.RequestSummary(*first)
	notify := n.desktop.notify(who + asks)
	if listed {
		return notify
	}
	// The key works everywhere, and comes early so that it is not cut off.
	return tea.Batch(n.toast.ShowEvent(who+key+asks, panes.NeedsAnswer), notify)
}

// announceQuestions reports a question that now waits for the user. The note in the status bar
// names the key that opens the question; the desktop notification does not.
func (n *notices) announceQuestions(d *openDialog) tea.Cmd {
	before := n.questions
	if n.questions = len(d.waiting); n.questions <= before {
		return nil
	}
	return tea.Batch(n.toast.ShowNote(d.waitingText(), false), n.desktop.notify(d.waitingName()))
}

// showRemoteNews shows a notice of another machine. The notice comes after an urgent message that
// is shown already or, without one, after fault, the error in this machine's configuration. Such an
// error often affects both machines, so equal texts are merged.
func (n *notices) showRemoteNews(text, fault string) tea.Cmd {
	own := fault
	if n.toast.isUrgent() {
		own = n.toast.text
	}
	switch {
	case own == "":
	case strings.HasSuffix(own, text):
		text = own
	default:
		text = own + "; " + text
	}
	return n.toast.ShowNote(text, true)
}

// A toast is a temporary message in the status bar.
type toast struct {
	text   string
	bad    bool
	news   bool // it reports an event, not the result of a key
	event  bool // it is shown elsewhere too, and does not move most hints
	asks   bool // something waits for the user
	serial int
	redraw func()
	log    io.Writer // receives each message as a line
}

const toastTime = 4 * time.Second

// Say shows a message in the status bar for toastTime; bad marks an error.
func (t *toast) Say(message string, bad bool) tea.Cmd {
	t.ClearMessage()
	t.text, t.bad = text.Clean(message), bad
	_, _ = fmt.Fprintln(t.log, t.text)
	t.redraw()
	serial := t.serial
	return panes.After(toastTime, func() tea.Cmd {
		if serial == t.serial {
			t.text = ""
		}
		return nil
	})
}

// SayOnce shows an error, unless it is shown already.
func (t *toast) SayOnce(message string) tea.Cmd {
	if t.bad && t.text == message {
		return nil
	}
	return t.Say(message, true)
}

// ShowNote shows a message about an event that is not the result of a key.
func (t *toast) ShowNote(message string, bad bool) tea.Cmd {
	cmd := t.Say(message, bad)
	t.news = true
	return cmd
}

// ShowEvent shows a note about an event that rows and counts show as well. The note may therefore
// be cut short, so that most key hints keep their place.
func (t *toast) ShowEvent(message string, urgency panes.Urgency) tea.Cmd {
	cmd := t.ShowNote(message, urgency == panes.HasFailed)
	t.event, t.asks = true, urgency == panes.NeedsAnswer
	return cmd
}

// isUrgent reports whether an error or a request is shown, which a message of success must not
// replace.
func (t *toast) isUrgent() bool { return (t.bad || t.asks) && t.text != "" }

func (t *toast) ink(look *look.Look) look.Ink {
	switch {
	case t.bad:
		return look.BarBad
	case t.asks:
		return look.BarWarn
	}
	return look.BarGood
}

// ClearMessage removes the current message.
func (t *toast) ClearMessage() {
	t.text, t.bad, t.news, t.event, t.asks = "", false, false, false, false
	t.serial++
}

// ClearNote removes the current message unless it is urgent.
func (t *toast) ClearNote() {
	if !t.isUrgent() {
		t.ClearMessage()
	}
}

// notifyGap is the minimum time between two desktop notifications. Events that happen sooner are
// added to the next notification.
const notifyGap = 5 * time.Second

// A desktop sends notifications through the user's terminal while another window has the
// keyboard.
type desktop struct {
	attention *settings.Attention
	send      func(text string)

	blurred    bool      // another window has the keyboard
	notifiedAt time.Time // time of the last notification
	held       []string  // texts for the next one
	timer      bool      // endGap is scheduled
}

// notify sends a desktop notification, unless the terminal has focus, the user turned
// notifications off, or it is a quiet hour.
func (d *desktop) notify(text string) tea.Cmd {
	now := time.Now()
	if !d.blurred || !d.attention.Notify || d.attention.Quiet.Have(now) {
		return nil
	}
	d.held = append(d.held, text)
	if wait := notifyGap - now.Sub(d.notifiedAt); wait > 0 {
		if d.timer {
			return nil
		}
		d.timer = true
		return panes.After(wait, d.endGap)
	}
	d.flush(now)
	return nil
}

// flush sends the collected texts as one notification.
func (d *desktop) flush(now time.Time) {
	if len(d.held) > 0 {
		d.send(text.First(d.held))
		d.held, d.notifiedAt = nil, now
	}
}

func (d *desktop) endGap() tea.Cmd {
	d.timer = false
	if d.blurred {
		d.flush(time.Now())
	}
	d.held = nil
	return nil
}
