package panestest

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/look"
)

// DriveDialogs shows the dialogs that env is asked to open, over an empty pane.
func DriveDialogs(t *testing.T, env *Env, w, h int) *Driver {
	t.Helper()
	return Drive(t, env, &blankPane{}, w, h)
}

// A blankPane is a pane without content.
type blankPane struct {
	panes.NoInput
	w, h int
}

func (p *blankPane) HandleNews(*panes.News)   {}
func (p *blankPane) Fetch() tea.Cmd           { return nil }
func (p *blankPane) Actions() panes.Actions   { return nil }
func (p *blankPane) Mouse(keys.Mouse) tea.Cmd { return nil }
func (p *blankPane) Scopes() []keymap.Scope   { return nil }
func (p *blankPane) Note() (string, look.Ink) { return "", "" }
func (p *blankPane) Resize(w, h int)          { p.w, p.h = w, h }
func (p *blankPane) Draw() []string           { return slices.Repeat([]string{strings.Repeat(" ", p.w)}, p.h) }
func (p *blankPane) Show()                    {}
func (p *blankPane) Hide()                    {}
