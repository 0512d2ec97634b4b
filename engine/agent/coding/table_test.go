package coding

import (
	"cmp"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"tandem/engine/api"
	"tandem/engine/screen/vt"
	"tandem/engine/session/terminal"
	"tandem/persist/store"
)

// A fakeAgent plays the events of one state from a testdata file.
type fakeAgent struct {
	t        *testing.T
	rule     Rule
	screen   *vt.Terminal
	evidence Evidence
	words    []store.AgentWord
	cost     string
	now      time.Time
}

func newFakeAgent(t *testing.T, rule Rule) *fakeAgent {
	a := &fakeAgent{t: t, rule: rule, now: time.Unix(1000, 0)}
	a.screen = vt.New(vt.Options{Cols: 100, Rows: 24, Event: func(e vt.Event) {
		if p, ok := e.(vt.ProgressEvent); ok {
			a.evidence.Progress = p.State + 1
		}
	}})
	return a
}

// playEvent plays one event and inspects the agent.
func (a *fakeAgent) playEvent(name, text string) {
	a.now = a.now.Add(time.Second)
	switch filepath.Ext(name) {
	case ".stream":
		unescape := strings.NewReplacer(`\e`, "\x1b", `\a`, "\a", `\r`, "\r", `\n`, "\n")
		a.screen.Write([]byte(unescape.Replace(strings.ReplaceAll(text, "\n", ""))))
		a.evidence.Title = a.screen.Title()
		a.evidence.Rows = terminal.ScreenOf(a.screen, false, 0).Lines
		a.cost = cmp.Or(a.rule.findCost(a.evidence.Rows), a.cost)
	case ".file":
		a.evidence.File = a.rule.parseFile([]byte(text))
	case ".reads":
		a.evidence.Reads = strings.TrimSpace(text) == "yes"
	case ".report":
		state, question, _ := strings.Cut(strings.TrimSpace(text), " ")
		a.words = updateWord(a.words, store.AgentWord{Source: SourceReport, State: state, Text: question, At: a.now}, true)
	default:
		a.t.Fatalf("nothing is played by %s", name)
	}
	a.words = a.rule.ApplyEvidence(a.words, a.evidence, a.now)
}

func ruleNamed(t *testing.T, name string) Rule {
	t.Helper()
	for _, r := range parseEmbedded() {
		if r.Name == name {
			return r
		}
	}
	t.Fatalf("there is no rule for %s", name)
	return Rule{}
}

func TestEveryAgentIsDetectedInEveryState(t *testing.T) {
	for _, name := range []string{"claude", "codex", "opencode", "gemini", "aider", "goose"} {
		cases := loadCases(t, name)
		for _, state := range api.AgentStates() {
			if cases[string(state)] == nil {
				t.Errorf("%s: nothing recorded for %s", name, state)
			}
		}
		for what, files := range cases {
			t.Run(name+"/"+what, func(t *testing.T) {
				state, _, _ := strings.Cut(what, ".")
				d := playCase(newFakeAgent(t, ruleNamed(t, name)), files)
				if string(d.State) != state {
					t.Errorf("it is %s by %s, want %s", d.State, d.Source, state)
				}
			})
		}
	}
}

func TestQuestionsOfOtherAgentsAreDetected(t *testing.T) {
	for name, files := range loadCases(t, "others") {
		if d := playCase(newFakeAgent(t, ruleNamed(t, name)), files); d.State != api.AgentBlocked {
			t.Errorf("%s is %s", name, d.State)
		}
	}
}

// loadCases returns the cases of a file, keyed by the part of their names before the slash.
func loadCases(t *testing.T, name string) map[string][]txtar.File {
	t.Helper()
	a, err := txtar.ParseFile("testdata/" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	cases := make(map[string][]txtar.File)
	for _, f := range a.Files {
		what, _, _ := strings.Cut(f.Name, "/")
		cases[what] = append(cases[what], f)
	}
	return cases
}

// playCase plays a case. A file named text holds the expected question, and one named cost the
// expected cost, after the events before it.
func playCase(a *fakeAgent, files []txtar.File) Decision {
	want, asked := "", false
	for _, f := range files {
		if filepath.Base(f.Name) == "cost" {
			if want := strings.TrimSpace(string(f.Data)); a.cost != want {
				a.t.Errorf("%s: the cost is %q, want %q", f.Name, a.cost, want)
			}
			continue
		}
		if filepath.Base(f.Name) == "text" {
			want, asked = strings.TrimSpace(string(f.Data)), true
			continue
		}
		a.playEvent(f.Name, string(f.Data))
	}
	d := Decide(a.words)
	if asked && d.Text != want {
		a.t.Errorf("%s asks %q, want %q", files[0].Name, d.Text, want)
	}
	return d
}

// A new engine rebuilds the screen from the log. It gets no progress reports or other signs again.
func TestStateIsStableWhenScreenIsReplayed(t *testing.T) {
	for _, name := range []string{"claude", "codex", "opencode", "gemini", "aider", "goose"} {
		for what, files := range loadCases(t, name) {
			a := newFakeAgent(t, ruleNamed(t, name))
			before := playCase(a, files)
			again := a.rule.ApplyEvidence(a.words, Evidence{Rows: a.evidence.Rows, Title: a.evidence.Title, Reads: a.evidence.Reads, File: a.evidence.File}, a.now.Add(time.Hour))
			if now := Decide(again); now != before {
				t.Errorf("%s %s: it was %+v, and is %+v", name, what, before, now)
			}
		}
	}
}

func TestSilenceKeepsState(t *testing.T) {
	a := newFakeAgent(t, ruleNamed(t, "claude"))
	a.playEvent("1.stream", `\e]0;⠂ Work\a`)
	for range 100 {
		a.now = a.now.Add(time.Hour)
		a.words = a.rule.ApplyEvidence(a.words, a.evidence, a.now)
	}
	if d := Decide(a.words); d.State != api.AgentWorking {
		t.Errorf("after days without a word it is %s", d.State)
	}
}

func TestProgressReportSetsTheStateWorking(t *testing.T) {
	a := newFakeAgent(t, ruleNamed(t, "amp"))
	for _, step := range []struct{ stream, want string }{
		{`\e]9;4;3;\a`, "working"}, {`\e]9;4;2;50\a`, "working"}, {`\e]9;4;0;\a`, "done"}, {`\e]9;4;1;10\a`, "working"},
	} {
		a.playEvent("1.stream", step.stream)
		if d := Decide(a.words); string(d.State) != step.want {
			t.Errorf("after %s it is %s, want %s", step.stream, d.State, step.want)
		}
	}
}

// The rows are those written by the agents' sources.
func TestCostIsReadFromScreen(t *testing.T) {
	for name, rows := range map[string][2]string{
		"aider":    {"Tokens: 2.3k sent, 142 received. Cost: $0.0042 message, $0.01 session.", "$0.01"},
		"claude":   {"     Total cost:            $0.55", "$0.55"},
		"crush":    {"  12% (24.5K) $0.07", "$0.07"},
		"goose":    {"Cost: $0.0123 USD (1300 tokens: in 1200, out 100)", "$0.0123"},
		"opencode": {"│ hello              1,234 tokens  $1,002.50 spent", "$1,002.50"},
	} {
		if got := ruleNamed(t, name).findCost([]string{"$9.99", rows[0], "", "> it cost $3"}); got != rows[1] {
			t.Errorf("%s shows %q, and that is read as %q", name, rows[0], got)
		}
	}
	if got := ruleNamed(t, "codex").findCost([]string{"$1.00 spent"}); got != "" {
		t.Errorf("of an agent that tells no cost %q is read", got)
	}
}
