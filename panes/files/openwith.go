package files

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/panes"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// A program is something to open files with.
type program struct {
	name    string
	command []string
	detail  string // what it is, for the one that chooses
}

// askOpenWith lets the person choose what to open the targets with. It runs in a
// session, so that its output and its errors are seen.
func askOpenWith(f *Pane) tea.Cmd {
	targets := f.folder.list.Targets()
	if len(targets) == 0 {
		return nil
	}
	programs := programsFor(targets, f.env.OpenWith(), os.Getenv, exec.LookPath)
	u := &overlay.Picker{Title: "Open " + theseFiles(targets) + " with", Wide: widget.ChoicesWidth, Verb: func(widget.Choice) string { return "open" }}
	choices := make([]widget.Choice, len(programs))
	for i, p := range programs {
		choices[i] = widget.Choice{Text: p.name, Detail: p.detail, Number: i}
	}
	u.List.Set(choices)
	u.Pick = func(c widget.Choice) tea.Cmd { return f.visit(programs[c.Number].command, nil) }
	f.env.Ask(u)
	return nil
}

// programsFor are the programs for files: the person's own first, then what the
// environment names.
func programsFor(targets, own []string, env func(string) string, look func(string) (string, error)) (programs []program) {
	for _, line := range own {
		programs = append(programs, program{line, []string{"/bin/sh", "-c", withFiles(line, targets)}, "config.toml"})
	}
	editor := panes.EditorCommand(targets[0], 0, 0)
	editor = append(editor, targets[1:]...)
	programs = append(programs, program{filepath.Base(editor[0]), editor, "editor"})
	pager := panes.ParseProgram(env("PAGER"), "less")
	if _, err := look(pager[0]); err == nil {
		programs = append(programs, program{filepath.Base(pager[0]), append(pager, targets...), "pager"})
	}
	if env("DISPLAY") == "" && env("WAYLAND_DISPLAY") == "" || len(targets) > 1 { // it takes one
		return programs
	}
	if path, err := look("xdg-open"); err == nil {
		programs = append(programs, program{"xdg-open", []string{path, targets[0]}, "the desktop's choice"})
	}
	return programs
}

// withFiles is a command line with files in place of {}, or behind it.
func withFiles(line string, paths []string) string {
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
