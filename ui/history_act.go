package ui

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// redacted stands in the history for a secret.
const redacted = "***"

// insertable is a command as it can be put on a prompt: no control character in
// it could do anything there.
func insertable(command string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t':
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(strings.TrimRight(command, " \t\r\n"), "\uFFFD"))
}

// putOnPrompt types a command into the session used last, and shows that.
// Nothing is executed.
func (m *model) putOnPrompt(row api.HistoryRow) tea.Cmd {
	text := insertable(row.Command.Command)
	if strings.Contains(text, "\n") && !m.pastesWhole() {
		m.overlay = &overlay.Question{
			Title: "Insert " + itoa(strings.Count(text, "\n")+1) + " lines at the prompt?",
			Lines: []string{"This program may run each line as it comes."},
			Yes:   "insert",
			Then:  func() tea.Msg { return insertMsg(text) },
		}
		return nil
	}
	return m.insertText(text)
}

// insertMsg is text that the person has agreed to put on the prompt.
type insertMsg string

// pastesWhole reports whether the session used last takes several lines without
// running them: its program is a shell that knows pastes from what is typed.
func (m *model) pastesWhole() bool {
	p := m.currentPane()
	if p == nil {
		return false
	}
	process, ok := m.process(p.ID)
	if !ok || len(process.Argv) == 0 || process.State.Ended() {
		return false
	}
	switch strings.TrimPrefix(filepath.Base(process.Argv[0]), "-") {
	case "bash", "zsh", "fish":
		return true
	}
	return false
}

// insertText types text into the session used last, or into a new one if that
// has ended.
func (m *model) insertText(text string) tea.Cmd {
	m.overlay = nil
	var cmd tea.Cmd
	p := m.currentPane()
	if p == nil || p.Ended() != nil || p.Err() != nil {
		cmd = m.newSession()
		p = m.currentPane()
	}
	m.moveFocus(func() {
		m.switchTo(viewSessions)
		m.listFocused = false
	})
	m.enterHistory()
	m.relayout()
	m.refreshList()
	if p.Scrolling() {
		p.StopScroll()
	}
	m.noteWaiting(p)
	return tea.Batch(cmd, m.sent(p.Send(api.Input{Paste: &text})))
}

// runAgain runs a command once more, in the background and where it ran.
func (m *model) runAgain(row api.HistoryRow) tea.Cmd {
	line := strings.TrimRight(row.Command.Command, " \t\r\n")
	in := m.startOf(row, m.takenNames())
	start := m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
		p, err := e.StartProcess(ctx, in)
		if err != nil {
			return ranMsg{err: err}
		}
		return ranMsg{started: []api.Process{p}}
	}, func(err error) tea.Msg { return ranMsg{err: err} })
	if !strings.Contains(line, redacted) {
		return start
	}
	m.overlay = &overlay.Question{
		Title: "Run " + widget.Clip(widget.Clean(line), 40) + "?",
		Lines: []string{"It had a secret in it, which was not kept:", redacted + " stands in its place."},
		Yes:   "run it so",
		Then:  start,
	}
	return nil
}

// startOf is how a command is run once more, under a name that it takes.
func (m *model) startOf(row api.HistoryRow, taken map[string]bool) api.ProcessStartInput {
	line := strings.TrimRight(row.Command.Command, " \t\r\n")
	return api.ProcessStartInput{
		Command: shellFor(line), Name: freeName(programOf(line), taken), CWD: cmp.Or(row.CWD, m.o.CWD),
		Environ: api.Environ(os.Environ()), Actor: "person",
	}
}

// shellFor is what runs a command line: its program, or the person's shell if it
// takes one.
func shellFor(line string) []string {
	words, shell, err := splitCommand(line)
	if err == nil && !shell && len(words) > 0 {
		return words
	}
	program := "/bin/sh"
	switch own := os.Getenv("SHELL"); filepath.Base(own) {
	case "bash", "zsh", "fish", "ksh":
		program = own
	}
	return []string{program, "-c", line}
}

// programOf is the name of the program that a command line runs; "" if that
// cannot be told.
func programOf(line string) string {
	for word := range strings.FieldsSeq(line) {
		if name, _, set := strings.Cut(word, "="); set && isName(name) {
			continue
		}
		name := filepath.Base(word)
		for _, r := range name {
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._+-", r) {
				return ""
			}
		}
		return strings.TrimLeft(name, "-.")
	}
	return ""
}

// takenNames are the names of what runs.
func (m *model) takenNames() map[string]bool {
	taken := map[string]bool{}
	for i := range m.news.Processes {
		if p := &m.news.Processes[i]; !p.State.Ended() {
			taken[p.Name] = true
		}
	}
	return taken
}

// freeName is a name that is not taken, and takes it; "" leaves the choice to
// the engine.
func freeName(name string, taken map[string]bool) string {
	if name == "" || len(name) > 40 {
		return ""
	}
	free := name
	for n := 2; taken[free]; n++ {
		free = name + "-" + itoa(n)
	}
	taken[free] = true
	return free
}

// ranMsg is the outcome of running commands again.
type ranMsg struct {
	started []api.Process
	err     error
}

// copyCommand puts a command on the clipboard.
func (m *model) copyCommand(row api.HistoryRow) tea.Cmd { return m.copyCommands([]api.HistoryRow{row}) }

// askForgetCommand asks before a command, with all its runs, or one run is
// forgotten.
func (m *model) askForgetCommand(row api.HistoryRow) tea.Cmd {
	in := api.HistoryRemoveInput{IDs: []int64{row.ID}}
	title, what := "Forget this run?", "Its output stays in the log of its session."
	if !m.history.every {
		in = api.HistoryRemoveInput{Command: row.Command.Command}
		title = "Forget this command?"
		switch n := m.history.detail.Total(row.ID); {
		case n > 1:
			title = "Forget all " + itoa(n) + " runs of this command?"
		case n == 0 && row.Runs > 1:
			title = "Forget all runs of this command?"
		}
	}
	m.overlay = &overlay.Question{
		Title: title,
		Lines: []string{widget.Clip(widget.Clean(row.Command.Command), 60), what},
		Yes:   "forget it",
		Then:  m.forget([]api.HistoryRemoveInput{in}),
	}
	return nil
}

// filedMsg is the outcome of saving the history to a file or of loading one.
type filedMsg struct {
	path  string
	load  bool
	ids   []int64 // the runs that are saved; nil for all
	count api.HistoryCount
	err   error
}

func (m *model) filed(msg filedMsg) tea.Cmd {
	switch {
	case !msg.load && errors.Is(msg.err, api.CodeConflict):
		m.askReplace(msg.path, m.saveHistory(msg.path, msg.ids, true))
		return nil
	case msg.err != nil:
		return m.say(panes.ErrorText(msg.err), true)
	case msg.load:
		return m.say("added "+commands(msg.count.Count)+" from "+widget.ShortPath(msg.path, m.list.Home), false)
	}
	return m.say("saved "+commands(msg.count.Count)+" to "+widget.ShortPath(msg.path, m.list.Home), false)
}

func commands(n int) string {
	if n == 1 {
		return "1 command"
	}
	return thousands(n) + " commands"
}

func (m *model) askSaveHistory() tea.Cmd {
	if m.view != viewHistory {
		return nil
	}
	path, what := widget.ShortPath(filepath.Join(m.o.CWD, "commands.txt"), m.list.Home), "all commands"
	var ids []int64
	for _, row := range m.history.list.Marked() {
		ids = append(ids, row.ID)
		what = "the marked " + commands(len(ids))
		if len(ids) == 1 {
			what = "the marked command"
		}
	}
	m.overlay = overlay.NewPrompt("Save "+what+" to", path, func(path string) tea.Cmd {
		if path == "" {
			return nil
		}
		return m.saveHistory(m.fullPath(path), ids, false)
	})
	return nil
}

// saveHistory writes runs to a file, all without ids.
func (m *model) saveHistory(path string, ids []int64, overwrite bool) tea.Cmd {
	return m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
		n, err := e.SaveHistory(ctx, api.HistorySaveInput{Path: path, Overwrite: overwrite, IDs: ids})
		return filedMsg{path: path, ids: ids, count: n, err: err}
	}, func(err error) tea.Msg { return filedMsg{path: path, err: err} })
}

func (m *model) askLoadHistory() tea.Cmd {
	if m.view != viewHistory {
		return nil
	}
	m.overlay = overlay.NewPrompt("Add the commands of a text file or a shell's history", shellHistory(), func(path string) tea.Cmd {
		if path == "" {
			return nil
		}
		path = m.fullPath(path)
		return m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
			n, err := e.LoadHistory(ctx, api.HistoryLoadInput{Path: path})
			return filedMsg{path: path, load: true, count: n, err: err}
		}, func(err error) tea.Msg { return filedMsg{path: path, load: true, err: err} })
	})
	return nil
}

// fullPath is a path as it is typed, made absolute.
func (m *model) fullPath(path string) string {
	path = widget.ExpandHome(path, m.list.Home)
	if !filepath.IsAbs(path) {
		path = filepath.Join(m.o.CWD, path)
	}
	return path
}

// shellHistory is where the person's shell keeps its history.
func shellHistory() string {
	switch filepath.Base(os.Getenv("SHELL")) {
	case "zsh":
		return "~/.zsh_history"
	case "fish":
		return "~/.local/share/fish/fish_history"
	}
	return "~/.bash_history"
}
