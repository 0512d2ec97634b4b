package ui

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/list"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/themes"
)

// showPicker lets the user choose a theme, and previews the selected one.
func (t *themeState) showPicker() tea.Cmd {
	names := t.themeNames()
	before := t.picked
	now := before
	if now == "" {
		now = t.o.Theme
	}
	u := &dialog.Picker{Title: "Theme", Wide: 72, Verb: func(list.Choice) string { return "keep it" }}
	// Until the background is known, the picker keeps its look, to stay readable with any
	// theme.
	if look := t.look; !t.reported {
		u.Look = &look
	}
	var choices []list.Choice
	for i, name := range names {
		choices = append(choices, list.Choice{Text: name, Number: i, Detail: t.describeTheme(name),
			Sign: t.look.Glyphs.Running, SignInk: t.accentOf(name)})
	}
	u.List.Set(choices)
	u.List.Select(max(slices.Index(names, now), 0))
	u.Moved = func() {
		if c, ok := u.List.Selected(); ok {
			t.tryTheme(names[c.Number])
		}
	}
	u.Cancel = func() { t.tryTheme(before) }
	u.Pick = func(c list.Choice) tea.Cmd { return t.keepTheme(names[c.Number]) }
	t.ask(u)
	return nil
}

// themeNames lists all themes, those for the terminal's background first.
func (t *themeState) themeNames() []string {
	names := themes.Names()
	slices.SortStableFunc(names, func(a, b string) int { return t.rankTheme(a) - t.rankTheme(b) })
	return append([]string{"auto"}, names...)
}

func (t *themeState) rankTheme(name string) int {
	if theme, err := themes.ByName(name, t.dark); err == nil && theme.Dark == t.dark {
		return 0
	}
	return 1
}

// accentOf returns a theme's accent colour.
func (t *themeState) accentOf(name string) look.Ink {
	theme, err := themes.ByName(name, t.dark)
	if err != nil {
		auto := t.o.Dashboard
		auto.Theme = "auto"
		theme, _ = themes.ByName(auto.ThemeFor(t.dark), t.dark)
	}
	return look.InkOf(theme.Styles(t.profile).Accent)
}

// describeTheme returns the note beside a theme's name.
func (t *themeState) describeTheme(name string) string {
	if name == "auto" {
		return "follows the terminal"
	}
	theme, err := themes.ByName(name, t.dark)
	switch {
	case err != nil:
		return ""
	case theme.Own:
		return "its own colours"
	case theme.Dark == t.dark:
		return ""
	case theme.Dark:
		return "made for dark terminals" + t.paintNote()
	}
	return "made for light terminals" + t.paintNote()
}

// paintNote says that a theme paints its own background, if the terminal's background is
// known to differ.
func (t *themeState) paintNote() string {
	if t.reported && t.profile > colorprofile.ANSI {
		return ", paints its own background"
	}
	return ""
}

// tryTheme uses the named theme for this run. An empty name returns to the theme of the settings.
func (t *themeState) tryTheme(name string) {
	if t.picked != name {
		t.picked = name
		t.rebuildLook()
	}
}

// keepTheme saves a theme in the configuration.
func (t *themeState) keepTheme(name string) tea.Cmd {
	t.tryTheme(name)
	keep := t.o.KeepTheme
	if keep == nil {
		return t.say(fmt.Sprintf("for this run only; to keep it, set theme = %q in config.toml", name), false)
	}
	if t.o.Theme != name {
		t.saving = append(t.saving, name)
	}
	return func() tea.Msg {
		path, err := keep(name)
		return panes.Result(func() tea.Cmd { return t.reportSaved(name, path, err) })
	}
}

func (t *themeState) reportSaved(name, path string, err error) tea.Cmd {
	if err != nil {
		t.saving = slices.DeleteFunc(t.saving, func(other string) bool { return other == name })
		return t.say(fmt.Sprintf("for this run only: %v", err), true)
	}
	return t.say("saved theme "+name+" to "+text.ShortPath(path, t.o.Home), false)
}
