package files

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/preview"
)

// Messages of the files view. Each is of the folder with that serial number.
type (
	filesListed struct {
		serial  int
		entries *Set
		rows    *Rows
		omitted int
		partial bool // the rest is on its way
		took    time.Duration
		err     error
	}
	filesArranged struct {
		serial int
		set    *Set
		rows   *Rows
	}
	filesRested  struct{ serial, rest int }
	filesSlow    struct{ serial int }
	filesWatched struct {
		serial int
		out    api.FilesWatchOutput
		err    error
	}
	filesGit struct {
		serial int
		out    api.FilesGitOutput
		took   time.Duration
	}
	gitRested  struct{ serial int }
	filesAbove struct {
		path string
		rows *Rows
	}
	previewed struct{ part preview.Part }
)

// fetchPreview reads what is seen of the file under the cursor.
func (f *Pane) fetchPreview() tea.Cmd {
	if f.parts().preview.W == 0 {
		return nil
	}
	if selected := f.list.Selected(); selected == nil {
		if f.list.Rows() != nil && f.preview.Path() != "" {
			f.preview.Clear()
		}
	} else if path := f.list.SelectedPath(); f.leave != nil {
		f.preview.Colors = f.env.Colors()
		f.preview.Show(path, *selected)
		if f.line > 0 {
			f.preview.GoLine(f.line)
			f.line = 0
		}
	}
	if f.search != nil && f.search.path != f.preview.Path() {
		f.endFileSearch()
	}
	parts := f.parts()
	f.preview.Resize(parts.preview.W, parts.preview.H)
	r, ok := f.preview.Next()
	if !ok {
		return nil
	}
	if f.peek != nil {
		f.peek()
	}
	ctx, cancel := context.WithCancel(f.env.Context())
	f.peek = cancel
	return func() tea.Msg {
		if r.Slow() && !rest(ctx, previewRest) {
			return nil
		}
		e, err := f.env.Engine(ctx)
		if err != nil {
			return nil
		}
		part := preview.Load(ctx, fileSource{e}, r)
		if ctx.Err() != nil {
			return nil
		}
		return previewed{part}
	}
}

// rest waits; it is false when ctx ended before.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// A fileSource reads the engine's files for a preview.
type fileSource struct{ engine panes.Engine }

func (s fileSource) ReadAt(ctx context.Context, path string, off, n int64) ([]byte, int64, error) {
	out, err := s.engine.ReadFile(ctx, path, off, n)
	if out.Data != nil {
		return out.Data, out.Size, err
	}
	return []byte(out.Text), out.Size, err
}

func (s fileSource) List(ctx context.Context, path string, limit int) ([]api.FileInfo, int, error) {
	out, err := s.engine.ListFiles(ctx, path, "", limit)
	return out.Entries, out.Omitted, err
}
