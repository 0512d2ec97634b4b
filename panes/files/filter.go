package files

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/sleep"
	"tandem/panes"
	"tandem/panes/widget"
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

// incomplete reports whether the folder has entries that are not held.
func (f *folder) incomplete() bool { return f.list.More || f.omitted > 0 }

// matched is what the engine found for the filter; nil if it is not asked, or
// has not answered.
func (f *folder) matched() *fileMatch {
	if f.match == nil || f.match.filter != f.order.Filter || f.match.filter == "" {
		return nil
	}
	return f.match
}

// source are the entries that rows are made of, and how many more there are.
func (f *folder) source() (*Set, int) {
	switch match := f.matched(); {
	case match != nil:
		return match.entries, match.omitted
	case f.order.Filter != "":
		return f.all, 0 // which of the others match is not known
	}
	return f.all, f.omitted
}

// askFilter asks for words, and shows what matches while they are typed.
func (f *folder) askFilter() tea.Cmd {
	var names []string
	rows := f.list.Rows()
	for i := range min(rows.Len(), quickRows) {
		if name := rows.Name(i); !widget.NeedsEscapes(name) && !strings.Contains(name, " ") {
			names = append(names, name)
		}
	}
	f.env.Ask(overlay.NewFilter("Show files with", "words of the name; !word: without it", f.order.Filter, func(text string) tea.Cmd {
		f.order.Filter = text
		return f.rearrange()
	}).SuggestWords(names))
	return nil
}

// onOrder changes what is shown of the folder and in which order.
func (f *folder) onOrder(change func(*Order)) func() tea.Cmd {
	return func() tea.Cmd {
		change(&f.order)
		return f.rearrange()
	}
}

// rearrange shows what is wanted of the folder, in the order that is wanted.
func (f *folder) rearrange() tea.Cmd {
	rows := f.list.Rows()
	if rows == nil || rows.Order == f.order {
		return nil
	}
	var match tea.Cmd
	if rows.Order.Filter != f.order.Filter {
		match = f.matchBeyond()
	}
	return tea.Batch(match, f.arrange())
}

// arrange makes rows of what is held, beside if that is much.
func (f *folder) arrange() tea.Cmd {
	set, _ := f.source()
	if set.Len() <= quickRows {
		f.setRows(set.Arrange(f.order))
		return nil
	}
	order := f.order
	return func() tea.Msg {
		rows := set.Arrange(order)
		return panes.Result(func() tea.Cmd {
			if now, _ := f.source(); set == now && order == f.order {
				f.setRows(rows)
			}
			return nil
		})
	}
}

// matchBeyond asks the engine which names match, where not all are held.
func (f *folder) matchBeyond() tea.Cmd {
	if f.matching != nil {
		f.matching()
		f.matching = nil
	}
	if f.order.Filter == "" || !f.incomplete() || f.visit == nil {
		f.match = nil
		return nil
	}
	ctx, cancel := context.WithCancel(f.visit.ctx)
	f.matching = cancel
	path, order := f.path, f.order
	var rows *Rows
	return panes.Ask(ctx, f.env, func(ctx context.Context, e panes.Engine) (*fileMatch, error) {
		_ = sleep.For(ctx, matchRest)
		match := &fileMatch{filter: order.Filter}
		var err error
		match.entries, match.omitted, err = listEntries(ctx, e, path, order.Filter, nil, mostEntries)
		rows = match.entries.Arrange(order)
		return match, err
	}, func(match *fileMatch, err error) tea.Cmd {
		if ctx.Err() != nil || order.Filter != f.order.Filter {
			return nil
		}
		f.matching = nil
		if err != nil { // what is held stays
			return f.env.Say(panes.ErrorText(err), true)
		}
		if f.match = match; rows.Order != f.order {
			return f.arrange()
		}
		f.setRows(rows)
		return nil
	})
}
