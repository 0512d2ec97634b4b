package files

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/list"
)

// A program is a choice for opening files.
type program struct {
	name    string
	command []string
	detail  string // shown beside the choice
}

// askOpenWith offers programs for the targets. The program runs in a session, where its output and
// errors are visible.
func askOpenWith(f *Pane) tea.Cmd {
	targets := f.folder.list.Targets()
	if len(targets) == 0 {
		return nil
	}
	programs := programsFor(targets, f.env.Settings().OpenWith, os.Getenv, exec.LookPath)
	u := &dialog.Picker{Title: "Open " + nameFiles(targets) + " with", Wide: list.ChoicesWidth, Verb: func(list.Choice) string { return "open" }}
	choices := make([]list.Choice, len(programs))
	for i, p := range programs {
		choices[i] = list.Choice{Text: p.name, Detail: p.detail, Number: i}
	}
	u.List.Set(choices)
	u.Pick = func(c list.Choice) tea.Cmd { return f.runInSession(programs[c.Number].command, nil) }
	f.env.Ask(u)
	return nil
}

// programsFor returns the programs for files: the user's own first, then those named in the
// environment.
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

// insertFiles returns a command line with the files in place of {}, or at its end.
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
