package terminal

import (
	"context"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/panestest"
)

// A statEngine has one file, whatever the path.
type statEngine struct {
	*panestest.Engine
	info  api.FileInfo
	asked string // path asked for last
}

func (e *statEngine) StatFile(_ context.Context, path string) (api.FileInfo, error) {
	e.asked = path
	return e.info, nil
}

func TestOpenStartsAnEditorOrAShell(t *testing.T) {
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "vi")
	for _, tt := range []struct{ name, id, row, kind, path, started string }{
		{"a file", "1", "main.go:3", "file", "/home/ann/src/main.go", "vi +3 /home/ann/src/main.go"},
		{"a folder", "1", "/srv/www", "dir", "/srv/www", "shell in /srv/www"},
		{"below the home folder", "1", "~/x.go", "file", "/home/ann/x.go", "vi /home/ann/x.go"},
		{"on another machine", "box/1", "/srv/x.go", "file", "/box:/srv/x.go", "vi /srv/x.go"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := scrollPane(20, 2, cellAt(0, 1), tt.row)
			engine := &statEngine{Engine: panestest.NewEngine(), info: api.FileInfo{Type: tt.kind}}
			env, started := &panestest.Env{API: engine}, ""
			o := opener{env: env, scroll: &p.Scroll, id: func() string { return tt.id }, folder: func() string { return "/home/ann/src" }}
			o.start = func(command []string, folder string) tea.Cmd {
				if started = strings.Join(command, " "); command == nil {
					started = "shell in " + folder
				}
				return nil
			}
			o.openTarget()().(panes.Result)()
			if engine.asked != tt.path || started != tt.started || p.Scroll.Active() {
				t.Errorf("asked for %q, started %q, scrolling %v", engine.asked, started, p.Scroll.Active())
			}
		})
	}
}
