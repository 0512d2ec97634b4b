package ui

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/keys"
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
	m := &model{news: news{connected: true}}
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
	for hours, clocks := range map[string]map[string]bool{
		"22:00-07:00": {"21:59": false, "22:00": true, "00:00": true, "06:59": true, "07:00": false, "12:00": false},
		"12:30-13:30": {"12:29": false, "12:30": true, "13:29": true, "13:30": false},
		"00:00-24:00": {"00:00": true, "23:59": true},
		"":            {"00:00": false, "12:00": false},
	} {
		h, err := ParseHours(hours)
		if err != nil {
			t.Fatal(err)
		}
		for clock, want := range clocks {
			if h.Have(at(clock)) != want {
				t.Errorf("%s: %s is quiet: %v", hours, clock, !want)
			}
		}
	}
	for _, text := range []string{"22-7", "25:00-07:00", "22:60-07:00", "22:00-07:00 x", "-1:00-07:00", "night", "24:30-01:00"} {
		if _, err := ParseHours(text); err == nil {
			t.Errorf("%q are hours", text)
		}
	}
}

func TestNotificationsSpeakTheTerminalsLanguage(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want string
	}{
		{nil, "\x1b]9;Tandem: web failed, 1\x1b\\"},
		{map[string]string{"TERM": "xterm-kitty"}, "\x1b]99;i=tandem:d=0;Tandem\x1b\\\x1b]99;i=tandem:p=body;web failed, 1\x1b\\"},
		{map[string]string{"VTE_VERSION": "7600"}, "\x1b]777;notify;Tandem;web failed, 1\x1b\\"},
		{map[string]string{"TMUX": "/tmp/x"}, "\x1bPtmux;\x1b\x1b]9;Tandem: web failed, 1\x1b\x1b\\\x1b\\"},
	} {
		if got := notification("web failed; 1", func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%v: %q, want %q", c.env, got, c.want)
		}
	}
}

func FuzzNotification(f *testing.F) {
	f.Add("a\x1b\\b\x07;\u202ec\x9c")
	f.Fuzz(func(t *testing.T, text string) {
		inside := strings.TrimSuffix(strings.TrimPrefix(notification(text, func(string) string { return "" }), "\x1b]9;Tandem: "), "\x1b\\")
		if strings.ContainsAny(inside, "\x1b\x07\u009c;\n") || !utf8.ValidString(inside) || len(inside) > 20*mostNotice {
			t.Errorf("%q gets into the sequence: %q", text, inside)
		}
	})
}

func TestTheDesktopIsToldOnlyWhileAnotherWindowHasTheKeyboard(t *testing.T) {
	d, _, _ := watchful(t)
	p := newPainter(nil, 0)
	d.m.terminal = &terminal{painter: p}
	t.Cleanup(func() { d.m.terminal = nil })
	d.m.notify("in sight")
	if p.latest().notices != 0 {
		t.Fatal("the desktop is told of what the person looks at")
	}
	d.typed(typed{kind: keys.EventFocusOut})
	d.m.notify("first")
	if f := p.latest(); f.notices != 1 || f.notice != "first" {
		t.Fatalf("told: %d, %q", f.notices, f.notice)
	}
	d.m.notify("second")
	d.m.notify("third")
	if p.latest().notices != 1 {
		t.Error("notifications follow each other without a gap")
	}
	d.update(deskDue{})
	if f := p.latest(); f.notices != 2 || f.notice != "second (and 1 more)" {
		t.Errorf("told then: %d, %q", f.notices, f.notice)
	}
	d.m.attention.desk.last = time.Time{}
	d.m.o.Attention.Quiet = Hours{0, 24 * 60}
	d.m.notify("at night")
	d.m.o.Attention = Attention{NoNotify: true}
	d.m.notify("unwanted")
	if p.latest().notices != 2 {
		t.Error("the desktop is told at night, or against the person's will")
	}
}
