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
	Same   keymap.Action // does the same where there is no prefix; "" for none
	Does   [3]string
}

// Tips are what newcomers are told, what they need most first.
func Tips() []Tip {
	return []Tip{
		{keymap.SplitBeside, "", [3]string{"split in two", "split", "split"}},
		{keymap.SessionNew, "", [3]string{"another session", "new session", "new"}},
		{keymap.Palette, "", [3]string{"find anything", "find anything", "find"}},
		{keymap.HistoryInsert, "", [3]string{"find a command you ran", "find a command", "history"}},
		{keymap.ScrollMode, "", [3]string{"scroll back, search and copy", "scroll and copy", "scroll"}},
		{keymap.PaneFloat, "", [3]string{"floating pane", "floating pane", "float"}},
		{keymap.Detach, keymap.Quit, [3]string{"detach: everything keeps running", "detach", "detach"}},
		{keymap.Help, "", [3]string{"all keys", "all keys", "keys"}},
	}
}

// InHint reports whether a hint tells what the tip does.
func (t Tip) InHint(h widget.Hint) bool {
	return h.Action != "" && (h.Action == string(t.Action) || h.Action == string(t.Same))
}

// shownTips is how many are told at a time.
const shownTips = 4

// DrawTips is the line for newcomers, w cells wide: a few keys that the status bar does
// not show, and how to be rid of it.
func DrawTips(b keymap.Bindings, inBar []widget.Hint, w int, look *widget.Look) string {
	prefix := b.PrefixKeys()[0].Show()
	told := slices.DeleteFunc(Tips(), func(t Tip) bool {
		return slices.ContainsFunc(inBar, t.InHint)
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
