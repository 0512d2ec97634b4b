package ui

import (
	"cmp"
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes/widget"
)

// Settings are what the person may change while the dashboard is open.
type Settings struct {
	Bindings     keymap.Bindings // default: the catalogue's
	PrefixChosen bool            // the prefix key is one that the person has chosen
	Theme        string          // "", "auto" or the name of a theme
	// What "auto" is on a dark and on a light background; "" is the default one.
	ThemeDark, ThemeLight string
	Background            bool     // the theme's own is painted
	NoMouse               bool     // the mouse is left to the terminal
	NoClipboard           bool     // programs do not reach the clipboard
	FileIcons             bool     // files have icons, which the terminal's font has to have
	OpenWith              []string // command lines that files can be opened with
	NoTabs                bool     // the tabs have no bar above the panes
	// Pictures is how pictures are shown: "kitty", "sixel", "blocks" or "off"; ""
	// and "auto" are as well as the terminal can.
	Pictures string
	// Predict is when what is typed into a session is shown before its program has shown
	// it: "always", "off", or "" and "auto" for a machine whose answers take long.
	Predict   string
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
	next := Settings(msg)
	if next.Fault != "" {
		m.o.Fault = next.Fault
		return m.notices.say(widget.Clean(next.Fault)+"; what held before still does", true)
	}
	if len(next.Bindings.PrefixKeys()) == 0 {
		next.Bindings = keymap.DefaultBindings()
	}
	worn := m.theme.takeSetting(next.Theme)
	m.input.rebind(next.Bindings)
	m.o.Settings = next
	m.theme.apply()
	m.relayout()
	if worn {
		return nil
	}
	return m.notices.say("config reloaded", false)
}

// rebind lets other keys count. A prefix that was pressed goes on waiting: what is
// typed after it is for the dashboard and not for a program.
func (in *input) rebind(b keymap.Bindings) {
	pending := in.resolver.Pending()
	in.resolver = keymap.NewResolver(b)
	if pending {
		in.resolver.Resolve(b.PrefixKeys()[0], keymap.ScopeGlobal)
	}
}

// takeSetting lets the theme of new settings count, and reports whether it was
// written by a choice here: then it is worn already, or one that was chosen since.
func (t *theming) takeSetting(name string) (worn bool) {
	if at := slices.Index(t.kept, name); at >= 0 {
		t.kept = t.kept[at+1:]
		if t.picked == name {
			t.picked = ""
		}
		return true
	}
	t.picked = ""
	return false
}

// faultNote reports a mistake in config.toml, or in policy.toml, for as long as it lasts.
func (m *model) faultNote() string {
	return widget.Clean(cmp.Or(m.o.Fault, m.news.Policy))
}
