package history

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

// PutOnPrompt types a command into the session used last, and shows that.
// Nothing is executed.
func (p *Pane) PutOnPrompt(row api.HistoryRow) tea.Cmd {
	text := insertable(row.Command.Command)
	if strings.Contains(text, "\n") && !p.pastesWhole() {
		p.env.Ask(&overlay.Question{
			Title: "Insert " + widget.Itoa(strings.Count(text, "\n")+1) + " lines at the prompt?",
			Lines: []string{"This program may run each line as it comes."},
			Yes:   "insert",
			Then:  func() tea.Msg { return insertMsg(text) },
		})
		return nil
	}
	return p.env.Insert(text)
}

// insertMsg is text that the person has agreed to put on the prompt.
type insertMsg string

// pastesWhole reports whether the session used last takes several lines without
// running them: its program is a shell that knows pastes from what is typed.
func (p *Pane) pastesWhole() bool {
	session, _ := p.env.Session()
	process, ok := p.env.News().Process(session)
	if !ok || len(process.Argv) == 0 || process.State.Ended() {
		return false
	}
	switch strings.TrimPrefix(filepath.Base(process.Argv[0]), "-") {
	case "bash", "zsh", "fish":
		return true
	}
	return false
}

// runAgain runs a command once more, in the background and where it ran.
func (p *Pane) runAgain(row api.HistoryRow) tea.Cmd {
	line := strings.TrimRight(row.Command.Command, " \t\r\n")
	in := p.startOf(row, p.takenNames())
	start := panes.Call(p.env, func(ctx context.Context, e panes.Engine) tea.Msg {
		p, err := e.StartProcess(ctx, in)
		if err != nil {
			return ranMsg{err: err}
		}
		return ranMsg{started: []api.Process{p}}
	}, func(err error) tea.Msg { return ranMsg{err: err} })
	if !strings.Contains(line, redacted) {
		return start
	}
	p.env.Ask(&overlay.Question{
		Title: "Run " + widget.Clip(widget.Clean(line), 40) + "?",
		Lines: []string{"It had a secret in it, which was not kept:", redacted + " stands in its place."},
		Yes:   "run it so",
		Then:  start,
	})
	return nil
}

// startOf is how a command is run once more, under a name that it takes.
func (p *Pane) startOf(row api.HistoryRow, taken map[string]bool) api.ProcessStartInput {
	line := strings.TrimRight(row.Command.Command, " \t\r\n")
	return api.ProcessStartInput{
		Command: shellFor(line), Name: freeName(programOf(line), taken), CWD: cmp.Or(row.CWD, p.env.Folder()),
		Environ: api.Environ(os.Environ()), Actor: "person",
	}
}

// shellFor is what runs a command line: its program, or the person's shell if it
// takes one.
func shellFor(line string) []string {
	words, shell, err := panes.SplitCommand(line)
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
		if name, _, set := strings.Cut(word, "="); set && panes.IsName(name) {
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
func (p *Pane) takenNames() map[string]bool {
	taken := map[string]bool{}
	for i := range p.env.News().Processes {
		if p := &p.env.News().Processes[i]; !p.State.Ended() {
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
		free = name + "-" + widget.Itoa(n)
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
func (p *Pane) copyCommand(row api.HistoryRow) tea.Cmd { return p.copyCommands([]api.HistoryRow{row}) }

// askForgetCommand asks before a command, with all its runs, or one run is
// forgotten.
func (p *Pane) askForgetCommand(row api.HistoryRow) tea.Cmd {
	in := api.HistoryRemoveInput{IDs: []int64{row.ID}}
	title, what := "Forget this run?", "Its output stays in the log of its session."
	if !p.every {
		in = api.HistoryRemoveInput{Command: row.Command.Command}
		title = "Forget this command?"
		switch n := p.detail.Total(row.ID); {
		case n > 1:
			title = "Forget all " + widget.Itoa(n) + " runs of this command?"
		case n == 0 && row.Runs > 1:
			title = "Forget all runs of this command?"
		}
	}
	p.env.Ask(&overlay.Question{
		Title: title,
		Lines: []string{widget.Clip(widget.Clean(row.Command.Command), 60), what},
		Yes:   "forget it",
		Then:  p.forget([]api.HistoryRemoveInput{in}),
	})
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

func (p *Pane) filed(msg filedMsg) tea.Cmd {
	switch {
	case !msg.load && errors.Is(msg.err, api.CodeConflict):
		panes.AskReplace(p.env, msg.path, p.save(msg.path, msg.ids, true))
		return nil
	case msg.err != nil:
		return p.env.Say(panes.ErrorText(msg.err), true)
	case msg.load:
		return p.env.Say("added "+commands(msg.count.Count)+" from "+widget.ShortPath(msg.path, p.env.Home()), false)
	}
	return p.env.Say("saved "+commands(msg.count.Count)+" to "+widget.ShortPath(msg.path, p.env.Home()), false)
}

func commands(n int) string {
	if n == 1 {
		return "1 command"
	}
	return thousands(n) + " commands"
}

func (p *Pane) askSave() tea.Cmd {
	path, what := widget.ShortPath(filepath.Join(p.env.Folder(), "commands.txt"), p.env.Home()), "all commands"
	var ids []int64
	for _, row := range p.list.Marked() {
		ids = append(ids, row.ID)
		what = "the marked " + commands(len(ids))
		if len(ids) == 1 {
			what = "the marked command"
		}
	}
	p.env.Ask(overlay.NewPrompt("Save "+what+" to", path, func(path string) tea.Cmd {
		if path == "" {
			return nil
		}
		return p.save(p.fullPath(path), ids, false)
	}))
	return nil
}

// save writes runs to a file, all without ids.
func (p *Pane) save(path string, ids []int64, overwrite bool) tea.Cmd {
	return panes.Call(p.env, func(ctx context.Context, e panes.Engine) tea.Msg {
		n, err := e.SaveHistory(ctx, api.HistorySaveInput{Path: path, Overwrite: overwrite, IDs: ids})
		return filedMsg{path: path, ids: ids, count: n, err: err}
	}, func(err error) tea.Msg { return filedMsg{path: path, err: err} })
}

func (p *Pane) askLoad() tea.Cmd {
	p.env.Ask(overlay.NewPrompt("Add the commands of a text file or a shell's history", shellHistory(), func(path string) tea.Cmd {
		if path == "" {
			return nil
		}
		path = p.fullPath(path)
		return panes.Call(p.env, func(ctx context.Context, e panes.Engine) tea.Msg {
			n, err := e.LoadHistory(ctx, api.HistoryLoadInput{Path: path})
			return filedMsg{path: path, load: true, count: n, err: err}
		}, func(err error) tea.Msg { return filedMsg{path: path, load: true, err: err} })
	}))
	return nil
}

// fullPath is a path as it is typed, made absolute.
func (p *Pane) fullPath(path string) string {
	path = widget.ExpandHome(path, p.env.Home())
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.env.Folder(), path)
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
