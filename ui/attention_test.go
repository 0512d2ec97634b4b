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
	"tandem/panes/graphics"
	"tandem/panes/widget"
	"tandem/ui/screen"
)

// watchful is a dashboard that shows session "here" while "away" is out of
// sight.
func watchful(t *testing.T) (d *driver, here, away *fakeSession) {
	e := newFakeEngine()
	here, away = e.add("here", "here-screen"), e.add("away", "away-screen")
	d = drive(t, e, 120, 36)
	d.shows("here-screen")
	return d, here, away
}

// turns has a session wait for something else.
func (s *fakeSession) turns(change func(p *api.Process)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	terminal := *s.process.Terminal
	s.process.Terminal = &terminal
	change(&s.process)
	p := s.process
	s.engine.tell(api.Event{Type: api.EventProcess, Process: &p})
}

func TestASessionOutOfSightThatRingsIsTold(t *testing.T) {
	d, here, away := watchful(t)
	here.turns(func(p *api.Process) { p.Terminal.Rang = true })
	away.turns(func(p *api.Process) { p.Terminal.Rang = true })
	d.shows("away rings")
	if strings.Contains(d.m.notices.toast.text, "here") {
		t.Errorf("the session in sight is told of: %s", d.m.notices.toast.text)
	}
}

func TestBellOfANewSessionIsReported(t *testing.T) {
	d, _, _ := watchful(t)
	young := d.engine.add("young", "young-screen")
	young.process.StartedAt = time.Now()
	young.turns(func(p *api.Process) { p.Terminal.Rang = true })
	d.shows("young rings")
}

func TestWhatAProgramNotifiesOfIsToldAndShown(t *testing.T) {
	d, here, away := watchful(t)
	here.turns(func(p *api.Process) { p.Terminal.Notice, p.Terminal.Notices = "here I am", 1 })
	away.turns(func(p *api.Process) { p.Terminal.Notice, p.Terminal.Notices = "tests passed", 1 })
	d.shows("away says: tests passed")
	d.until("the list shows it", func() bool {
		return regexp.MustCompile(`away +tests passed +♪`).MatchString(d.screen())
	})
	if strings.Contains(d.m.notices.toast.text, "here I am") {
		t.Errorf("the session in sight is told of: %s", d.m.notices.toast.text)
	}
	away.turns(func(p *api.Process) {
		p.Terminal.Notice, p.Terminal.Progress = "", api.Progress{State: "normal", Percent: 42}
	})
	d.shows("42 %")
	here.turns(func(p *api.Process) { p.Terminal.Progress = api.Progress{State: "error", Percent: 7} })
	d.until("the terminal is told of the focused session's", func() bool {
		bar := d.m.View().ProgressBar
		return bar != nil && *bar == tea.ProgressBar{State: tea.ProgressBarError, Value: 7}
	})
}

func TestASessionOutOfSightThatEndsIsTold(t *testing.T) {
	d, _, away := watchful(t)
	away.turns(func(p *api.Process) { p.State, p.PID, p.ExitCode = api.StateExited, 0, new(int) })
	d.shows("away exited with status 0")
}

func TestASecretThatIsAskedForOutOfSightIsToldAndMarkedUntilItIsLookedAt(t *testing.T) {
	d, _, away := watchful(t)
	away.turns(func(p *api.Process) { p.Terminal.Waiting = "secret" })
	d.shows("away asks for a password")
	d.until("the list has a mark", func() bool { return strings.Contains(d.screen(), " asks ") })
	d.shows("1 waiting")
	d.press("ctrl+b", "n")
	d.shows("away-screen")
	d.lacks("1 waiting")
	if d.m.sessions.list.Asks(away.process.ID) {
		t.Error("the mark stays")
	}
}

func TestAMarkGoesWhenWhatWasAskedForWasGiven(t *testing.T) {
	d, _, away := watchful(t)
	away.turns(func(p *api.Process) { p.Terminal.Waiting = "secret" })
	d.shows("1 waiting")
	away.turns(func(p *api.Process) { p.Terminal.Waiting = "" })
	d.lacks("1 waiting")
}

func TestQuietHoursGoAroundMidnight(t *testing.T) {
	at := func(clock string) time.Time {
		when, err := time.Parse("15:04", clock)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	for hours, clocks := range map[Hours]map[string]bool{
		{22 * 60, 7 * 60}:        {"21:59": false, "22:00": true, "00:00": true, "06:59": true, "07:00": false, "12:00": false},
		{12*60 + 30, 13*60 + 30}: {"12:29": false, "12:30": true, "13:29": true, "13:30": false},
		{0, 24 * 60}:             {"00:00": true, "23:59": true},
		{}:                       {"00:00": false, "12:00": false},
	} {
		for clock, want := range clocks {
			if hours.Have(at(clock)) != want {
				t.Errorf("%v: %s is quiet: %v", hours, clock, !want)
			}
		}
	}
}

func TestTheDesktopIsToldOnlyWhileAnotherWindowHasTheKeyboard(t *testing.T) {
	d, _, _ := watchful(t)
	told := d.notifications()
	d.m.notices.notify("in sight")
	if told() != nil {
		t.Fatal("the desktop is told of what the user looks at")
	}
	d.typed(screen.Event{Kind: keys.EventFocusOut})
	d.m.notices.notify("first")
	if got := told(); !slices.Equal(got, []string{"first"}) {
		t.Fatalf("told: %q", got)
	}
	d.m.notices.notify("second")
	d.m.notices.notify("third")
	if told() != nil {
		t.Error("notifications follow each other without a gap")
	}
	d.update(notifyDue{})
	if got := told(); !slices.Equal(got, []string{"second (and 1 more)"}) {
		t.Errorf("told then: %q", got)
	}
	d.m.notices.last = time.Time{}
	d.m.o.Attention.Quiet = Hours{0, 24 * 60}
	d.m.notices.notify("at night")
	d.m.o.Attention = Attention{NoNotify: true}
	d.m.notices.notify("unwanted")
	if told() != nil {
		t.Error("the desktop is told at night, or against the user's will")
	}
}

// agentIs has the coding agent in a session be in a state from now on.
func (s *fakeSession) agentIs(state api.AgentState, text string) {
	s.turns(func(p *api.Process) {
		p.Agent = &api.CodingAgent{Name: "claude", State: state, Text: text, Since: time.Now()}
	})
}

func TestAnAgentsQuestionIsToldOnceAndNotWhereThePersonLooks(t *testing.T) {
	d, here, away := watchful(t)
	told := d.notifications()
	here.agentIs(api.AgentBlocked, "Is it you?")
	d.shows("1 blocked")
	if strings.Contains(d.screen(), "claude in here") {
		t.Error("the session in sight is told of")
	}
	d.typed(screen.Event{Kind: keys.EventFocusOut})
	away.agentIs(api.AgentBlocked, "May I?")
	d.shows("claude in away is blocked: May I? – ctrl+b tab goes there")
	d.shows("2 blocked")
	if got := told(); !slices.Equal(got, []string{"claude in away is blocked: May I?"}) {
		t.Errorf("told: %q", got)
	}
	d.m.notices.last = time.Time{}
	d.reachEngine(d.loseEngine())
	d.shows("2 blocked")
	away.agentIs(api.AgentDone, "")
	d.shows("claude in away is done")
	if got := told(); !slices.Equal(got, []string{"claude in away is done"}) {
		t.Errorf("told then: %q", got)
	}
}

func TestAClickOnTheCountsOpensTheInbox(t *testing.T) {
	d, _, away := watchful(t)
	away.agentIs(api.AgentWorking, "")
	d.shows("1 working")
	at := func(text string) int {
		bar, _, _ := strings.Cut(d.screen(), "\n")
		before, _, ok := strings.Cut(bar, text)
		if !ok {
			t.Fatalf("%q is not in %q", text, bar)
		}
		return widget.Width(before)
	}
	d.click(at("1 working"), 0)
	d.shows("nothing needs you")
	away.agentIs(api.AgentBlocked, "May I?")
	d.shows("1 blocked")
	d.click(at("2 running"), 0)
	if d.m.dialog.open != nil {
		t.Errorf("a click on what runs opens %T", d.m.dialog.open)
	}
	d.click(at("1 blocked"), 0)
	d.shows("Inbox")
	d.shows("May I?")
	d.press("enter")
	d.shows("away-screen")
}

func TestKeyboardFlagsFollowFocus(t *testing.T) {
	e := newFakeEngine()
	s := e.add("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.shows("one$ ")
	flags := uint8(3)
	s.mu.Lock()
	for v := range s.viewers {
		v.push(api.Output{Keyboard: &flags})
	}
	s.mu.Unlock()
	d.until("the flags arrive", func() bool { return d.m.keyboard() == 3 })
	for _, keys := range [][2]string{{":", "esc"}, {"[", "esc"}, {"s", "tab"}} {
		d.press("ctrl+b", keys[0])
		if got := d.m.keyboard(); got != 0 {
			t.Errorf("after ctrl+b %s the flags are %d", keys[0], got)
		}
		d.press(keys[1])
		d.until("the terminal has the keyboard again", func() bool { return d.m.keyboard() == 3 })
	}
}

// notifications gives the dashboard a file as its terminal. told returns the notifications
// written to it since the previous call.
func (d *driver) notifications() (told func() []string) {
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
	terminal.Show(tea.View{}, 20, 3, nil, screen.Placed{}, graphics.Patches{})
	seen := 0
	told = func() (all []string) {
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
	told()
	return told
}
