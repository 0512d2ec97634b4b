package history

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"mvdan.cc/sh/v3/syntax"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/text"
)

// redacted replaces a secret in the history.
const redacted = "***"

// runCommands runs commands again, in the background and in their folders. It asks first if there
// are several, or if a secret is missing.
func (a *actions) runCommands(rows []api.HistoryRow) tea.Cmd {
	taken := a.runningNames()
	starts := make([]api.ProcessStartInput, len(rows))
	for i, row := range rows {
		starts[i] = a.startInput(row, taken)
	}
	q := &dialog.Question{Then: func() tea.Cmd { return a.startProcesses(starts) }}
	secret := slices.ContainsFunc(rows, func(row api.HistoryRow) bool { return strings.Contains(row.Command.Command, redacted) })
	switch {
	case len(rows) == 1 && !secret:
		return q.Then()
	case len(rows) == 1:
		q.Title = "Run " + text.Clip(text.Clean(strings.TrimRight(rows[0].Command.Command, " \t\r\n")), 40) + "?"
		q.Lines = []string{"It contained a secret, which was not recorded:", redacted + " stands in its place."}
		q.Yes = "run it anyway"
	default:
		q.Title, q.Lines = "Run "+countCommands(len(rows))+" in the background?", commandList(rows)
		if secret {
			q.Lines = append(q.Lines, "", "A secret was not recorded: "+redacted+" stands in its place.")
		}
		q.Lines = append(q.Lines, "", "All at once, each in its own folder.")
		q.Yes = "run them"
	}
	a.env.Ask(q)
	return nil
}

// startProcesses starts processes one after another. If one fails to start, it continues with the
// next.
func (a *actions) startProcesses(all []api.ProcessStartInput) tea.Cmd {
	return panes.Call(a.env.Context(), a.env, func(ctx context.Context, e panes.Engine) (started []api.Process, err error) {
		errs := make([]error, len(all))
		for i, in := range all {
			var p api.Process
			if p, errs[i] = api.ProcessStart.Call(ctx, e, in); errs[i] == nil {
				started = append(started, p)
			}
		}
		return started, panes.FirstError(errs)
	}, a.reportStarts)
}

// reportStarts reports which commands were started.
func (a *actions) reportStarts(started []api.Process, err error) tea.Cmd {
	cmd := a.env.AddProcesses(started...)
	n := len(started)
	switch {
	case err != nil && n > 0:
		return tea.Batch(cmd, a.env.Say("started "+text.Itoa(n)+"; "+panes.ErrorText(err), true))
	case err != nil:
		return a.env.Say(panes.ErrorText(err), true)
	}
	what, shows := text.Count(n, "process"), " shows them"
	if n == 1 {
		what, shows = text.Clean(started[0].Name), " shows it"
	}
	what = "started " + what + " in the background" + a.env.Bindings().WithKey(" – ", keymap.ViewProcesses, shows, keymap.ScopeGlobal)
	return tea.Batch(cmd, a.env.Say(what, false))
}

// startInput returns the input for starting the command of a row again. The new process gets a name
// that is not in taken, and the name is added to taken.
func (a *actions) startInput(row api.HistoryRow, taken map[string]bool) api.ProcessStartInput {
	line := strings.TrimRight(row.Command.Command, " \t\r\n")
	in := api.ProcessStartInput{
		Command: commandFor(line, row.Host), Name: reserveName(programName(line), taken), CWD: row.CWD,
		Environ: api.Environ(os.Environ()), Umask: api.Umask(), Actor: "person",
	}
	if row.Host != "" {
		in.ID = api.OnMachine(row.Host, api.NewID())
		return in
	}
	// Only this machine has the dashboard's folder. Another machine uses its own home directory
	// instead.
	in.CWD = cmp.Or(in.CWD, a.env.Folder())
	return in
}

// commandFor returns the arguments that run a command line on a machine: the words of the line or,
// if the line needs a shell, a shell with the line. The user's own shell is known only on this
// machine.
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

// programName returns the name of the program that a command line runs; "" if that is unclear.
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
func (a *actions) runningNames() map[string]bool {
	taken := map[string]bool{}
	for i := range a.env.News().Processes {
		if p := &a.env.News().Processes[i]; !p.State.Ended() {
			taken[p.Name] = true
		}
	}
	return taken
}

// reserveName returns name, with a number if it is taken, and adds the result to taken. If name is
// empty or too long, it returns "", so that the engine chooses a name.
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
