package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes/widget"
)

// Settings are what the person may change while the dashboard is open.
type Settings struct {
	Bindings keymap.Bindings // default: the catalogue's
	Theme    string          // "", "auto" or the name of a theme
	// What "auto" is on a dark and on a light background; "" is the default one.
	ThemeDark, ThemeLight string
	NoMouse               bool // the mouse is left to the terminal
	NoClipboard           bool // programs do not reach the clipboard
	FileIcons             bool // files have icons, which the terminal's font has to have
	// Pictures is how pictures are shown: "kitty", "sixel", "blocks" or "off"; ""
	// and "auto" are as well as the terminal can.
	Pictures  string
	Attention Attention

	// Fault is why the settings cannot be read, on one line. Nothing else of them
	// counts then, but at first.
	Fault string
}

// settingsMsg is a change of the settings.
type settingsMsg Settings

// takeSettings lets new settings hold at once. Ones that cannot be read change
// nothing, and the status bar says so until they can.
func (m *model) takeSettings(msg settingsMsg) tea.Cmd {
	m.dirty = true
	next := Settings(msg)
	if next.Fault != "" {
		m.o.Fault = next.Fault
		return m.say(widget.Clean(next.Fault)+"; what held before still does", true)
	}
	if len(next.Bindings.PrefixKeys()) == 0 {
		next.Bindings = keymap.DefaultBindings()
	}
	worn := m.takeTheme(next.Theme)
	m.rebind(next.Bindings)
	m.o.Settings = next
	m.dress()
	if worn {
		return nil
	}
	return m.say("config reloaded", false)
}

// rebind lets other keys count. A prefix that was pressed goes on waiting: what is
// typed after it is for the dashboard and not for a program.
func (m *model) rebind(b keymap.Bindings) {
	pending := m.resolver.Pending()
	m.resolver = keymap.NewResolver(b)
	if pending {
		m.resolver.Resolve(b.PrefixKeys()[0], keymap.ScopeGlobal)
	}
}

// takeTheme lets the theme of new settings count, and reports whether it was
// written by a choice here: then it is worn already, or one that was chosen since.
func (m *model) takeTheme(name string) (worn bool) {
	if at := slices.Index(m.themesKept, name); at >= 0 {
		m.themesKept = m.themesKept[at+1:]
		if m.themePicked == name {
			m.themePicked = ""
		}
		return true
	}
	m.themePicked = ""
	return false
}

// faultNote is what the status bar says of settings that cannot be read.
func (m *model) faultNote() string {
	if m.o.Fault == "" {
		return ""
	}
	return widget.Clean(m.o.Fault)
}
