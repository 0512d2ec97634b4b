package files

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/panes"
	"tandem/ui/overlay"
)

// matchRest is how long typing rests before the engine is asked what matches.
const matchRest = 60 * time.Millisecond

// A fileMatch is what the engine found in a folder of which not all entries are
// held: those whose names match.
type fileMatch struct {
	filter  string
	entries *Set
	omitted int // that match too
}

// filesMatched is the outcome of a question for matches.
type filesMatched struct {
	serial int
	match  *fileMatch
	rows   *Rows
	err    error
}

// incomplete reports whether the folder has entries that are not held.
func (f *Pane) incomplete() bool { return f.list.More || f.omitted > 0 }

// matched is what the engine found for the filter; nil if it is not asked, or
// has not answered.
func (f *Pane) matched() *fileMatch {
	if f.match == nil || f.match.filter != f.order.Filter || f.match.filter == "" {
		return nil
	}
	return f.match
}

// source are the entries that rows are made of, and how many more there are.
func (f *Pane) source() (*Set, int) {
	switch match := f.matched(); {
	case match != nil:
		return match.entries, match.omitted
	case f.order.Filter != "":
		return f.all, 0 // which of the others match is not known
	}
	return f.all, f.omitted
}

// askFileFilter asks for words, and shows what matches while they are typed.
func (f *Pane) askFileFilter() tea.Cmd {
	f.env.Ask(overlay.NewFilter("Show files with", "words of the name; !word: without it", f.order.Filter, func(text string) tea.Cmd {
		f.order.Filter = text
		return f.rearrange()
	}))
	return nil
}

// rearrange shows what is wanted of the folder, in the order that is wanted.
func (f *Pane) rearrange() tea.Cmd {
	rows := f.list.Rows()
	if rows == nil || rows.Order == f.order {
		return nil
	}
	var match tea.Cmd
	if rows.Order.Filter != f.order.Filter {
		match = f.matchBeyond()
	}
	return tea.Batch(match, f.arrangeFiles())
}

// arrangeFiles makes rows of what is held, beside if that is much.
func (f *Pane) arrangeFiles() tea.Cmd {
	set, _ := f.source()
	if set.Len() <= quickRows {
		f.setRows(set.Arrange(f.order))
		return nil
	}
	serial, order := f.serial, f.order
	return func() tea.Msg { return filesArranged{serial, set, set.Arrange(order)} }
}

func (f *Pane) takeArranged(msg filesArranged) {
	if set, _ := f.source(); msg.serial == f.serial && msg.set == set && msg.rows.Order == f.order {
		f.setRows(msg.rows)
	}
}

// matchBeyond asks the engine which names match, where not all are held.
func (f *Pane) matchBeyond() tea.Cmd {
	if f.matching != nil {
		f.matching()
		f.matching = nil
	}
	if f.order.Filter == "" || !f.incomplete() || f.leave == nil {
		f.match = nil
		return nil
	}
	ctx, cancel := context.WithCancel(f.ctx)
	f.matching = cancel
	serial, path, order := f.serial, f.path, f.order
	return func() tea.Msg {
		if !rest(ctx, matchRest) {
			return nil
		}
		e, err := f.env.Engine(ctx)
		if err != nil {
			return nil
		}
		msg := filesMatched{serial: serial, match: &fileMatch{filter: order.Filter}}
		msg.match.entries, msg.match.omitted, msg.err = listEntries(ctx, e, path, order.Filter, nil, mostEntries)
		if ctx.Err() != nil {
			return nil
		}
		msg.rows = msg.match.entries.Arrange(order)
		return msg
	}
}

func (f *Pane) takeMatched(msg filesMatched) tea.Cmd {
	if msg.serial != f.serial || msg.match.filter != f.order.Filter {
		return nil
	}
	f.matching = nil
	if msg.err != nil { // what is held stays
		return f.env.Say(panes.ErrorText(msg.err), true)
	}
	f.match = msg.match
	if msg.rows.Order != f.order {
		return f.arrangeFiles()
	}
	f.setRows(msg.rows)
	return nil
}
