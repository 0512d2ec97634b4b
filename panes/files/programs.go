package files

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/base/shell"
	"tandem/panes"
	"tandem/panes/files/transfers"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/list"
	"tandem/panes/kit/text"
)

// programs run in sessions in the current folder.
type programs struct {
	env    panes.Env
	folder *folder
}

// startSession starts a command in a new session in the current folder, or a shell if the command
// is empty.
func (p *programs) startSession(command []string) tea.Cmd {
	command, folder, err := encodeCommand(command, p.folder.path)
	if err != nil {
		return p.env.Say(panes.ErrorText(err), true)
	}
	return p.env.StartSession(command, folder)
}

// editFile opens the current file in the user's editor.
func (p *programs) editFile() tea.Cmd {
	path := p.folder.list.CursorPath()
	if path == "" {
		return nil
	}
	return p.runInSession("", panes.EditorCommand(path, 0, 0), nil)
}

// runInSession runs a command in a new session in the current folder. After it has exited, next is
// called; it may be nil. name is the session's name; "" names the session after its program.
func (p *programs) runInSession(name string, command []string, next func() tea.Cmd) tea.Cmd {
	command, folder, err := encodeCommand(toLocalPaths(command, p.folder.path), p.folder.path)
	if err != nil {
		return p.env.Say(panes.ErrorText(err), true)
	}
	return p.env.Visit(name, command, folder, next)
}

// toLocalPaths removes the name of a remote machine from the paths in a command, because the
// command runs on that machine.
func toLocalPaths(command []string, folder string) []string {
	machine, _ := api.PathOf(folder)
	if machine == "" {
		return command
	}
	command = slices.Clone(command)
	for i := range command {
		command[i] = strings.ReplaceAll(command[i], api.PathOn(machine, "/")+"/", "/")
	}
	return command
}

func (p *programs) askRun() tea.Cmd {
	selected := p.folder.list.CursorEntry()
	if selected == nil || selected.IsFolder() {
		return nil
	}
	command := shellWord("./" + selected.Name)
	if !selected.IsExecutable() {
		command = " " + shellWord(selected.Name)
	}
	p.env.Ask(dialog.NewPrompt("Run in a session", command, func(line string) tea.Cmd {
		return p.startSession([]string{"/bin/sh", "-c", line})
	}))
	return nil
}

// A program is a choice for opening files.
type program struct {
	name    string
	command []string
	detail  string // shown beside the choice
}

// askOpenWith offers programs for the targets. The program runs in a session, where its output and
// errors are visible.
func (p *programs) askOpenWith(targets []string) tea.Cmd {
	found := programsFor(targets, p.env.Settings().OpenWith, os.Getenv, exec.LookPath)
	u := &dialog.Picker{Title: "Open " + transfers.NameFiles(targets) + " with", Wide: list.ChoicesWidth, Verb: func(list.Choice) string { return "open" }}
	choices := make([]list.Choice, len(found))
	for i, one := range found {
		choices[i] = list.Choice{Text: one.name, Detail: one.detail, Number: i}
	}
	u.List.Set(choices)
	u.Pick = func(c list.Choice) tea.Cmd { return p.runInSession("", found[c.Number].command, nil) }
	p.env.Ask(u)
	return nil
}

// programsFor returns the programs that can open targets: those in the user's configuration first,
// then those named in the environment.
func programsFor(targets, own []string, env func(string) string, lookPath func(string) (string, error)) (programs []program) {
	for _, line := range own {
		programs = append(programs, program{line, []string{"/bin/sh", "-c", insertFiles(line, targets)}, "config.toml"})
	}
	editor := panes.EditorCommand(targets[0], 0, 0)
	editor = append(editor, targets[1:]...)
	programs = append(programs, program{filepath.Base(editor[0]), editor, "editor"})
	pager := panes.ParseProgram(env("PAGER"), "less")
	if _, err := lookPath(pager[0]); err == nil {
		programs = append(programs, program{filepath.Base(pager[0]), append(pager, targets...), "pager"})
	}
	if env("DISPLAY") == "" && env("WAYLAND_DISPLAY") == "" || len(targets) > 1 { // xdg-open takes one file
		return programs
	}
	if path, err := lookPath("xdg-open"); err == nil {
		programs = append(programs, program{"xdg-open", []string{path, targets[0]}, "the desktop's choice"})
	}
	return programs
}

// insertFiles returns a command line with the paths in place of {} or, if there is none, at its
// end.
func insertFiles(line string, paths []string) string {
	words := make([]string, len(paths))
	for i, path := range paths {
		words[i] = shellWord(path)
	}
	files := strings.Join(words, " ")
	if strings.Contains(line, "{}") {
		return strings.ReplaceAll(line, "{}", files)
	}
	return line + " " + files
}

// encodeCommand returns a command and its folder in a form that the API can carry. The API carries
// only UTF-8, so a command with other bytes is run by a shell that recreates them.
func encodeCommand(command []string, folder string) ([]string, string, error) {
	if utf8.ValidString(folder) && !slices.ContainsFunc(command, func(word string) bool { return !utf8.ValidString(word) }) {
		return command, folder, nil
	}
	run := []string{`"${SHELL:-/bin/sh}"`}
	if len(command) > 0 {
		run = nil
	}
	for _, word := range append([]string{folder}, command...) {
		// The shell's $(…) would drop the line break.
		if strings.HasSuffix(word, "\n") {
			return nil, "", api.Errorf(api.CodeInvalid, "a name that ends in a line break cannot be passed to a program").WithHint("rename the file")
		}
	}
	for _, word := range command {
		run = append(run, shellWord(word))
	}
	script := "exec " + strings.Join(run, " ")
	if folder != "" {
		script = "cd -- " + shellWord(folder) + " && " + script
	}
	return []string{"/bin/sh", "-c", script}, "", nil
}

// shellWord quotes a word for a shell. The result consists of visible characters only, even if the
// word contains other bytes. Line breaks at the end of the word are lost, because the shell drops
// them.
func shellWord(word string) string {
	if text.NeedsEscapes(word) {
		return shell.QuoteBytes(word)
	}
	return shell.Quote(word)
}
