package ui

import (
	"cmp"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/panes/widget"
	"tandem/themes"
	"tandem/ui/overlay"
)

// themeKept is the outcome of making a theme the person's for good.
type themeKept struct {
	name, path string
	err        error
}

// showThemes lets the person choose a theme. Each is seen while it is under the
// cursor.
func (m *model) showThemes() tea.Cmd {
	names := m.themeNames()
	look := m.look // it stays readable, whatever is tried
	before := m.themePicked
	now := before
	if now == "" {
		now = m.o.Theme
	}
	u := &overlay.Picker{Title: "Theme", Wide: 72, Look: &look, Verb: func(widget.Choice) string { return "keep it" }}
	var choices []widget.Choice
	for i, name := range names {
		choices = append(choices, widget.Choice{Text: name, Number: i, Detail: m.themeDetail(name),
			Sign: m.look.Glyphs.Running, SignInk: m.themeInk(name)})
	}
	u.List.Set(choices)
	u.List.Select(max(slices.Index(names, now), 0))
	u.Moved = func() {
		if c, ok := u.List.Selected(); ok {
			m.wear(names[c.Number])
		}
	}
	u.Cancel = func() { m.wear(before) }
	u.Pick = func(c widget.Choice) tea.Cmd { return m.keepTheme(names[c.Number]) }
	m.overlay = u
	m.dirty = true
	return nil
}

// themeNames are all themes, those for the terminal's background first.
func (m *model) themeNames() []string {
	names := themes.Names()
	slices.SortStableFunc(names, func(a, b string) int { return m.themeRank(a) - m.themeRank(b) })
	return append([]string{"auto"}, names...)
}

func (m *model) themeRank(name string) int {
	if theme, err := themes.ByName(name, m.dark); err == nil && theme.Dark == m.dark {
		return 0
	}
	return 1
}

// themeInk is a theme's own colour.
func (m *model) themeInk(name string) widget.Ink {
	theme, err := themes.ByName(name, m.dark)
	if err != nil {
		theme, _ = themes.ByName(cmp.Or(Settings{ThemeDark: m.o.ThemeDark, ThemeLight: m.o.ThemeLight}.themeFor(m.dark), "dark"), m.dark)
	}
	return widget.InkOf(theme.Styles(m.profile).Accent)
}

// themeDetail says what a theme is for.
func (m *model) themeDetail(name string) string {
	if name == "auto" {
		return "follows the terminal"
	}
	theme, err := themes.ByName(name, m.dark)
	switch {
	case err != nil:
		return ""
	case theme.Own:
		return "its own colours"
	case theme.Dark == m.dark:
		return ""
	case theme.Dark:
		return "made for dark terminals" + m.readability()
	}
	return "made for light terminals" + m.readability()
}

// readability warns of a theme for the other kind of background, where the
// terminal has told which it has: the ground is the terminal's own.
func (m *model) readability() string {
	if m.groundTold {
		return ", hard to read on this one"
	}
	return ""
}

// wear takes a theme for this run; "" is that of the settings.
func (m *model) wear(name string) {
	if m.themePicked != name {
		m.themePicked = name
		m.dress()
	}
}

// keepTheme makes a theme the person's.
func (m *model) keepTheme(name string) tea.Cmd {
	m.wear(name)
	keep := m.o.KeepTheme
	if keep == nil {
		return m.say(fmt.Sprintf("for this run; theme = %q in config.toml keeps it", name), false)
	}
	if m.o.Theme != name {
		m.themesKept = append(m.themesKept, name)
	}
	return func() tea.Msg {
		path, err := keep(name)
		return themeKept{name, path, err}
	}
}

func (m *model) keptTheme(msg themeKept) tea.Cmd {
	if msg.err != nil {
		m.themesKept = slices.DeleteFunc(m.themesKept, func(name string) bool { return name == msg.name })
		return m.say(fmt.Sprintf("for this run only: %v", msg.err), true)
	}
	return m.say(fmt.Sprintf("theme = %q is in %s now", msg.name, widget.ShortPath(msg.path, m.home)), false)
}
