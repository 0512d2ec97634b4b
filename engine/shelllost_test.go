package engine

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/history"
	"tandem/tests/needs"
)

// lossCase is a shell and a command line that removes its prompt hooks.
type lossCase struct {
	name, shell, line string
}

// lossCases leave a shell at a prompt without some or all of the marks.
var lossCases = []lossCase{
	{"sourced file assigns hooks and prompt", "bash", "source ./dotfile"},
	{"unknown prompt", "bash", "PROMPT_COMMAND=(:); PS1='mine> '"},
	{"prompt of a theme", "bash", "PROMPT_COMMAND=(:); PS0=; PS1='➜ ~ '"},
	{"hooks", "bash", "unset PROMPT_COMMAND PS0"},
	{"hooks and prompt", "bash", "unset PROMPT_COMMAND PS0; PS1='$ '"},
	{"hook after the marks", "bash", "late() { PS1='late$ '; }; PROMPT_COMMAND+=(late)"},
	{"exec bash", "bash", "exec bash"},
	{"exec login shell", "bash", "exec bash -l"},
	{"exec with a dash", "bash", "exec -l bash"},
	{"exec zsh", "bash", "exec zsh"},
	{"exec fish", "bash", "exec fish"},
	{"exec dash", "bash", "exec dash"},
	{"exec without environment", "bash", "exec env -i TERM=xterm bash --norc"},
	{"hooks", "zsh", "precmd_functions=(); preexec_functions=()"},
	{"hooks and prompt", "zsh", "precmd_functions=(); preexec_functions=(); PS1='%% '"},
	{"hooks before commands", "zsh", "preexec_functions=()"},
	{"hooks before prompts", "zsh", "precmd_functions=()"},
	{"exec zsh", "zsh", "exec zsh"},
	{"exec bash", "zsh", "exec bash"},
	{"hooks", "fish", "functions -e __tandem_preexec __tandem_postexec __tandem_begin"},
	{"exec fish", "fish", "exec fish"},
	{"prompt", "sh", "PS1='$ '"},
	{"exec bash", "sh", "exec bash"},
}

// start starts the case's shell and waits for its prompt. It returns nil if the shell is not
// installed.
func (c lossCase) start(m *machine) *api.Process {
	m.Helper()
	for _, program := range []string{"dash", "fish", "zsh"} {
		if c.line == "exec "+program {
			needs.Program(m, program, program)
		}
	}
	for _, s := range shellCases {
		if s.name == c.shell {
			p := s.start(m)
			if p != nil {
				writeFile(m, filepath.Join(p.CWD, "dotfile"), "PROMPT_COMMAND=('history -a')\nPS1='\\w\\$ '\n")
				m.sh(p.ID, "true; rm -f out")
			}
			return p
		}
	}
	m.Fatalf("no shell %s", c.shell)
	return nil
}

func writeFile(m *machine, path, text string) {
	m.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		m.Fatal(err)
	}
}

// commands returns the commands run by the session's shell, oldest first, without "true".
func (m *machine) commands(id string) (lines []string) {
	for _, r := range slices.Backward(m.history(api.HistorySearchInput{Process: id, Limit: 100})) {
		if r.Kind == history.KindSession && !strings.HasPrefix(r.Command.Command, "true") {
			lines = append(lines, r.Command.Command)
		}
	}
	return lines
}

// wantStatus fails if a result's exit status is known and differs from code.
func wantStatus(t testing.TB, command string, out api.SessionExecOutput, code int) {
	t.Helper()
	if out.TimedOut || out.Waits != "" || out.ExitCode != nil && *out.ExitCode != code {
		t.Errorf("%s: %+v, want exit status %d or unknown", command, out, code)
	}
}

func TestSessionOutlivesItsPromptMarks(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := startMachine(t)
	for _, c := range lossCases {
		t.Run(c.shell+" "+c.name, func(t *testing.T) {
			m := &machine{TB: t, dir: m.dir, client: m.client}
			p := c.start(m)
			if p == nil {
				return
			}
			out := m.sh(p.ID, c.line)
			if wantStatus(t, c.line, out, 0); c.name == "hook after the marks" && out.ExitCode == nil {
				t.Errorf("the marked status is lost: %+v", out)
			}
			if w := m.sessionWait(api.SessionWaitInput{ID: p.ID, Prompt: true}); w.Met != "prompt" {
				t.Errorf("wait for the prompt: %+v", w)
			}
			want := []string{c.line, "false", "echo ran >> out", "cat out", "cd /", "false"}
			for _, line := range want[1:] {
				out := m.sh(p.ID, line)
				wantStatus(t, line, out, map[string]int{"false": 1}[line])
				if text := map[string]string{"cat out": "ran\n"}[line]; out.Output != text {
					t.Errorf("%s: output %q, want %q\n%q", line, out.Output, text, lastOf(m.logOf(*p), 1500))
				}
			}
			m.eventually("every command in the history, once", func() bool { return len(m.commands(p.ID)) >= len(want) })
			if got := m.commands(p.ID); !slices.Equal(got, want) {
				t.Errorf("history %q, want %q\n%q", got, want, lastOf(m.logOf(*p), 3000))
			}
			for _, r := range m.history(api.HistorySearchInput{Process: p.ID, Limit: 100}) {
				if r.Command.Command == "false" && r.ExitCode != nil && *r.ExitCode != 1 {
					t.Errorf("history has %+v", r.Command)
				}
			}
			_, err := api.SessionExec.Call(t.Context(), m.client, api.SessionExecInput{ID: p.ID, Command: "echo 'never", TimeoutMS: 60_000})
			if !errors.Is(err, api.CodeInvalid) || !strings.Contains(err.Error(), "incomplete") {
				t.Errorf("an open quote: %v\n%q", err, lastOf(m.logOf(*p), 900))
			}
			wantStatus(t, "true", m.sh(p.ID, "true"), 0)
		})
	}
}

func TestReplacedHooksCauseNoFalseStatus(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := startMachine(t)
	for _, c := range []lossCase{
		{"before", "bash", `PROMPT_COMMAND="history -a; $PROMPT_COMMAND"`},
		{"line before", "bash", `PROMPT_COMMAND=true$'\n'"$PROMPT_COMMAND"`},
		{"behind", "bash", `PROMPT_COMMAND="$PROMPT_COMMAND; true"`},
		{"array", "bash", `PROMPT_COMMAND=(true "${PROMPT_COMMAND[@]}" true)`},
		{"function", "bash", `old=$PROMPT_COMMAND; all() { true; eval "$old"; }; PROMPT_COMMAND=all`},
		{"element", "bash", `PROMPT_COMMAND='history -a'`},
		{"sourced", "bash", `source ./dotfile`},
		{"functions", "zsh", `precmd() { true }; one() { true }; precmd_functions=(one $precmd_functions)`},
		{"event", "fish", `function mine --on-event fish_postexec; true; end`},
	} {
		t.Run(c.shell+" "+c.name, func(t *testing.T) {
			m := &machine{TB: t, dir: m.dir, client: m.client}
			p := c.start(m)
			if p == nil {
				return
			}
			wantStatus(t, c.line, m.sh(p.ID, c.line), 0)
			for _, line := range []string{"false", "sh -c 'exit 3'", "ls /nope"} {
				want := map[string]int{"false": 1, "ls /nope": 2}[line]
				if want == 0 {
					want = 3
				}
				wantStatus(t, line, m.sh(p.ID, line), want)
			}
			out := m.sh(p.ID, "false")
			if wantStatus(t, "false", out, 1); out.ExitCode == nil {
				t.Errorf("the status stays unknown: %+v", out)
			}
			for _, r := range m.history(api.HistorySearchInput{Process: p.ID, Limit: 100}) {
				if line := r.Command.Command; r.ExitCode != nil && *r.ExitCode == 0 && !strings.HasPrefix(line, "true") && line != c.line {
					t.Errorf("history has %+v", r.Command)
				}
			}
		})
	}
}

func TestCommandsTypedWithoutMarksAreRecorded(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := startMachine(t)
	loop := "for i in 1 2\rdo true\rdone\r"
	for _, c := range []struct {
		lossCase
		typed []string
		want  []string
	}{
		{lossCase{"hooks", "bash", "unset PROMPT_COMMAND PS0"}, []string{"echo one\r", loop, "half\x03", "echo 'open\r\x03"}, []string{"echo one", "for i in 1 2\ndo true\ndone"}},
		{lossCase{"hooks and prompt", "bash", "PROMPT_COMMAND=(); PS1='$ '"}, []string{"echo one\r", "sh -c 'exit 3'\r"}, []string{"echo one", "sh -c 'exit 3'"}},
		{lossCase{"history", "bash", "set +o history"}, []string{"false\r", loop}, []string{"false", "for i in 1 2\ndo true\ndone"}},
		{lossCase{"hooks", "zsh", "precmd_functions=(); preexec_functions=()"}, []string{"echo one\r", loop, "half\x03"}, []string{"echo one", "for i in 1 2\ndo true\ndone"}},
	} {
		t.Run(c.shell+" "+c.name, func(t *testing.T) {
			m := &machine{TB: t, dir: m.dir, client: m.client}
			p := c.start(m)
			if p == nil {
				return
			}
			m.sh(p.ID, c.line)
			want := append([]string{c.line}, c.want...)
			recorded := 1
			for _, typed := range c.typed {
				for part := range strings.SplitAfterSeq(strings.TrimSuffix(typed, "\r"), "\r") {
					asked := strings.Count(m.logOf(*p), "k=s")
					m.write(p.ID, part)
					if strings.HasSuffix(part, "\r") {
						m.eventually("the prompt for more", func() bool { return strings.Count(m.logOf(*p), "k=s") > asked })
					}
				}
				if strings.HasSuffix(typed, "\r") {
					recorded++
					m.write(p.ID, "\r")
					m.eventually("the command in the history", func() bool { return len(m.commands(p.ID)) >= recorded })
				}
				m.sessionWait(api.SessionWaitInput{ID: p.ID, Prompt: true})
			}
			m.sh(p.ID, "true")
			if got := m.commands(p.ID); !slices.Equal(got, want) {
				t.Errorf("history %q, want %q\n%q", got, want, lastOf(m.logOf(*p), 2000))
			}
		})
	}
}

// A command line must not be typed as the answer to a builtin's question.
func TestQuestionOfABuiltinIsNotMistakenForAPrompt(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := startMachine(t)
	for _, c := range []lossCase{
		{"read", "bash", "read -p 'Go on? ' x"},
		{"read like a prompt", "bash", "read -p 'mine$ ' x"},
		{"line editor", "bash", "read -e -p 'Name: ' x"},
		{"line editor", "zsh", "vared -p 'Name: ' -c x"},
	} {
		t.Run(c.shell+" "+c.name, func(t *testing.T) {
			m := &machine{TB: t, dir: m.dir, client: m.client}
			p := c.start(m)
			if p == nil {
				return
			}
			if out := m.sh(p.ID, c.line); out.Waits != "input" {
				t.Errorf("%+v", out)
			}
			_, err := api.SessionExec.Call(t.Context(), m.client, api.SessionExecInput{ID: p.ID, Command: "echo x"})
			if !errors.Is(err, api.CodeConflict) {
				t.Errorf("%v", err)
			}
			m.write(p.ID, "word\r")
			m.sessionWait(api.SessionWaitInput{ID: p.ID, Prompt: true})
			wantRun(m, p.ID, "echo $x", "word\n", 0)
		})
	}
}

func TestLostMarksStayLostInTheNextEngine(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := startMachine(t)
	p := lossCase{"exec", "bash", "exec bash --norc"}.start(m)
	m.sh(p.ID, "exec bash --norc")
	m.restart()
	if w := m.sessionWait(api.SessionWaitInput{ID: p.ID, Prompt: true}); w.Met != "prompt" {
		t.Errorf("%+v", w)
	}
	wantRun(m, p.ID, "echo on; false", "on\n", 1)
	if got, want := m.commands(p.ID), []string{"exec bash --norc", "echo on; false"}; !slices.Equal(got, want) {
		t.Errorf("history %q, want %q", got, want)
	}
}

func TestCommandsRunThroughAnExecutedRelay(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	script := needs.Program(t, "bsdutils", "script") // relays input, like ssh
	m := startMachine(t)
	p := lossCase{"relay", "bash", ""}.start(m)
	if err := os.Symlink(script, filepath.Join(p.CWD, "ssh")); err != nil {
		t.Fatal(err)
	}
	m.sh(p.ID, "exec ./ssh -q -c 'exec bash --norc' /dev/null")
	wantRun(m, p.ID, "false", "", 1)
	if out := wantRun(m, p.ID, "echo one; (exit 3)", "one\n", 3); out.Method != "marker" {
		t.Errorf("%+v", out)
	}
	if got, want := m.commands(p.ID), []string{"false", "echo one; (exit 3)"}; !slices.Equal(got, want) {
		t.Errorf("history %q, want %q", got, want)
	}
}
