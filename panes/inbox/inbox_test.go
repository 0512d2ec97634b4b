package inbox

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/panestest"
	"tandem/panes/widget"
	"tandem/themes"
	"tandem/ui/overlay"
)

// A desk is an inbox in a dashboard, over an engine that notes what is typed.
type desk struct {
	tree  string // of every session
	diffs int    // that were asked for
	*testing.T
	env   panestest.Env
	box   *Inbox
	typed []string
	lines bool             // the agents' terminals take lines
	yes   string           // the key that agrees; "" if nobody knows
	now   *api.CodingAgent // what the engine says of any agent; nil: what is known
	seen  []string
	asked string // the request that was opened
}

func newDesk(t *testing.T, sessions ...api.Process) *desk {
	d := &desk{T: t}
	engine := panestest.NewEngine()
	panestest.On(engine, api.AgentExplain, func(_ context.Context, in api.IDInput) (api.AgentExplainOutput, error) {
		p, _ := d.env.Known.Process(in.ID)
		if d.now != nil {
			p.Agent = d.now
		}
		return api.AgentExplainOutput{Agent: p.Agent, Lines: d.lines, Yes: d.yes, No: d.yes}, nil
	})
	panestest.On(engine, api.SessionWrite, func(_ context.Context, in api.SessionWriteInput) (api.SessionWriteOutput, error) {
		d.typed = append(d.typed, in.ID+": "+in.Text+in.Paste+strings.Join(in.Keys, " "))
		return api.SessionWriteOutput{}, nil
	})
	panestest.On(engine, api.SessionScreen, func(_ context.Context, in api.SessionScreenInput) (api.Screen, error) {
		return api.Screen{Lines: []string{"the screen of " + in.ID, " ❯ 1. Yes", "   2. No", "", ""}}, nil
	})
	d.env.API, d.env.Known.Processes = engine, sessions
	d.env.Inks.Glyphs = themes.UnicodeGlyphs()
	d.box = New(Options{
		Env: &d.env, Name: func(p *api.Process) string { return p.Agent.Name + " in " + p.Name },
		Tree: func(p *api.Process) string { return d.tree }, Diff: func(p *api.Process) tea.Cmd { d.diffs++; return nil },
		Waiting: func() []api.Process {
			return slices.DeleteFunc(slices.Clone(d.env.Known.Processes), func(p api.Process) bool { return !p.Agent.NeedsAttention() })
		},
		See:     func(p *api.Process) { d.seen = append(d.seen, p.ID) },
		Request: func(id string) tea.Cmd { d.asked = id; return nil },
	})
	d.env.Ask(d.box)
	d.run(d.box.Fetch())
	return d
}

func session(id string, state api.AgentState, text string) api.Process {
	return api.Process{ID: id, Kind: api.KindSession, Name: "at-" + id, State: api.StateRunning, Terminal: &api.Terminal{},
		Agent: &api.CodingAgent{Name: "claude", State: state, Text: text, Since: time.Unix(100, 0)}}
}

func (d *desk) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	if then, ok := cmd().(panes.Result); ok {
		d.run(then())
	}
}

func (d *desk) do(action keymap.Action) { d.run(d.box.Do(&d.env, action)) }

func (d *desk) key(text string) {
	d.run(d.box.Type(&d.env, tea.KeyPressMsg{Code: []rune(text)[0], Text: text}))
}

// screen draws the inbox, as the dashboard does after every key.
func (d *desk) screen() string {
	d.Helper()
	rows, width, _, _ := d.box.Draw(&d.env, 100, 36)
	for _, row := range rows {
		if widget.Width(row) != width {
			d.Errorf("a row has %d cells, the inbox %d: %q", widget.Width(row), width, row)
		}
	}
	return ansi.Strip(strings.Join(rows, "\n"))
}

func (d *desk) shows(texts ...string) {
	d.Helper()
	screen := d.screen()
	for _, text := range texts {
		if !strings.Contains(screen, text) {
			d.Errorf("%q is missing:\n%s", text, screen)
		}
	}
}

func (d *desk) hasTyped(want ...string) {
	d.Helper()
	if !slices.Equal(d.typed, want) {
		d.Errorf("typed was %q, want %q (said: %q)", d.typed, want, d.env.Said)
	}
}

func TestQuestionsComeFirstWithWhatTheScreenShows(t *testing.T) {
	d := newDesk(t, session("a", api.AgentDone, ""), session("b", api.AgentWorking, ""), session("c", api.AgentBlocked, "May I?"))
	d.env.Known.Requests = []api.Request{{ID: "r", Actor: "agent:codex", Tool: "exec", Command: "make"}}
	screen := d.screen()
	order := []string{"1 blocked, 1 request, 1 done", "◆ claude in at-c", "? codex asks: make", "✓ claude in at-a", "May I?", "the screen of c", "\n ❯ 1. Yes", "\n   2. No"}
	for _, text := range order {
		_, after, ok := strings.Cut(screen, text)
		if !ok {
			t.Fatalf("%q is missing, or not in order:\n%s", text, d.screen())
		}
		screen = after
	}
	d.do(keymap.InboxDown)
	d.shows("A request to call exec")
	d.do(keymap.InboxOpen)
	if d.asked != "r" {
		t.Errorf("the request %q was opened", d.asked)
	}
	d.do(keymap.InboxDown)
	d.run(d.box.Fetch())
	d.shows("the screen of a")
	d.do(keymap.InboxOpen)
	if d.env.Opened != "a" || d.env.Shown != nil {
		t.Errorf("opened is %q, over it %v", d.env.Opened, d.env.Shown)
	}
}

func TestAnAnswerIsAKeyAndWithEnterWhereLinesAreRead(t *testing.T) {
	for lines, end := range map[bool]string{false: "", true: " enter"} {
		d := newDesk(t, session("a", api.AgentBlocked, "May I?"))
		d.lines = lines
		d.screen()
		d.key("2")
		d.hasTyped("a: 2" + end)
	}
	d := newDesk(t, session("a", api.AgentBlocked, "May I?"))
	d.screen()
	d.do(keymap.InboxWrite)
	for _, letter := range []string{"y", "2", "!"} {
		d.key(letter)
	}
	d.shows("answer y2!")
	d.do(keymap.Accept)
	d.hasTyped("a: y2!", "a: enter")
}

func TestYesAndNoAreTheKeysThatTheAgentTakes(t *testing.T) {
	for yes, want := range map[string][]string{"": {"a: y", "b: n"}, "1": {"a: 1", "b: 1"}} {
		d := newDesk(t, session("a", api.AgentBlocked, "May I?"), session("b", api.AgentBlocked, "And I?"))
		d.yes = yes
		d.screen()
		d.do(keymap.InboxYes)
		d.screen()
		d.do(keymap.InboxNo)
		d.hasTyped(want...)
	}
}

func TestOnlyTheQuestionThatWasReadIsAnswered(t *testing.T) {
	d := newDesk(t, session("a", api.AgentBlocked, "May I?"))
	d.do(keymap.InboxYes) // nothing was drawn yet
	d.hasTyped()
	d.screen()
	d.env.Known.Processes[0] = session("a", api.AgentBlocked, "Remove it all?")
	d.do(keymap.InboxYes)
	d.hasTyped()
	d.shows("Remove it all?")
	other := *d.env.Known.Processes[0].Agent
	other.Since = other.Since.Add(time.Second)
	d.now = &other // the news of it are on their way
	d.do(keymap.InboxYes)
	d.hasTyped()
	if !strings.Contains(d.env.Said, "asks something else") {
		t.Errorf("said is %q", d.env.Said)
	}
	d.now = nil
	d.do(keymap.InboxYes)
	d.do(keymap.InboxYes) // it would answer what comes next
	d.hasTyped("a: y")
	d.env.Known.Processes[0] = session("a", api.AgentWorking, "")
	d.shows("does not wait any more")
	d.do(keymap.InboxYes)
	d.hasTyped("a: y")
}

func TestWhereAnAgentTypesThePersonIsAskedFirst(t *testing.T) {
	p := session("a", api.AgentBlocked, "May I?")
	p.Terminal.Typist = "agent:codex/1.2"
	d := newDesk(t, p)
	d.screen()
	d.do(keymap.InboxYes)
	d.hasTyped()
	q, ok := d.env.Shown.(*overlay.Question)
	if !ok || !strings.Contains(q.Title, "codex") {
		t.Fatalf("asked is %+v", d.env.Shown)
	}
	d.run(q.Do(&d.env, keymap.Accept))
	d.hasTyped("a: y")
	if d.env.Shown != overlay.Overlay(d.box) {
		t.Errorf("the inbox is not shown again, but %v", d.env.Shown)
	}
}

func TestWhatIsDoneIsTakenOutAndGivenTheNextTask(t *testing.T) {
	d := newDesk(t, session("a", api.AgentDone, ""))
	d.screen()
	d.do(keymap.InboxYes)
	d.hasTyped()
	d.do(keymap.InboxWrite)
	d.box.Paste(&d.env, "now test it")
	d.shows("next task now test it")
	d.do(keymap.Accept)
	d.hasTyped("a: now test it", "a: enter")
	d.do(keymap.InboxSeen)
	if !slices.Equal(d.seen, []string{"a"}) {
		t.Errorf("seen is %q", d.seen)
	}
}

func TestTheInboxFitsEveryScreen(t *testing.T) {
	var all []api.Process
	for _, id := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"} {
		all = append(all, session(id, api.AgentBlocked, strings.Repeat("a long question ", 30)))
	}
	d := newDesk(t, all...)
	for w := 30; w < 220; w += 13 {
		for h := 15; h < 70; h += 9 {
			rows, width, _, _ := d.box.Draw(&d.env, w, h)
			if width+4 > w || len(rows)+2 >= h {
				t.Errorf("on %d×%d it has %d×%d", w, h, width, len(rows))
			}
			for _, row := range rows {
				if widget.Width(row) != width {
					t.Fatalf("on %d×%d a row has %d cells of %d: %q", w, h, widget.Width(row), width, row)
				}
			}
		}
	}
}

func TestABranchAndWhatWouldBeLostStandBesideTheAgent(t *testing.T) {
	d := newDesk(t, session("a", api.AgentDone, ""))
	d.tree = "branch fix, 2 uncommitted"
	d.shows("claude in at-a  branch fix, 2 uncommitted")
	d.do(keymap.InboxDiff)
	if d.diffs != 1 {
		t.Errorf("%d diffs", d.diffs)
	}
}
