package files

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/base/sleep"
	"tandem/panes"
	"tandem/panes/files/entries"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/list"
	"tandem/panes/kit/text"
)

// matchDelay is how long typing must rest before the engine is asked for matches.
const matchDelay = 60 * time.Millisecond

// A fileMatch is the engine's answer to a filter. It is used if the dashboard does not hold all
// entries of the folder.
type fileMatch struct {
	filter  string
	entries *entries.Set
	omitted int // number of further matches
}

// isIncomplete reports whether the folder has entries that the dashboard does not hold.
func (f *folder) isIncomplete() bool { return f.list.More || f.omitted > 0 }

// currentMatch returns the engine's result for the filter; nil if there is none.
func (f *folder) currentMatch() *fileMatch {
	if f.match == nil || f.match.filter != f.order.Filter || f.match.filter == "" {
		return nil
	}
	return f.match
}

// rowSource returns the entries from which the rows are made, and the number of further entries
// that are not held.
func (f *folder) rowSource() (*entries.Set, int) {
	switch match := f.currentMatch(); {
	case match != nil:
		return match.entries, match.omitted
	case f.order.Filter != "":
		return f.all, 0 // matches among the others are unknown
	}
	return f.all, f.omitted
}

// askFilter asks for a filter and applies it as it is typed.
func (f *folder) askFilter() tea.Cmd {
	var names []string
	rows := f.list.Rows()
	for i := range min(rows.Len(), maxQuickRows) {
		if name := rows.At(i).Name; !text.NeedsEscapes(name) && !strings.Contains(name, " ") {
			names = append(names, name)
		}
	}
	f.env.Ask(dialog.NewFilter("Show files with", "words in the name; !word excludes one", f.order.Filter, func(text string) tea.Cmd {
		f.order.Filter = text
		return f.applyOrder()
	}).SuggestWords(names))
	return nil
}

// changeOrder returns an action that calls change to change the filter or the sort order.
func (f *folder) changeOrder(change func(*entries.Order)) func() tea.Cmd {
	return func() tea.Cmd {
		change(&f.order)
		return f.applyOrder()
	}
}

// applyOrder updates the rows after the filter or the order has changed.
func (f *folder) applyOrder() tea.Cmd {
	rows := f.list.Rows()
	if rows == nil || rows.Order == f.order {
		return nil
	}
	var match tea.Cmd
	if rows.Order.Filter != f.order.Filter {
		match = f.matchOnEngine()
	}
	return tea.Batch(match, f.arrangeRows())
}

// arrangeRows sorts and filters the entries held. If there are many, it does so in the background.
func (f *folder) arrangeRows() tea.Cmd {
	set, _ := f.rowSource()
	if set.Len() <= maxQuickRows {
		f.setRows(set.Arrange(f.order))
		return nil
	}
	order := f.order
	return func() tea.Msg {
		rows := set.Arrange(order)
		return panes.Result(func() tea.Cmd {
			// Drop the rows if the entries or the order have changed meanwhile.
			if now, _ := f.rowSource(); set == now && order == f.order {
				f.setRows(rows)
			}
			return nil
		})
	}
}

// matchOnEngine asks the engine for the names that match the filter, if not all entries are held.
func (f *folder) matchOnEngine() tea.Cmd {
	if f.cancelMatch != nil {
		f.cancelMatch()
		f.cancelMatch = nil
	}
	if f.order.Filter == "" || !f.isIncomplete() || f.visit == nil {
		f.match = nil
		return nil
	}
	ctx, cancel := context.WithCancel(f.visit.ctx)
	f.cancelMatch = cancel
	path, order := f.path, f.order
	var rows *entries.Rows
	return panes.Call(ctx, f.env, func(ctx context.Context, e panes.Engine) (*fileMatch, error) {
		_ = sleep.For(ctx, matchDelay)
		match := &fileMatch{filter: order.Filter}
		var err error
		match.entries, match.omitted, err = listEntries(ctx, e, path, order.Filter, nil, maxEntries)
		// Sorted here, because this runs in the background.
		rows = match.entries.Arrange(order)
		return match, err
	}, func(match *fileMatch, err error) tea.Cmd {
		if ctx.Err() != nil || order.Filter != f.order.Filter {
			return nil
		}
		f.cancelMatch = nil
		if err != nil { // keep the held entries
			return f.env.Say(panes.ErrorText(err), true)
		}
		// The order may have changed during the search.
		if f.match = match; rows.Order != f.order {
			return f.arrangeRows()
		}
		f.setRows(rows)
		return nil
	})
}

// headingDetail returns the git branch and, unless the list is sorted by name, the sort order.
func (f *folder) headingDetail() string {
	var parts []string
	if f.branch != "" {
		parts = append(parts, "on "+text.Clean(f.branch))
	}
	if f.order.By != entries.ByName || f.order.Reversed {
		by := "by " + f.order.By.String()
		if f.order.Reversed {
			by += ", reversed"
		}
		arrow := f.env.Look().Glyphs.Ascending
		if f.order.Descending() {
			arrow = f.env.Look().Glyphs.Descending
		}
		parts = append(parts, by+" "+arrow)
	}
	return strings.Join(parts, "  ")
}

// listSign returns the position of the cursor and the filter, for the heading of the list.
func (f *folder) listSign() list.ListSign {
	rows := f.list.Rows()
	if rows == nil || rows.Len() == 0 && f.order.Filter == "" {
		return list.ListSign{}
	}
	s := list.ListSign{Filter: f.order.Filter, Shown: rows.Len(), All: f.all.Len() + f.omitted}
	if s.Filter == "" && f.omitted == 0 { // hidden files do not count
		s.All = rows.Len()
	}
	if rows.Len() > 0 {
		s.At = f.list.Cursor() + 1
	}
	return s
}
