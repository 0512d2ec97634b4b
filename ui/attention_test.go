package ui

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/panes/kit/graphics"
	"tandem/panes/kit/text"
	"tandem/ui/screen"
)

// openTwoSessions opens a dashboard that shows session "here" and hides "away".
func openTwoSessions(t *testing.T) (d *driver, here, away *fakeSession) {
	e := newFakeEngine()
	here, away = e.addSession("here", "here-screen"), e.addSession("away", "away-screen")
	d = drive(t, e, 120, 36)
	d.waitText("here-screen")
	return d, here, away
}

// updateTerminal changes a session's terminal state and announces it.
func (s *fakeSession) updateTerminal(change func(p *api.Process)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	terminal := *s.process.Terminal
	s.process.Terminal = &terminal
	change(&s.process)
	p := s.process
	s.engine.announce(api.Event{Type: api.EventProcess, Process: &p})
}

func TestBellOfHiddenSessionIsReported(t *testing.T) {
	d, here, away := openTwoSessions(t)
	here.updateTerminal(func(p *api.Process) { p.Terminal.Rang = true })
	away.updateTerminal(func(p *api.Process) { p.Terminal.Rang = true })
	d.waitText("away rings")
	if strings.Contains(d.m.notices.toast.text, "here") {
		t.Errorf("the session in sight is told of: %s", d.m.notices.toast.text)
	}
}

func TestNoteIsShownOverZoomedSessionUntilItDisappears(t *testing.T) {
	onFakeTime(t, func(t *testing.T) {
		d, _, away := openTwoSessions(t)
		d.pressKeys("ctrl+b", "z")
		away.updateTerminal(func(p *api.Process) { p.Terminal.Rang = true })
		d.waitText("away rings")
		d.waitNoText("away rings")
		if d.m.areas.mode != modeZoomed {
			t.Error("the note ends the zoom")
		}
	})
}

func TestBellOfNewSessionIsReported(t *testing.T) {
	d, _, _ := openTwoSessions(t)
	young := d.engine.addSession("young", "young-screen")
	young.process.StartedAt = time.Now()
	young.updateTerminal(func(p *api.Process) { p.Terminal.Rang = true })
	d.waitText("young rings")
}

func TestProgramNotificationIsShownAndSentToDesktop(t *testing.T) {
	d, here, away := openTwoSessions(t)
	here.updateTerminal(func(p *api.Process) { p.Terminal.Notice, p.Terminal.Notices = "here I am", 1 })
	away.updateTerminal(func(p *api.Process) { p.Terminal.Notice, p.Terminal.Notices = "tests passed", 1 })
	d.waitText("away says: tests passed")
	d.waitUntil("the list shows it", func() bool {
		return regexp.MustCompile(`away +tests passed +♪`).MatchString(d.screenText())
	})
	if strings.Contains(d.m.notices.toast.text, "here I am") {
		t.Errorf("the session in sight is told of: %s", d.m.notices.toast.text)
	}
	away.updateTerminal(func(p *api.Process) {
		p.Terminal.Notice, p.Terminal.Progress = "", api.Progress{State: "normal", Percent: 42}
	})
	d.waitText("42 %")
	here.updateTerminal(func(p *api.Process) { p.Terminal.Progress = api.Progress{State: "error", Percent: 7} })
	d.waitUntil("the terminal is told of the focused session's", func() bool {
		bar := d.m.View().ProgressBar
		return bar != nil && *bar == tea.ProgressBar{State: tea.ProgressBarError, Value: 7}
	})
}

func TestExitOfHiddenSessionIsReported(t *testing.T) {
	d, _, away := openTwoSessions(t)
	away.updateTerminal(func(p *api.Process) { p.State, p.PID, p.ExitCode = api.StateExited, 0, new(int) })
	d.waitText("away exited with status 0")
}

func TestHiddenPasswordPromptIsReportedAndMarkedUntilSeen(t *testing.T) {
	d, _, away := openTwoSessions(t)
	away.updateTerminal(func(p *api.Process) { p.Terminal.Waiting = "secret" })
	d.waitText("away asks for a password")
	d.waitUntil("the list has a mark", func() bool { return strings.Contains(d.screenText(), " asks ") })
	d.waitText("1 prompting")
	d.pressKeys("ctrl+b", "n")
	d.waitText("away-screen")
	d.waitNoText("1 prompting")
	if d.m.sessions.List.NeedsInput(away.process.ID) {
		t.Error("the mark stays")
	}
}

func TestMarkDisappearsOncePromptIsAnswered(t *testing.T) {
	d, _, away := openTwoSessions(t)
	away.updateTerminal(func(p *api.Process) { p.Terminal.Waiting = "secret" })
	d.waitText("1 prompting")
	away.updateTerminal(func(p *api.Process) { p.Terminal.Waiting = "" })
	d.waitNoText("1 prompting")
}

func TestDesktopIsNotifiedOnlyWhileTerminalLacksFocus(t *testing.T) {
	d, _, _ := openTwoSessions(t)
	told := d.captureNotifications()
	d.m.notices.desktop.notify("in sight")
	if told() != nil {
		t.Fatal("the desktop is told of what the user looks at")
	}
	d.sendEvent(screen.Event{Kind: keys.EventFocusOut})
	d.m.notices.desktop.notify("first")
	if got := told(); !slices.Equal(got, []string{"first"}) {
		t.Fatalf("told: %q", got)
	}
	d.m.notices.desktop.notify("second")
	d.m.notices.desktop.notify("third")
	if told() != nil {
		t.Error("notifications follow each other without a gap")
	}
	d.m.notices.desktop.endGap()
	if got := told(); !slices.Equal(got, []string{"second (and 1 more)"}) {
		t.Errorf("told then: %q", got)
	}
	d.m.notices.desktop.notifiedAt = time.Time{}
	d.m.o.Attention.Quiet = "00:00-24:00"
	d.m.notices.desktop.notify("at night")
	d.m.o.Attention.Quiet, d.m.o.Attention.Notify = "", false
	d.m.notices.desktop.notify("unwanted")
	if told() != nil {
		t.Error("the desktop is told at night, or against the user's will")
	}
}

// setAgent changes the state of the coding agent in a session.
func (s *fakeSession) setAgent(state api.AgentState, text string) {
	s.updateTerminal(func(p *api.Process) {
		p.Agent = &api.CodingAgent{Name: "claude", State: state, Text: text, Since: time.Now()}
	})
}

func TestAgentQuestionIsReportedOnceAndNotIfVisible(t *testing.T) {
	d, here, away := openTwoSessions(t)
	told := d.captureNotifications()
	here.setAgent(api.AgentBlocked, "Is it you?")
	d.waitText("1 blocked")
	if strings.Contains(d.screenText(), "claude in here") {
		t.Error("the session in sight is told of")
	}
	d.sendEvent(screen.Event{Kind: keys.EventFocusOut})
	away.setAgent(api.AgentBlocked, "May I?")
	d.waitText("claude in away is blocked – ctrl+b tab goes there: May I?")
	if _, ink := d.m.statusNote(); ink != d.m.theme.look.BarWarn {
		t.Error("a question has not the colour of its count")
	}
	d.waitText("2 blocked")
	if got := told(); !slices.Equal(got, []string{"claude in away is blocked: May I?"}) {
		t.Errorf("told: %q", got)
	}
	d.m.notices.desktop.notifiedAt = time.Time{}
	d.restoreEngine(d.loseEngine())
	d.waitText("2 blocked")
	away.setAgent(api.AgentDone, "")
	d.waitText("claude in away is done")
	if got := told(); !slices.Equal(got, []string{"claude in away is done"}) {
		t.Errorf("told then: %q", got)
	}
}

func TestClickOnCountsOpensInbox(t *testing.T) {
	d, _, away := openTwoSessions(t)
	away.setAgent(api.AgentWorking, "")
	d.waitText("1 working")
	at := func(s string) int {
		bar, _, _ := strings.Cut(d.screenText(), "\n")
		before, _, ok := strings.Cut(bar, s)
		if !ok {
			t.Fatalf("%q is not in %q", s, bar)
		}
		return text.Width(before)
	}
	d.click(at("1 working"), 0)
	d.waitText("nothing needs you")
	away.setAgent(api.AgentBlocked, "May I?")
	d.waitText("1 blocked")
	d.click(at("2 running"), 0)
	if d.m.dialog.open != nil {
		t.Errorf("a click on what runs opens %T", d.m.dialog.open)
	}
	d.click(at("1 blocked"), 0)
	d.waitText("Inbox")
	d.waitText("May I?")
	d.pressKeys("enter")
	d.waitText("away-screen")
}

func TestKeyboardFlagsFollowFocus(t *testing.T) {
	e := newFakeEngine()
	s := e.addSession("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.waitText("one$ ")
	flags := uint8(3)
	s.mu.Lock()
	for v := range s.viewers {
		v.pushOutput(api.Output{Keyboard: &flags})
	}
	s.mu.Unlock()
	d.waitUntil("the flags arrive", func() bool { return d.m.keyboardFlags() == 3 })
	for _, keys := range [][2]string{{":", "esc"}, {"[", "esc"}, {"s", "tab"}} {
		d.pressKeys("ctrl+b", keys[0])
		if got := d.m.keyboardFlags(); got != 0 {
			t.Errorf("after ctrl+b %s the flags are %d", keys[0], got)
		}
		d.pressKeys(keys[1])
		d.waitUntil("the terminal has the keyboard again", func() bool { return d.m.keyboardFlags() == 3 })
	}
}

// captureNotifications gives the dashboard a file as its terminal. read returns the notifications
// written to it since the previous call.
func (d *driver) captureNotifications() (read func() []string) {
	d.t.Helper()
	d.t.Setenv("TERM", "xterm")
	for _, name := range []string{"TMUX", "KITTY_WINDOW_ID", "VTE_VERSION"} {
		d.t.Setenv(name, "")
	}
	file, err := os.Create(filepath.Join(d.t.TempDir(), "terminal"))
	if err != nil {
		d.t.Fatal(err)
	}
	terminal := screen.New(file, colorprofile.TrueColor)
	d.m.terminal = terminal
	d.t.Cleanup(func() {
		d.m.terminal = nil
		file.Close()
	})
	if err := terminal.Enter(); err != nil {
		d.t.Fatal(err)
	}
	terminal.Show(tea.View{}, 20, 3, nil, screen.Placement{}, graphics.Patches{})
	seen := 0
	read = func() (all []string) {
		if err := terminal.Paint(); err != nil {
			d.t.Fatal(err)
		}
		written, err := os.ReadFile(file.Name())
		if err != nil {
			d.t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("\x1b]9;Tandem: ([^\x1b]*)").FindAllStringSubmatch(string(written[seen:]), -1) {
			all = append(all, m[1])
		}
		seen = len(written)
		return all
	}
	read()
	return read
}
