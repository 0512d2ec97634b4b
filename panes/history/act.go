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
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/text"
)

// redacted replaces a secret in the history.
const redacted = "***"

// promptText returns a command without control characters, because they could act on the prompt.
func promptText(command string) string {
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

// InsertAtPrompt types a command into the session used last, and shows the session. It does not run
// the command.
func (p *Pane) InsertAtPrompt(row api.HistoryRow) tea.Cmd {
	command := promptText(row.Command.Command)
	// Without bracketed paste, each line break runs a line.
	if strings.Contains(command, "\n") && !p.takesPastes() {
		p.env.Ask(&dialog.Question{
			Title: "Insert " + text.Itoa(strings.Count(command, "\n")+1) + " lines at the prompt?",
			Lines: []string{"This program may run each line as it arrives."},
			Yes:   "insert",
			Then:  panes.Result(func() tea.Cmd { return p.env.Insert(command) }).Cmd,
		})
		return nil
	}
	return p.env.Insert(command)
}

// takesPastes reports whether the session used last accepts several lines without running them: its
// program is a shell that recognizes pastes.
func (p *Pane) takesPastes() bool {
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

// runAgain runs a command again, in the background and in its directory.
func (p *Pane) runAgain(row api.HistoryRow) tea.Cmd {
	start := p.startProcesses([]api.ProcessStartInput{p.startInput(row, p.runningNames())})
	if !strings.Contains(row.Command.Command, redacted) {
		return start
	}
	p.env.Ask(&dialog.Question{
		Title: "Run " + text.Clip(text.Clean(strings.TrimRight(row.Command.Command, " \t\r\n")), 40) + "?",
		Lines: []string{"It contained a secret, which was not recorded:", redacted + " stands in its place."},
		Yes:   "run it anyway",
		Then:  start,
	})
	return nil
}

// startInput returns the input to run a command again, under a name added to taken.
func (p *Pane) startInput(row api.HistoryRow, taken map[string]bool) api.ProcessStartInput {
	line := strings.TrimRight(row.Command.Command, " \t\r\n")
	in := api.ProcessStartInput{
		Command: commandFor(line, row.Host), Name: reserveName(programName(line), taken), CWD: row.CWD,
		Environ: api.Environ(os.Environ()), Umask: api.Umask(), Actor: "person",
	}
	if row.Host != "" {
		in.ID = api.OnMachine(row.Host, api.NewID())
		return in
	}
	// Another machine has no folder of this dashboard, so it falls back to its own home.
	in.CWD = cmp.Or(in.CWD, p.env.Folder())
	return in
}

// commandFor returns the arguments to run a command line on a machine: its words or, if it needs
// one, a shell. The user's own shell is known only for this machine.
func commandFor(line, machine string) []string {
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

// programName returns the name of the program in a command line; "" if unclear.
func programName(line string) string {
	for word := range strings.FieldsSeq(line) {
		// Skip assignments before the program.
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

// runningNames returns the names of all running processes.
func (p *Pane) runningNames() map[string]bool {
	taken := map[string]bool{}
	for i := range p.env.News().Processes {
		if p := &p.env.News().Processes[i]; !p.State.Ended() {
			taken[p.Name] = true
		}
	}
	return taken
}

// reserveName returns a name that is not taken and adds it to taken; "" leaves the choice to the
// engine.
func reserveName(name string, taken map[string]bool) string {
	if name == "" || len(name) > 40 {
		return ""
	}
	free := name
	for n := 2; taken[free]; n++ {
		free = name + "-" + text.Itoa(n)
	}
	taken[free] = true
	return free
}

func (p *Pane) copyCommand(row api.HistoryRow) tea.Cmd { return p.copyCommands([]api.HistoryRow{row}) }

// askDeleteCommand asks before it deletes a command with all its runs, or one run if each run has a
// row.
func (p *Pane) askDeleteCommand(row api.HistoryRow) tea.Cmd {
	in := api.HistoryRemoveInput{Host: row.Host, IDs: []int64{row.ID}}
	title, what := "Delete this run?", "Its output stays in the log of its session."
	if !p.everyRun {
		in = api.HistoryRemoveInput{Host: row.Host, Command: row.Command.Command}
		title = "Delete this command?"
		switch n := p.detail.Total(&row); {
		case n > 1:
			title = "Delete all " + text.Itoa(n) + " runs of this command?"
		case n == 0 && row.Runs > 1:
			title = "Delete all runs of this command?"
		}
	}
	p.env.Ask(&dialog.Question{
		Title: title,
		Lines: []string{text.Clip(text.Clean(row.Command.Command), 60), what},
		Yes:   "delete",
		Then:  p.removeRuns([]api.HistoryRemoveInput{in}),
	})
	return nil
}

func countCommands(n int) string { return text.Count(n, "command") }

func (p *Pane) askSave() tea.Cmd {
	path, what := text.ShortPath(filepath.Join(p.env.Folder(), "commands.txt"), p.env.Home()), "all commands"
	var ids []int64
	for _, row := range p.list.ListMarked() {
		if row.Host != "" {
			return p.env.Say("only commands of this machine can be saved to a file", true)
		}
		ids = append(ids, row.ID)
		what = "the marked " + countCommands(len(ids))
		if len(ids) == 1 {
			what = "the marked command"
		}
	}
	p.env.Ask(dialog.NewPrompt("Save "+what+" to", path, func(path string) tea.Cmd {
		if path == "" {
			return nil
		}
		return p.saveCommands(p.fullPath(path), ids, false)
	}).SuggestPaths(p.env.Folder(), p.env.Home()))
	return nil
}

// saveCommands writes the commands of runs to a file, or of all runs if ids is empty.
func (p *Pane) saveCommands(path string, ids []int64, overwrite bool) tea.Cmd {
	return panes.Ask(p.env.Context(), p.env, func(ctx context.Context, e panes.Engine) (api.HistoryCount, error) {
		return api.HistorySave.Call(ctx, e, api.HistorySaveInput{Path: path, Overwrite: overwrite, IDs: ids})
	}, func(n api.HistoryCount, err error) tea.Cmd {
		// The engine, which may run as another process, knows whether the file exists.
		if errors.Is(err, api.CodeConflict) {
			panes.AskReplace(p.env, path, p.saveCommands(path, ids, true))
			return nil
		}
		return p.reportFile("saved ", n, " to ", path, err)
	})
}

// reportFile reports the result of saving to a file or loading from one.
func (p *Pane) reportFile(did string, n api.HistoryCount, where, path string, err error) tea.Cmd {
	if err != nil {
		return p.env.Say(panes.ErrorText(err), true)
	}
	return p.env.Say(did+countCommands(n.Count)+where+text.ShortPath(path, p.env.Home()), false)
}

func (p *Pane) askLoad() tea.Cmd {
	p.env.Ask(dialog.NewPrompt("Add the commands of a text file or a shell's history", shellHistory(), func(path string) tea.Cmd {
		if path == "" {
			return nil
		}
		path = p.fullPath(path)
		return panes.Ask(p.env.Context(), p.env, func(ctx context.Context, e panes.Engine) (api.HistoryCount, error) {
			return api.HistoryLoad.Call(ctx, e, api.HistoryLoadInput{Path: path, At: time.Now()})
		}, func(n api.HistoryCount, err error) tea.Cmd { return p.reportFile("added ", n, " from ", path, err) })
	}).SuggestPaths(p.env.Folder(), p.env.Home()))
	return nil
}

// fullPath returns a typed path made absolute.
func (p *Pane) fullPath(path string) string {
	path = text.ExpandHome(path, p.env.Home())
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.env.Folder(), path)
	}
	return path
}

// shellHistory returns the path of the history of the user's shell.
func shellHistory() string {
	switch filepath.Base(os.Getenv("SHELL")) {
	case "zsh":
		return "~/.zsh_history"
	case "fish":
		return "~/.local/share/fish/fish_history"
	}
	return "~/.bash_history"
}
