package files

import (
	"context"
	"regexp"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/sleep"
	"tandem/panes"
	"tandem/panes/preview"
)

// previewRest is how long the cursor rests before a file is read.
const previewRest = 25 * time.Millisecond

// A viewer shows the file under the cursor and searches it.
type viewer struct {
	env     panes.Env
	preview preview.Preview
	line    int64          // of the file that is shown next, where a search found something
	find    *regexp.Regexp // that is marked in it
	end     string         // path of a file to show from its end, once it is read; "" for none
	search  fileSearch
	peek    context.CancelFunc // ends what is read
}

// show turns to a file.
func (v *viewer) show(path string, file *api.FileInfo) {
	v.preview.Colors = v.env.Colors()
	v.preview.Show(path, *file)
	if v.line > 0 {
		v.preview.GoLine(v.line)
		v.preview.Mark(v.find)
		v.line, v.find = 0, nil
	}
}

// fetch reads what is seen of the file in w by h cells.
func (v *viewer) fetch(w, h int) tea.Cmd {
	if v.search.path != v.preview.Path() {
		v.endSearch()
	}
	v.preview.Resize(w, h)
	r, ok := v.preview.Next()
	if !ok {
		return nil
	}
	if v.peek != nil {
		v.peek()
	}
	ctx, cancel := context.WithCancel(v.env.Context())
	v.peek = cancel
	return panes.Ask(ctx, v.env, func(ctx context.Context, e panes.Engine) (preview.Part, error) {
		if r.Slow() {
			_ = sleep.For(ctx, previewRest)
		}
		return preview.Load(ctx, fileSource{e}, r), nil
	}, func(part preview.Part, err error) tea.Cmd {
		if ctx.Err() == nil && err == nil {
			v.preview.Take(part)
			if v.end != "" && v.end == v.preview.Path() {
				v.end = ""
				v.preview.End()
			}
		}
		return nil
	})
}

// A fileSource reads the engine's files for a preview.
type fileSource struct{ engine panes.Engine }

func (s fileSource) ReadAt(ctx context.Context, path string, off, n int64) ([]byte, int64, error) {
	out, err := s.engine.ReadFile(ctx, path, off, n)
	return bytesOf(out), out.Size, err
}

// bytesOf is what was read of a file, which the API carries in one of two ways.
func bytesOf(out api.FilesReadOutput) []byte {
	if out.Data != nil {
		return out.Data
	}
	return []byte(out.Text)
}

func (s fileSource) List(ctx context.Context, path string, limit int) ([]api.FileInfo, int, error) {
	out, err := s.engine.ListFiles(ctx, path, "", limit)
	rows := Arrange(out.Entries, Order{Hidden: true})
	entries := make([]api.FileInfo, rows.Len())
	for i := range entries {
		entries[i] = *rows.At(i)
	}
	return entries, out.Omitted, err
}
