package files

import (
	"context"
	"regexp"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/base/sleep"
	"tandem/panes"
	"tandem/panes/files/entries"
	"tandem/panes/preview"
)

// previewDelay is how long the cursor must rest before a file is read.
const previewDelay = 25 * time.Millisecond

// A viewer shows the file under the cursor and searches it.
type viewer struct {
	env     panes.Env
	preview preview.Preview
	line    int64          // line to show in the next file, found by a search; 0 for none
	mark    *regexp.Regexp // matches to mark in the next file
	endPath string         // path of a file to show from its end; "" for none
	search  fileSearch
	reading panes.LatestCall
}

// showFile switches to a file.
func (v *viewer) showFile(path string, file *api.FileInfo) {
	v.preview.Colors = v.env.Colors()
	v.preview.Show(path, *file)
	if v.line > 0 {
		v.preview.GoLine(v.line)
		v.preview.Mark(v.mark)
		v.line, v.mark = 0, nil
	}
}

// fetch reads the visible part of the file for a preview of w by h cells.
func (v *viewer) fetch(w, h int) tea.Cmd {
	if v.search.path != v.preview.Path() {
		v.endSearch()
	}
	v.preview.Resize(w, h)
	r, ok := v.preview.Next()
	if !ok {
		return nil
	}
	ctx := v.reading.Begin(v.env.Context())
	return panes.Call(ctx, v.env, func(ctx context.Context, e panes.Engine) (preview.Part, error) {
		if r.Slow() {
			_ = sleep.For(ctx, previewDelay)
		}
		return preview.Load(ctx, fileSource{e}, r), nil
	}, func(part preview.Part, err error) tea.Cmd {
		if ctx.Err() == nil && err == nil {
			v.preview.Take(part)
			if v.endPath != "" && v.endPath == v.preview.Path() {
				v.endPath = ""
				v.preview.End()
			}
		}
		return nil
	})
}

// A fileSource reads files from the engine for a preview.
type fileSource struct{ engine panes.FileReader }

func (s fileSource) ReadAt(ctx context.Context, path string, off, n int64) ([]byte, int64, error) {
	out, err := s.engine.ReadFile(ctx, path, off, n)
	return readBytes(out), out.Size, err
}

// readBytes returns the bytes of a file from the engine's answer. They are in Text if they are
// valid UTF-8, and otherwise in Data.
func readBytes(out api.FilesReadOutput) []byte {
	if out.Data != nil {
		return out.Data
	}
	return []byte(out.Text)
}

func (s fileSource) List(ctx context.Context, path string, limit int) ([]api.FileInfo, int, error) {
	out, err := s.engine.ListFiles(ctx, path, "", limit)
	rows := entries.Arrange(out.Entries, entries.Order{Hidden: true})
	all := make([]api.FileInfo, rows.Len())
	for i := range all {
		all[i] = *rows.At(i)
	}
	return all, out.Omitted, err
}
