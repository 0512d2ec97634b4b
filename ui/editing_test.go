package ui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/keys"
	"tandem/panes/kit/text"
	"tandem/ui/screen"
)

// Each of the keys, and the paste, changes the text.
func TestInputsEditWordsAndPasteAtCursor(t *testing.T) {
	const (
		list      = "ctrl+b s"
		processes = "alt+2"
		history   = "alt+3"
		files     = "alt+4"
		form      = "n"
	)
	label := func(name string) string { return text.Pad(name, 14) }
	for name, place := range map[string]struct {
		view, ready  string // keys, and a text on the screen before the next ones
		open, opened string
		before       string // text before the input in its row
		cancel       string
	}{
		"filter of sessions":      {list, "$ ", "/", "Show sessions with", "", "esc"},
		"name of a session":       {list, "$ ", "ctrl+b ,", "Rename session", "", "esc"},
		"name of a layout":        {"", "$ ", "ctrl+b S", "Save the layout", "", "esc"},
		"palette":                 {"", "$ ", "ctrl+b :", "Find anything", "", "esc"},
		"choices":                 {"", "$ ", "ctrl+b T", "follows the terminal", "", "esc"},
		"search in the keys":      {"ctrl+b ?", "Keys", "/", "all keys", "/ ", "esc esc"},
		"history over a terminal": {"", "$ ", "ctrl+b r", "insert at the prompt", "", "esc esc"},
		"search in a scrollback":  {"ctrl+b [", "line ", "/", "stay here", "/ ", "esc"},
		"file of a scrollback":    {"ctrl+b [", "line ", "S", "Save the scrollback", "", "esc"},
		"filter of processes":     {processes, "reader", "/", "Show processes with", "", "esc"},
		"command":                 {processes, "reader", form, "Start a process", label("command"), "esc"},
		"name of a process":       {processes, "reader", form + " down", "Start a process", label("name"), "esc"},
		"folder":                  {processes, "reader", form + " down down", "Start a process", label("folder"), "esc"},
		"environment":             {processes, "reader", form + " down down down", "Start a process", label("environment"), "esc"},
		"sandbox file":            {processes, "reader", form + " down down down down down", "Start a process", label("sandbox file"), "esc"},
		"signal":                  {processes, "reader", "s", "Send a signal", "", "esc"},
		"search in a log":         {processes, "a line", "enter /", "match case", "/ ", "esc"},
		"file of a log":           {processes, "a line", "enter S", "Save the log", "", "esc"},
		"query of the history":    {history, "make test", "/", "search", "/ ", "esc esc"},
		"file of the history":     {history, "make test", "S", "Save ", "", "esc"},
		"history to import":       {history, "make test", "L", "Add the commands", "", "esc"},
		"filter of files":         {files, "notes.txt", "/", "Show files with", "", "esc"},
		"folder to open":          {files, "notes.txt", "c", "Go to", "", "esc"},
		"search for files":        {files, "notes.txt", "f", "Find files in", "", "esc"},
		"search in files":         {files, "notes.txt", "ctrl+f", "Search file contents in", "", "esc"},
		"name of a file":          {files, "notes.txt", "R", "Rename notes", "", "esc"},
		"destination of a copy":   {files, "notes.txt", "C", "Copy notes", "", "esc"},
		"name of a new file":      {files, "notes.txt", "n", "New file", "", "esc"},
		"program for a file":      {files, "notes.txt", "x", "Run in a session", "", "esc"},
		"search in a file":        {files, "the first note", "enter /", "match case", "/ ", "esc"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("the first note\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			e := newFakeEngine()
			e.addSession("shell", "$ ").process.CWD = dir
			e.addProcess("reader", "a line\n")
			e.history.AddRun("make test")
			d := drive(t, e, 120, 36)
			d.waitText("$ ")
			d.pressKeys(strings.Fields(place.view)...)
			d.waitText(place.ready)
			d.pressKeys(strings.Fields(place.open)...)
			d.waitText(place.opened)
			d.pressKeys("ctrl+u", "'one two three", "alt+b", "alt+b", "alt+d", "ctrl+right", "ctrl+w", "ctrl+left")
			d.sendEvent(screen.Event{Kind: keys.EventPaste, Paste: "pre-\n"})
			d.waitText(place.before + "pre-one   ")
			d.pressKeys(strings.Fields(place.cancel)...)
			d.waitNoText("pre-one")
		})
	}
}
