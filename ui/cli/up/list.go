package up

import (
	"fmt"
	"slices"
	"strings"

	"tandem/engine/api"
	"tandem/ui/cli/output"
	"tandem/ui/cli/project"
)

// tellNotices prints notes about the unused parts of a project file.
func tellNotices(out output.Printer, file *project.File) {
	for _, notice := range file.Notices {
		out.Tell("%s: %s", output.Visible(file.Path), output.Visible(notice))
	}
}

// An entryRow is an entry in the output of `tandem up --list`.
type entryRow struct {
	Name      string   `json:"name"`
	Session   bool     `json:"session,omitempty"`
	Autostart bool     `json:"autostart"`
	After     []string `json:"after,omitempty"`
	Command   string   `json:"command,omitempty"`
}

// listEntries lists the entries of a project file, or only those named. It does not connect to an
// engine.
func listEntries(out output.Printer, file *project.File, names []string) error {
	tellNotices(out, file)
	// Reject unknown names, as up does.
	if _, err := file.Order(names); err != nil {
		return err
	}
	entries := []entryRow{}
	for i := range file.Entries {
		e := &file.Entries[i]
		if len(names) > 0 && !slices.Contains(names, e.Name) {
			continue
		}
		l := entryRow{Name: e.Name, Session: e.Start.TTY, Autostart: !e.Manual, Command: e.Line()}
		for _, d := range e.After {
			l.After = append(l.After, d.Name)
		}
		entries = append(entries, l)
	}
	return out.Answer(entries, func() string { return entryTable(out, entries) })
}

func entryTable(out output.Printer, entries []entryRow) string {
	t := out.Table("NAME", "KIND", "STARTS", "AFTER", "COMMAND")
	t.Spare = []string{"KIND", "AFTER", "STARTS"}
	for _, e := range entries {
		kind, starts, after, line := "process", "by itself", "-", firstLine(e.Command)
		if e.Session {
			kind = "session"
		}
		if line == "" {
			line = "your shell"
		}
		if !e.Autostart {
			starts = "when named"
		}
		if len(e.After) > 0 {
			after = output.Visible(strings.Join(e.After, ", "))
		}
		t.Add(output.Tinted(output.Visible(e.Name), output.Strong), output.Text(kind), output.Text(starts), output.Text(after), output.Text(line))
	}
	return t.String()
}

// firstLine returns the first line of s, with an ellipsis if more follow.
func firstLine(s string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(s), "\n")
	if rest != "" {
		line += " …"
	}
	return output.Visible(line)
}

// maxNamed is how many entries an error lists.
const maxNamed = 8

// noAutostartError returns the error for a project file in which every entry must be named to
// start. It lists long-running entries first.
func noAutostartError(file *project.File) error {
	var serving, rest []string
	for i := range file.Entries {
		if e := &file.Entries[i]; e.Serves() {
			serving = append(serving, output.Visible(e.Name))
		} else {
			rest = append(rest, output.Visible(e.Name))
		}
	}
	names := append(serving, rest...)
	all := strings.Join(names[:min(len(names), maxNamed)], ", ")
	if n := len(names) - maxNamed; n > 0 {
		all += fmt.Sprintf(" and %d more", n)
	}
	return api.Errorf(api.CodeInvalid, "%s starts nothing automatically; it has %s", output.Visible(file.Path), all).
		WithHint("name what to start: tandem up " + names[0])
}
