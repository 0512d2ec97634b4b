package ui

import (
	"cmp"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"tandem/panes/widget"
	"tandem/themes"
	"tandem/ui/overlay"
)

// themeKept is the outcome of making a theme the person's for good.
type themeKept struct {
	name, path string
	err        error
}

// show lets the person choose a theme. Each is seen while it is under the
// cursor.
func (t *theming) show() tea.Cmd {
	names := t.names()
	before := t.picked
	now := before
	if now == "" {
		now = t.m.o.Theme
	}
	u := &overlay.Picker{Title: "Theme", Wide: 72, Verb: func(widget.Choice) string { return "keep it" }}
	if look := t.look; !t.told { // it stays readable, whatever is tried
		u.Look = &look
	}
	var choices []widget.Choice
	for i, name := range names {
		choices = append(choices, widget.Choice{Text: name, Number: i, Detail: t.detail(name),
			Sign: t.look.Glyphs.Running, SignInk: t.ink(name)})
	}
	u.List.Set(choices)
	u.List.Select(max(slices.Index(names, now), 0))
	u.Moved = func() {
		if c, ok := u.List.Selected(); ok {
			t.try(names[c.Number])
		}
	}
	u.Cancel = func() { t.try(before) }
	u.Pick = func(c widget.Choice) tea.Cmd { return t.keep(names[c.Number]) }
	t.m.dialog.open = u
	return nil
}

// names are all themes, those for the terminal's background first.
func (t *theming) names() []string {
	names := themes.Names()
	slices.SortStableFunc(names, func(a, b string) int { return t.rank(a) - t.rank(b) })
	return append([]string{"auto"}, names...)
}

func (t *theming) rank(name string) int {
	if theme, err := themes.ByName(name, t.dark); err == nil && theme.Dark == t.dark {
		return 0
	}
	return 1
}

// ink is a theme's own colour.
func (t *theming) ink(name string) widget.Ink {
	theme, err := themes.ByName(name, t.dark)
	if err != nil {
		theme, _ = themes.ByName(cmp.Or(Settings{ThemeDark: t.m.o.ThemeDark, ThemeLight: t.m.o.ThemeLight}.ThemeFor(t.dark), "dark"), t.dark)
	}
	return widget.InkOf(theme.Styles(t.profile).Accent)
}

// detail says what a theme is for.
func (t *theming) detail(name string) string {
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
		return "made for dark terminals" + t.paints()
	}
	return "made for light terminals" + t.paints()
}

// paints says that a theme for the other kind of background brings its own, where the
// terminal has told which it has.
func (t *theming) paints() string {
	if t.told && t.profile > colorprofile.ANSI {
		return ", paints its own background"
	}
	return ""
}

// try takes a theme for this run; "" is that of the settings.
func (t *theming) try(name string) {
	if t.picked != name {
		t.picked = name
		t.apply()
	}
}

// keep makes a theme the person's.
func (t *theming) keep(name string) tea.Cmd {
	t.try(name)
	keep := t.m.o.KeepTheme
	if keep == nil {
		return t.m.notices.say(fmt.Sprintf("for this run; theme = %q in config.toml keeps it", name), false)
	}
	if t.m.o.Theme != name {
		t.kept = append(t.kept, name)
	}
	return func() tea.Msg {
		path, err := keep(name)
		return themeKept{name, path, err}
	}
}

func (t *theming) wasKept(msg themeKept) tea.Cmd {
	if msg.err != nil {
		t.kept = slices.DeleteFunc(t.kept, func(name string) bool { return name == msg.name })
		return t.m.notices.say(fmt.Sprintf("for this run only: %v", msg.err), true)
	}
	return t.m.notices.say(fmt.Sprintf("theme = %q is in %s now", msg.name, widget.ShortPath(msg.path, t.m.o.Home)), false)
}
