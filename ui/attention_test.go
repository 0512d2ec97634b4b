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
	"tandem/panes"
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
	if strings.Contains(d.m.toast.text, "here") {
		t.Errorf("the session in sight is told of: %s", d.m.toast.text)
	}
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
	if len(d.m.attention.marks) != 0 {
		t.Errorf("marks stay: %v", d.m.attention.marks)
	}
}

func TestAMarkGoesWhenWhatWasAskedForWasGiven(t *testing.T) {
	d, _, away := watchful(t)
	away.turns(func(p *api.Process) { p.Terminal.Waiting = "secret" })
	d.shows("1 waiting")
	away.turns(func(p *api.Process) { p.Terminal.Waiting = "" })
	d.lacks("1 waiting")
}

// attending is a model that has told nothing yet.
func attending() *model {
	m := &model{news: panes.News{Connected: true}}
	return m
}

func session(waiting string) *api.Process {
	return &api.Process{ID: "a", Kind: api.KindSession, Name: "a", State: api.StateRunning, Terminal: &api.Terminal{Waiting: waiting}}
}

func TestOnlyCommandsThatTookLongAreTold(t *testing.T) {
	start := time.Now()
	for after, want := range map[time.Duration]string{3 * time.Second: "", 9 * time.Second: "", 75 * time.Second: "is done after 1m"} {
		m := attending()
		if _, text := m.sessionNews(session("prompt"), session(""), start); text != "" {
			t.Errorf("a command that begins is told: %s", text)
		}
		if _, text := m.sessionNews(session(""), session("prompt"), start.Add(after)); text != want {
			t.Errorf("after %v: %q, want %q", after, text, want)
		}
	}
	m := attending()
	m.o.Attention.LongCommand = 2 * time.Second
	m.sessionNews(session("prompt"), session(""), start)
	if mark, _ := m.sessionNews(session(""), session("prompt"), start.Add(3*time.Second)); mark != "done" {
		t.Errorf("the mark is %q", mark)
	}
	if _, text := attending().sessionNews(session(""), session("prompt"), start); text != "" {
		t.Errorf("a command whose beginning was not seen is told: %s", text)
	}
}

func TestAProgramThatWorkedAndThenWaitsIsTold(t *testing.T) {
	start := time.Now()
	m := attending()
	m.sessionNews(session("prompt"), session(""), start)
	if _, text := m.sessionNews(session(""), session("input"), start.Add(time.Second)); text != "" {
		t.Errorf("a program that is being used is told: %s", text)
	}
	m.sessionNews(session("input"), session(""), start.Add(2*time.Second))
	if _, text := m.sessionNews(session(""), session("input"), start.Add(20*time.Second)); text != "waits for input" {
		t.Errorf("told is %q", text)
	}
	if _, text := m.sessionNews(session("input"), session("prompt"), start.Add(30*time.Second)); text != "is done after 30s" {
		t.Errorf("the whole command: %q", text)
	}
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
	d.m.notify("in sight")
	if told() != nil {
		t.Fatal("the desktop is told of what the person looks at")
	}
	d.typed(screen.Event{Kind: keys.EventFocusOut})
	d.m.notify("first")
	if got := told(); !slices.Equal(got, []string{"first"}) {
		t.Fatalf("told: %q", got)
	}
	d.m.notify("second")
	d.m.notify("third")
	if told() != nil {
		t.Error("notifications follow each other without a gap")
	}
	d.update(deskDue{})
	if got := told(); !slices.Equal(got, []string{"second (and 1 more)"}) {
		t.Errorf("told then: %q", got)
	}
	d.m.attention.desk.last = time.Time{}
	d.m.o.Attention.Quiet = Hours{0, 24 * 60}
	d.m.notify("at night")
	d.m.o.Attention = Attention{NoNotify: true}
	d.m.notify("unwanted")
	if told() != nil {
		t.Error("the desktop is told at night, or against the person's will")
	}
}

// notifications puts the dashboard on a terminal that is a file, and returns what
// tells the notifications that were written to it since it was asked last.
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
	terminal.Show(tea.View{}, 20, 3, screen.Placed{})
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
