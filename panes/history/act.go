package history

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"mvdan.cc/sh/v3/syntax"

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
			Then:  panes.Result(func() tea.Cmd { return p.env.Insert(text) }).Cmd,
		})
		return nil
	}
	return p.env.Insert(text)
}

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
	start := p.start([]api.ProcessStartInput{p.startOf(row, p.takenNames())})
	if !strings.Contains(row.Command.Command, redacted) {
		return start
	}
	p.env.Ask(&overlay.Question{
		Title: "Run " + widget.Clip(widget.Clean(strings.TrimRight(row.Command.Command, " \t\r\n")), 40) + "?",
		Lines: []string{"It contained a secret, which was not kept:", redacted + " stands in its place."},
		Yes:   "run it anyway",
		Then:  start,
	})
	return nil
}

// startOf is how a command is run once more, under a name that it takes.
func (p *Pane) startOf(row api.HistoryRow, taken map[string]bool) api.ProcessStartInput {
	line := strings.TrimRight(row.Command.Command, " \t\r\n")
	in := api.ProcessStartInput{
		Command: shellFor(line, row.Host), Name: freeName(programOf(line), taken), CWD: row.CWD,
		Environ: api.Environ(os.Environ()), Umask: api.Umask(), Actor: "person",
	}
	if row.Host != "" {
		in.ID = api.OnMachine(row.Host, api.NewID())
		return in
	}
	in.CWD = cmp.Or(in.CWD, p.env.Folder())
	return in
}

// shellFor is what runs a command line on a machine: its program, or if it takes a
// shell the person's, which is known of the own machine alone.
func shellFor(line, machine string) []string {
	words, shell, err := panes.SplitCommand(line)
	if err == nil && !shell && len(words) > 0 {
		return words
	}
	program := "/bin/sh"
	switch own := os.Getenv("SHELL"); filepath.Base(own) {
	case "bash", "zsh", "fish", "ksh":
		if machine == "" {
			program = own
		}
	}
	return []string{program, "-c", line}
}

// programOf is the name of the program that a command line runs; "" if that
// cannot be told.
func programOf(line string) string {
	for word := range strings.FieldsSeq(line) {
		if name, _, set := strings.Cut(word, "="); set && syntax.ValidName(name) {
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

// copyCommand puts a command on the clipboard.
func (p *Pane) copyCommand(row api.HistoryRow) tea.Cmd { return p.copyCommands([]api.HistoryRow{row}) }

// askForgetCommand asks before a command, with all its runs, or one run is
// forgotten.
func (p *Pane) askForgetCommand(row api.HistoryRow) tea.Cmd {
	in := api.HistoryRemoveInput{Host: row.Host, IDs: []int64{row.ID}}
	title, what := "Delete this run?", "Its output stays in the log of its session."
	if !p.every {
		in = api.HistoryRemoveInput{Host: row.Host, Command: row.Command.Command}
		title = "Delete this command?"
		switch n := p.detail.Total(&row); {
		case n > 1:
			title = "Delete all " + widget.Itoa(n) + " runs of this command?"
		case n == 0 && row.Runs > 1:
			title = "Delete all runs of this command?"
		}
	}
	p.env.Ask(&overlay.Question{
		Title: title,
		Lines: []string{widget.Clip(widget.Clean(row.Command.Command), 60), what},
		Yes:   "delete",
		Then:  p.forget([]api.HistoryRemoveInput{in}),
	})
	return nil
}

func commands(n int) string { return widget.Count(n, "command") }

func (p *Pane) askSave() tea.Cmd {
	path, what := widget.ShortPath(filepath.Join(p.env.Folder(), "commands.txt"), p.env.Home()), "all commands"
	var ids []int64
	for _, row := range p.list.Marked() {
		if row.Host != "" {
			return p.env.Say("only commands of this machine can be saved to a file", true)
		}
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
	}).SuggestPaths(p.env.Folder(), p.env.Home()))
	return nil
}

// save writes runs to a file, all without ids.
func (p *Pane) save(path string, ids []int64, overwrite bool) tea.Cmd {
	return panes.Ask(p.env.Context(), p.env, func(ctx context.Context, e panes.Engine) (api.HistoryCount, error) {
		return api.HistorySave.Call(ctx, e, api.HistorySaveInput{Path: path, Overwrite: overwrite, IDs: ids})
	}, func(n api.HistoryCount, err error) tea.Cmd {
		if errors.Is(err, api.CodeConflict) {
			panes.AskReplace(p.env, path, p.save(path, ids, true))
			return nil
		}
		return p.sayFiled("saved ", n, " to ", path, err)
	})
}

// sayFiled tells how saving to a file has ended, or loading from one.
func (p *Pane) sayFiled(did string, n api.HistoryCount, where, path string, err error) tea.Cmd {
	if err != nil {
		return p.env.Say(panes.ErrorText(err), true)
	}
	return p.env.Say(did+commands(n.Count)+where+widget.ShortPath(path, p.env.Home()), false)
}

func (p *Pane) askLoad() tea.Cmd {
	p.env.Ask(overlay.NewPrompt("Add the commands of a text file or a shell's history", shellHistory(), func(path string) tea.Cmd {
		if path == "" {
			return nil
		}
		path = p.fullPath(path)
		return panes.Ask(p.env.Context(), p.env, func(ctx context.Context, e panes.Engine) (api.HistoryCount, error) {
			return api.HistoryLoad.Call(ctx, e, api.HistoryLoadInput{Path: path, At: time.Now()})
		}, func(n api.HistoryCount, err error) tea.Cmd { return p.sayFiled("added ", n, " from ", path, err) })
	}).SuggestPaths(p.env.Folder(), p.env.Home()))
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
