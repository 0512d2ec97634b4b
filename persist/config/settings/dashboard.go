package settings

import "tandem/themes"

// Dashboard has the settings of the dashboard. `tandem attach` and the page in a browser also use
// some of them.
type Dashboard struct {
	Theme      string   `toml:"theme"`       // "auto" or the name of a theme
	ThemeDark  string   `toml:"theme_dark"`  // theme for "auto" on a dark background
	ThemeLight string   `toml:"theme_light"` // theme for "auto" on a light background
	Background bool     `toml:"background"`  // paint the theme's own background
	Mouse      bool     `toml:"mouse"`       // handle the mouse in the dashboard
	Clipboard  bool     `toml:"clipboard"`   // programs may write to the clipboard
	Pictures   string   `toml:"pictures"`    // "auto", "kitty", "sixel", "blocks" or "off"
	Icons      bool     `toml:"icons"`       // show file icons; the terminal's font must have them
	OpenWith   []string `toml:"open_with"`   // command lines that can open files
	Tabs       bool     `toml:"tabs"`        // show a tab bar above the panes
	Tips       bool     `toml:"tips"`        // show tips to newcomers
	Restore    string   `toml:"restore"`     // "offer", "yes" or "no"

	Attach    Attach    `toml:"attach"`
	Attention Attention `toml:"attention"`
}

// Attach is the table [attach], about sessions of other machines.
type Attach struct {
	Predict string `toml:"predict"` // "auto", "always" or "off"
}

func dashboardDefaults() Dashboard {
	return Dashboard{
		Theme: "auto", ThemeDark: "dark", ThemeLight: "light",
		Mouse: true, Clipboard: true, Pictures: "auto", Tabs: true, Tips: true, Restore: "offer",
		Attach:    Attach{Predict: "auto"},
		Attention: attentionDefaults(),
	}
}

func dashboardRows() []Setting {
	return []Setting{
		{Key: "theme", Want: "a name in quotes", Doc: "The colours. auto follows your terminal's background. A theme for the other kind of background\npaints its own background. One of\n" + wrapNames(themes.Names())},
		{Key: "theme_dark", Want: "a name in quotes", Doc: "What auto uses on a dark background."},
		{Key: "theme_light", Want: "a name in quotes", Doc: "What auto uses on a light background."},
		{Key: "background", Want: "true or false", Doc: "Paint the theme's own background and colours everywhere, behind sessions too, on terminals with at least 256 colours."},
		{Key: "mouse", Want: "true or false", Doc: "The dashboard handles the mouse; with false, your terminal does."},
		{Key: "clipboard", Want: "true or false", Doc: "The program in the focused pane, or attached to the whole terminal, may copy to your clipboard (OSC 52)."},
		{Key: "pictures", Want: "a name in quotes", Doc: "How to show pictures in the files view and those printed by programs: auto (ask the terminal), kitty, sixel, blocks (half-block characters) or off."},
		{Key: "icons", Want: "true or false", Doc: "Show icons before file names. Your terminal needs a Nerd Font."},
		{Key: "open_with", Want: "a list of commands in quotes", Example: `["mpv --fs", "gimp {} &"]`, None: "the editor, the pager and the desktop's program", Doc: "Commands to choose from with E in the files view; {} stands for the files, which are otherwise appended."},
		{Key: "tabs", Want: "true or false", Doc: "Show the tabs of the sessions above the panes when there is more than one."},
		{Key: "tips", Want: "true or false", Doc: "Show four useful keys in a separate line the first three times you start the dashboard."},
		{Key: "restore", Want: "a name in quotes", Doc: "What to do with sessions that a reboot or crash ended: offer (show their last screens and a key that\nstarts a shell there), yes (start the shells at once) or no. The last command is typed, but not run."},
	}
}

func attachRows() []Setting {
	return []Setting{
		{Key: "attach.predict", Want: "a name in quotes", Doc: "Show what you type, underlined, before a session of another machine has echoed it: auto (when the\nround trip takes more than 40 ms), always or off."},
	}
}

func (d Dashboard) check(report Report) {
	report.unknown("theme", d.Theme, append([]string{"auto"}, themes.Names()...)...)
	report.unknown("theme_dark", d.ThemeDark, themes.Names()...)
	report.unknown("theme_light", d.ThemeLight, themes.Names()...)
	report.unknown("pictures", d.Pictures, "auto", "kitty", "sixel", "blocks", "off")
	report.unknown("restore", d.Restore, "offer", "yes", "no")
	report.unknown("attach.predict", d.Attach.Predict, "auto", "always", "off")
	d.Attention.check(report)
}

// ThemeFor returns the name of the theme for a dark or a light background.
func (d Dashboard) ThemeFor(dark bool) string {
	switch {
	case d.Theme != "auto":
		return d.Theme
	case dark:
		return d.ThemeDark
	}
	return d.ThemeLight
}
