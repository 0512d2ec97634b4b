package terminal

import (
	"context"
	"io"
	"math"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/text"
)

// askSave asks for a file to save the scrollback to.
func (p *Pane) askSave() tea.Cmd {
	name, folder := p.ID, folderOf(p)
	if machine, _ := api.MachineOf(p.ID); machine != "" { // the file is on this machine
		folder = p.env.Folder()
	}
	if process, ok := p.env.News().Process(p.ID); ok {
		name = process.Name
	}
	p.env.Ask(dialog.NewPrompt("Save the scrollback of "+text.Clean(name)+" to", filepath.Join(folder, text.AsFileName(name)+".txt"),
		func(path string) tea.Cmd {
			return panes.FileSave{What: "scrollback", Path: text.ExpandHome(path, p.env.Home()), Write: func(ctx context.Context, e panes.Engine, to io.Writer) (int64, error) {
				return writeScrollback(ctx, e, p.ID, to)
			}}.Save(p.env)
		}))
	return nil
}

func writeScrollback(ctx context.Context, e api.Engine, id string, to io.Writer) (written int64, err error) {
	in := api.SessionTextInput{ID: id, To: api.Place{Line: math.MaxInt64}}
	for {
		out, err := api.SessionText.Call(ctx, e, in)
		if err != nil {
			return written, err
		}
		text := out.Text
		if out.Next == nil {
			// The last part ends with the blank rows of the screen: leave them out.
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
