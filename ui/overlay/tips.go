package overlay

import (
	"slices"
	"strings"

	"tandem/keys/keymap"
	"tandem/panes/widget"
)

// A Tip is a key after the prefix, in words for screens of several widths.
type Tip struct {
	Action keymap.Action
	Label  string // what the status bar calls it; "" if it never does
	Does   [3]string
}

// Tips are what newcomers are told, what they need most first.
func Tips() []Tip {
	return []Tip{
		{keymap.SplitBeside, "split", [3]string{"split in two", "split", "split"}},
		{keymap.SessionNew, "new", [3]string{"another session", "new session", "new"}},
		{keymap.Palette, "palette", [3]string{"find anything", "find anything", "find"}},
		{keymap.HistoryInsert, "history", [3]string{"find a command you ran", "find a command", "history"}},
		{keymap.ScrollMode, "scroll", [3]string{"scroll back, search and copy", "scroll and copy", "scroll"}},
		{keymap.PaneFloat, "", [3]string{"floating pane", "floating pane", "float"}},
		{keymap.Detach, "detach", [3]string{"detach: everything keeps running", "detach", "detach"}},
		{keymap.Help, "keys", [3]string{"all keys", "all keys", "keys"}},
	}
}

// shownTips is how many are told at a time.
const shownTips = 4

// DrawTips is the line for newcomers, w cells wide: a few keys that the status bar does
// not show, and how to be rid of it.
func DrawTips(b keymap.Bindings, inBar []widget.Hint, w int, look *widget.Look) string {
	prefix := b.PrefixKeys()[0].Show()
	told := slices.DeleteFunc(Tips(), func(t Tip) bool {
		return slices.ContainsFunc(inBar, func(h widget.Hint) bool { return h.Does == t.Label })
	})
	told = append(told[:min(len(told), shownTips)], Tip{keymap.TipsHide, "", [3]string{"hides this", "hides this", "hide"}})
	welcome := " New here? Press " + prefix + ", then  "
	room := w - widget.Width(welcome)
	var line string
	var used int
	for width := range 3 {
		var hints []widget.Hint
		for _, t := range told {
			key := strings.TrimPrefix(keyOf(b, keymap.ScopePrefix, t.Action), prefix+" ")
			hints = append(hints, widget.Hint{Key: key, Does: t.Does[width]})
		}
		line, used = widget.Hints(hints, room, 1, look.Key, look.Text)
		if _, all := widget.Hints(hints, 1<<16, 0, "", ""); used == all {
			break
		}
	}
	return look.Accent.Text(welcome) + line + widget.Spaces(room-used)
}
