package project

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"tandem/engine/names"
)

// maxName is the maximum length of an entry's name in characters.
const maxName = 56

// nameFault returns the rule that a name breaks, or "" if the engine accepts it, with a number
// appended if necessary.
func nameFault(s string) string {
	if utf8.RuneCountInString(s) > maxName {
		return fmt.Sprintf("must have at most %d characters", maxName)
	}
	return names.Fault(s)
}

// omitInvalid leaves out the entries with invalid names, those that depend on them, and a layout that
// shows one of them, with a notice about each. If no entry is left, that is an error. In order, each
// entry comes after its dependencies.
func (r *reader) omitInvalid(order []*Entry) {
	omitted := map[string]bool{}
	for i, e := range order {
		why := ""
		if fault := nameFault(e.Name); fault != "" {
			why = "a name " + fault
		} else if j := slices.IndexFunc(e.After, func(d Dependency) bool { return omitted[d.Name] }); j >= 0 {
			why = "it depends on " + names.Quote(e.After[j].Name)
		}
		switch {
		case why == "":
		case len(omitted) == i && i == len(order)-1: // all of them
			r.addError(e.At, "%s is left out: %s", names.Quote(e.Name), why)
		default:
			omitted[e.Name] = true
			if !e.Manual {
				r.file.Omitted = append(r.file.Omitted, names.Quote(e.Name))
			}
			r.addNotice(e.At, "%s is left out: %s", names.Quote(e.Name), why)
		}
	}
	r.file.Entries = slices.DeleteFunc(r.file.Entries, func(e Entry) bool { return omitted[e.Name] })
	if pane := findPane(r.file.Layout, omitted); pane != nil {
		r.addNotice(pane.At, "the layout is left out: it shows %s", names.Quote(pane.Session))
		r.file.Layout = nil
	}
}

// findPane returns the first pane that shows one of sessions, or nil.
func findPane(panes []Pane, sessions map[string]bool) *Pane {
	for i := range panes {
		if sessions[panes[i].Session] {
			return &panes[i]
		}
		if found := findPane(panes[i].Panes, sessions); found != nil {
			return found
		}
	}
	return nil
}
