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
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/text"
	"tandem/panes/panestest"
	"tandem/themes"
)

// A testInbox is an inbox in a dashboard. Its fake engine records the keys typed into sessions.
type testInbox struct {
	tree  string // of every session
	diffs int    // how many were shown
	*testing.T
	env   panestest.Env
	box   *Inbox
	typed []string
	lines bool             // the agents' programs read lines
	yes   string           // the key that agrees; "" if unknown
	now   *api.CodingAgent // the engine's state of every agent; nil: the known one
	seen  []string
	asked string // the request opened last
}

func newTestInbox(t *testing.T, sessions ...api.Process) *testInbox {
	d := &testInbox{T: t}
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
		Env: &d.env, Describe: func(p *api.Process) string { return p.Agent.Name + " in " + p.Name },
		DescribeTree: func(p *api.Process) string { return d.tree }, ShowDiff: func(p *api.Process) tea.Cmd { d.diffs++; return nil },
		ListWaiting: func() []api.Process {
			return slices.DeleteFunc(slices.Clone(d.env.Known.Processes), func(p api.Process) bool { return !p.Agent.NeedsAttention() })
		},
		MarkSeen:    func(p *api.Process) { d.seen = append(d.seen, p.ID) },
		ShowRequest: func(id string) tea.Cmd { d.asked = id; return nil },
	})
	d.env.Ask(d.box)
	d.runCmd(d.box.Fetch())
	return d
}

func session(id string, state api.AgentState, text string) api.Process {
	return api.Process{ID: id, Kind: api.KindSession, Name: "at-" + id, State: api.StateRunning, Terminal: &api.Terminal{},
		Agent: &api.CodingAgent{Name: "claude", State: state, Text: text, Since: time.Unix(100, 0)}}
}

func (d *testInbox) runCmd(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	if then, ok := cmd().(panes.Result); ok {
		d.runCmd(then())
	}
}

func (d *testInbox) doAction(action keymap.Action) { d.runCmd(d.box.Do(&d.env, action)) }

func (d *testInbox) typeKey(text string) {
	d.runCmd(d.box.Type(&d.env, tea.KeyPressMsg{Code: []rune(text)[0], Text: text}))
}

// drawText draws the inbox, as the dashboard does after every key.
func (d *testInbox) drawText() string {
	d.Helper()
	rows, width, _, _ := d.box.Draw(&d.env, 100, 36)
	for _, row := range rows {
		if text.Width(row) != width {
			d.Errorf("a row has %d cells, the inbox %d: %q", text.Width(row), width, row)
		}
	}
	return ansi.Strip(strings.Join(rows, "\n"))
}

func (d *testInbox) wantText(texts ...string) {
	d.Helper()
	screen := d.drawText()
	for _, text := range texts {
		if !strings.Contains(screen, text) {
			d.Errorf("%q is missing:\n%s", text, screen)
		}
	}
}

func (d *testInbox) wantTyped(want ...string) {
	d.Helper()
	if !slices.Equal(d.typed, want) {
		d.Errorf("typed %q, want %q (message: %q)", d.typed, want, d.env.Said)
	}
}

func TestInboxListsQuestionsFirstWithTheirScreen(t *testing.T) {
	d := newTestInbox(t, session("a", api.AgentDone, ""), session("b", api.AgentWorking, ""), session("c", api.AgentBlocked, "May I?"))
	d.env.Known.Requests = []api.Request{{ID: "r", Actor: "agent:codex", Tool: "exec", Command: "make"}}
	screen := d.drawText()
	order := []string{"1 blocked, 1 request, 1 done", "◆ claude in at-c", "? codex asks: make", "✓ claude in at-a", "May I?", "the screen of c", "\n ❯ 1. Yes", "\n   2. No"}
	for _, text := range order {
		_, after, ok := strings.Cut(screen, text)
		if !ok {
			t.Fatalf("%q is missing, or not in order:\n%s", text, d.drawText())
		}
		screen = after
	}
	d.doAction(keymap.InboxDown)
	d.wantText("A request to call exec")
	d.doAction(keymap.InboxOpen)
	if d.asked != "r" {
		t.Errorf("the request %q was opened", d.asked)
	}
	d.doAction(keymap.InboxDown)
	d.runCmd(d.box.Fetch())
	d.wantText("the screen of a")
	d.doAction(keymap.InboxOpen)
	if d.env.Opened != "a" || d.env.Shown != nil {
		t.Errorf("opened %q, dialog %v", d.env.Opened, d.env.Shown)
	}
}

func TestStandingAnswerIsListedAndRevoked(t *testing.T) {
	d := newTestInbox(t)
	var undone []string
	panestest.On(d.env.API.(*panestest.Engine), api.RequestUndo, func(_ context.Context, in api.RequestUndoInput) (api.Request, error) {
		undone = append(undone, in.ID)
		return api.Request{}, nil
	})
	d.env.Known.Answered = []api.Request{
		{ID: "q", Actor: "agent:codex", Tool: "exec", Command: "make", Answer: "allow", Always: true},
		{ID: "r", Actor: "agent:codex", Tool: "exec", Command: "rm -r x", Answer: "deny", Always: true},
	}
	d.doAction(keymap.InboxDown)
	d.wantText("2 standing answers", "codex may call exec: make", "codex may not call exec: rm -r x", "until the engine stops: allow")
	d.doAction(keymap.InboxDown)
	d.doAction(keymap.InboxSeen)
	if !slices.Equal(undone, []string{"r"}) {
		t.Errorf("took back %q (message: %q)", undone, d.env.Said)
	}
	d.env.Known.Answered = d.env.Known.Answered[:1]
	d.wantText("until the engine stops: allow") // of the one before
	d.doAction(keymap.InboxSeen)
	d.env.Known.Answered = nil
	d.wantText("Nothing needs you now.")
	if text := d.drawText(); strings.Contains(text, "no longer") {
		t.Errorf("after the last was taken back:\n%s", text)
	}
}

func TestAnswerIsAKeyFollowedByEnterIfLinesAreRead(t *testing.T) {
	for lines, end := range map[bool]string{false: "", true: " enter"} {
		d := newTestInbox(t, session("a", api.AgentBlocked, "May I?"))
		d.lines = lines
		d.drawText()
		d.typeKey("2")
		d.wantTyped("a: 2" + end)
	}
	d := newTestInbox(t, session("a", api.AgentBlocked, "May I?"))
	d.drawText()
	d.doAction(keymap.InboxWrite)
	for _, letter := range []string{"y", "2", "!"} {
		d.typeKey(letter)
	}
	d.wantText("answer y2!")
	d.doAction(keymap.Accept)
	d.wantTyped("a: y2!", "a: enter")
}

func TestYesAndNoSendTheAgentsKeys(t *testing.T) {
	for yes, want := range map[string][]string{"": {"a: y", "b: n"}, "1": {"a: 1", "b: 1"}} {
		d := newTestInbox(t, session("a", api.AgentBlocked, "May I?"), session("b", api.AgentBlocked, "And I?"))
		d.yes = yes
		d.drawText()
		d.doAction(keymap.InboxYes)
		d.drawText()
		d.doAction(keymap.InboxNo)
		d.wantTyped(want...)
	}
}

func TestAnswerGoesOnlyToTheQuestionOnTheScreen(t *testing.T) {
	d := newTestInbox(t, session("a", api.AgentBlocked, "May I?"))
	d.doAction(keymap.InboxYes) // nothing has been drawn yet
	d.wantTyped()
	d.drawText()
	d.env.Known.Processes[0] = session("a", api.AgentBlocked, "Remove it all?")
	d.doAction(keymap.InboxYes)
	d.wantTyped()
	d.wantText("Remove it all?")
	other := *d.env.Known.Processes[0].Agent
	other.Since = other.Since.Add(time.Second)
	d.now = &other // its event is on the way
	d.doAction(keymap.InboxYes)
	d.wantTyped()
	if !strings.Contains(d.env.Said, "asks something else") {
		t.Errorf("message: %q", d.env.Said)
	}
	d.now = nil
	d.doAction(keymap.InboxYes)
	d.doAction(keymap.InboxYes) // it would answer the next question
	d.wantTyped("a: y")
	d.env.Known.Processes[0] = session("a", api.AgentWorking, "")
	d.wantText("no longer needs you")
	d.doAction(keymap.InboxYes)
	d.wantTyped("a: y")
}

func TestAnswerAsksFirstIfAnotherAgentTypes(t *testing.T) {
	p := session("a", api.AgentBlocked, "May I?")
	p.Terminal.Typist = "agent:codex/1.2"
	d := newTestInbox(t, p)
	d.drawText()
	d.doAction(keymap.InboxYes)
	d.wantTyped()
	q, ok := d.env.Shown.(*dialog.Question)
	if !ok || !strings.Contains(q.Title, "codex") {
		t.Fatalf("dialog: %+v", d.env.Shown)
	}
	d.runCmd(q.Do(&d.env, keymap.Accept))
	d.wantTyped("a: y")
	if d.env.Shown != dialog.Overlay(d.box) {
		t.Errorf("the inbox is not shown again, but %v", d.env.Shown)
	}
}

func TestDoneItemCanBeDismissedOrGivenATask(t *testing.T) {
	d := newTestInbox(t, session("a", api.AgentDone, ""))
	d.drawText()
	d.doAction(keymap.InboxYes)
	d.wantTyped()
	d.doAction(keymap.InboxWrite)
	d.box.Paste(&d.env, "now test it")
	d.wantText("next task now test it")
	d.doAction(keymap.Accept)
	d.wantTyped("a: now test it", "a: enter")
	d.doAction(keymap.InboxSeen)
	if !slices.Equal(d.seen, []string{"a"}) {
		t.Errorf("seen is %q", d.seen)
	}
}

func TestInboxFitsAnyScreen(t *testing.T) {
	var all []api.Process
	for _, id := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"} {
		all = append(all, session(id, api.AgentBlocked, strings.Repeat("a long question ", 30)))
	}
	d := newTestInbox(t, all...)
	for w := 30; w < 220; w += 13 {
		for h := 15; h < 70; h += 9 {
			rows, width, _, _ := d.box.Draw(&d.env, w, h)
			if width+4 > w || len(rows)+2 >= h {
				t.Errorf("on %d×%d it has %d×%d", w, h, width, len(rows))
			}
			for _, row := range rows {
				if text.Width(row) != width {
					t.Fatalf("on %d×%d a row has %d cells of %d: %q", w, h, text.Width(row), width, row)
				}
			}
		}
	}
}

func TestRowShowsTheBranchAndPossibleLosses(t *testing.T) {
	d := newTestInbox(t, session("a", api.AgentDone, ""))
	d.tree = "branch fix, 2 uncommitted"
	d.wantText("claude in at-a  branch fix, 2 uncommitted")
	d.doAction(keymap.InboxDiff)
	if d.diffs != 1 {
		t.Errorf("%d diffs", d.diffs)
	}
}
