package ui

import (
	"context"
	"io"
	"math"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// askSaveScrollback asks where to save all that the terminal has kept.
func (m *model) askSaveScrollback() tea.Cmd {
	p := m.scrolled()
	if p == nil {
		return nil
	}
	name := p.ID
	if process, ok := m.process(p.ID); ok {
		name = process.Name
	}
	m.overlay = overlay.NewPrompt("Save the scrollback of "+widget.Clean(name)+" to", filepath.Join(m.cwd(p), widget.AsFileName(name)+".txt"),
		func(path string) tea.Cmd {
			if path == "" {
				return nil
			}
			return m.save(panes.Saving{What: "scrollback", Path: widget.ExpandHome(path, m.list.Home), Write: func(ctx context.Context, e panes.Engine, to io.Writer) (int64, error) {
				return writeScrollback(ctx, e, p.ID, to)
			}}, false)
		})
	return nil
}

func writeScrollback(ctx context.Context, e panes.Engine, id string, to io.Writer) (written int64, err error) {
	in := api.SessionTextInput{ID: id, To: api.Place{Line: math.MaxInt64}}
	for {
		out, err := e.Text(ctx, in)
		if err != nil {
			return written, err
		}
		text := out.Text
		if out.Next == nil {
			text = strings.TrimRight(text, "\n") + "\n"
		}
		n, err := io.WriteString(to, text)
		written += int64(n)
		if err != nil {
			return written, err
		}
		if out.Next == nil {
			return written, nil
		}
		in.From = *out.Next
	}
}
