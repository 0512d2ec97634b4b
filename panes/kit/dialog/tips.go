package dialog

import (
	"slices"
	"strings"

	"tandem/keys/keymap"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// A Tip describes a key after the prefix, in three wordings for screens of different widths.
type Tip struct {
	Action keymap.Action
	Same   keymap.Action // equivalent action without the prefix; may be empty
	Does   [3]string
}

// Tips returns the tips for newcomers, the most important first.
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

// InHint reports whether a hint has the same effect as the tip.
func (t Tip) InHint(h keymap.Hint) bool {
	return h.Action != "" && (h.Action == t.Action || h.Action == t.Same)
}

// maxTips is the maximum number of tips shown.
const maxTips = 4

// DrawTips draws the row of tips, w cells wide. It names keys that are not in the status bar, and
// the key that hides the row.
func DrawTips(b keymap.Bindings, inBar []keymap.Hint, w int, style *look.Look) string {
	prefix := b.PrefixKeys()[0].Show()
	shown := slices.DeleteFunc(Tips(), func(t Tip) bool {
		return slices.ContainsFunc(inBar, t.InHint)
	})
	shown = append(shown[:min(len(shown), maxTips)], Tip{keymap.TipsHide, "", [3]string{"hides this", "hides this", "hide"}})
	welcome := " New here? Press " + prefix + ", then  "
	room := w - text.Width(welcome)
	var line string
	var used int
	// The longest wording whose hints all fit is used.
	for width := range 3 {
		var hints []keymap.Hint
		for _, t := range shown {
			key := strings.TrimPrefix(b.KeyOf(t.Action, keymap.ScopePrefix), prefix+" ")
			hints = append(hints, keymap.Hint{Key: key, Does: t.Does[width]})
		}
		line, used = look.Hints(hints, room, 1, style.Key, style.Text)
		if _, all := look.Hints(hints, 1<<16, 0, "", ""); used == all {
			break
		}
	}
	return style.Accent.Text(welcome) + line + text.Spaces(room-used)
}
