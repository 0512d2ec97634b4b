package ui

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
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
	m.overlay = newPrompt("Save the scrollback of "+panes.Clean(name)+" to", filepath.Join(m.cwd(p), fileName(name)+".txt"),
		func(m *model, path string) tea.Cmd {
			if path == "" {
				return nil
			}
			path = expandHome(path, m.list.Home)
			return m.call(func(ctx context.Context, e engine) tea.Msg {
				n, err := saveScrollback(ctx, e, p.ID, path)
				return savedMsg{path, n, err}
			}, func(err error) tea.Msg { return doneMsg{err} })
		})
	return nil
}

// fileName is a name without what file names cannot have.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r < ' ' {
			return '_'
		}
		return r
	}, name)
}

// saveScrollback writes a session's text to a new file. What fails in the
// middle leaves no file.
func saveScrollback(ctx context.Context, e engine, id, path string) (written int64, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return 0, api.Errorf(api.CodeConflict, "save scrollback: %s is there already", path).WithHint("give another name")
	}
	if err != nil {
		return 0, api.Errorf(api.CodeInvalid, "save scrollback: %v", err)
	}
	written, err = writeScrollback(ctx, e, id, f)
	if closeErr := f.Close(); err == nil && closeErr != nil {
		err = api.Errorf(api.CodeUnavailable, "save scrollback: %v", closeErr)
	}
	if err != nil {
		os.Remove(path)
	}
	return written, err
}

func writeScrollback(ctx context.Context, e engine, id string, to *os.File) (written int64, err error) {
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
		n, err := to.WriteString(text)
		written += int64(n)
		if err != nil {
			return written, api.Errorf(api.CodeUnavailable, "save scrollback: %v", err)
		}
		if out.Next == nil {
			return written, nil
		}
		in.From = *out.Next
	}
}
