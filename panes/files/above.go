package files

import (
	"context"
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"tandem/panes"
	"tandem/panes/files/entries"
)

// aboveKey identifies a listing of the folder above.
type aboveKey struct {
	path   string
	visit  *visit
	hidden bool
}

// A parentList is the column with the entries of the folder above the current one.
type parentList struct {
	folder *folder
	list   entries.List
	key    aboveKey // what list was read for
}

// fetch lists the folder above, unless it is listed.
func (p *parentList) fetch() tea.Cmd {
	if p.folder.visit == nil { // the tabs of the last start are still being read
		return nil
	}
	path := p.folder.path
	of := aboveKey{path, p.folder.visit, p.folder.order.Hidden}
	if p.key == of {
		return nil
	}
	p.key = of
	up := parentFolder(path)
	if up == path {
		p.list.Reset("", "")
		return nil
	}
	if p.list.Path != up {
		p.list.Reset(up, filepath.Base(path))
	}
	p.list.Plain = true
	p.list.Select(filepath.Base(path))
	return onVisit(p.folder, func(ctx context.Context, e panes.Engine) (*entries.Rows, error) {
		out, err := e.ListFiles(ctx, up, "", firstEntries)
		return entries.Arrange(out.Entries, entries.Order{Hidden: of.hidden}), err
	}, func(rows *entries.Rows, err error) tea.Cmd {
		if err == nil && p.list.Path == up {
			p.list.SetRows(rows)
		}
		return nil
	})
}
