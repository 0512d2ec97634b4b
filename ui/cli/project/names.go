package project

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"tandem/engine/base/names"
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

// omitInvalid leaves out the entries with mistakes or invalid names, those that depend on them, and
// a layout that shows one of them, with a notice about each. If no entry is left, that is an error.
// Each entry of order must come after its dependencies.
func (r *reader) omitInvalid(order []*Entry) {
	omitted := map[string]bool{}
	for _, e := range order {
		why := r.faults[e.Name]
		switch fault := nameFault(e.Name); {
		case why != nil:
		case fault != "":
			why = &Error{Path: r.file.Path, At: e.At, What: names.Quote(e.Name) + " is left out: a name " + fault}
		default:
			j := slices.IndexFunc(e.After, func(d Dependency) bool { return omitted[d.Name] })
			if j < 0 {
				continue
			}
			why = &Error{Path: r.file.Path, At: e.At, What: names.Quote(e.Name) + " is left out: it depends on " + names.Quote(e.After[j].Name)}
		}
		omitted[e.Name] = true
		r.file.Omitted = append(r.file.Omitted, Omission{Name: e.Name, Why: why, Manual: e.Manual})
		notice := why.What
		if r.faults[e.Name] != nil {
			notice = names.Quote(e.Name) + " is left out: " + why.What
		}
		if why.Hint != "" {
			notice += "; " + why.Hint
		}
		r.addNotice(why.At, "%s", notice)
	}
	if len(omitted) == len(order) && len(order) > 0 {
		r.fail(r.file.Omitted[0].Why)
		return
	}
	r.file.Entries = slices.DeleteFunc(r.file.Entries, func(e Entry) bool { return omitted[e.Name] })
	if pane := findPane(r.file.Layout, omitted); pane != nil {
		r.addNotice(pane.At, "the layout is left out: it shows %s", names.Quote(pane.Session))
		r.file.Layout = nil
	}
}

// OmissionError returns an error if entries that up starts by default were left out. With named
// entries it returns nil, because Order has checked those. Notices have given the reasons.
func (f *File) OmissionError(named []string) error {
	var omitted []string
	for _, o := range f.Omitted {
		if len(named) == 0 && !o.Manual {
			omitted = append(omitted, names.Quote(o.Name))
		}
	}
	if len(omitted) == 0 {
		return nil
	}
	return fmt.Errorf("start %s: left out because of errors in the project file", strings.Join(omitted, ", "))
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
