package screen

import (
	tea "charm.land/bubbletea/v2"

	"tandem/keys"
)

// Press converts a key for Bubble Tea's components; ok is false for a release.
func Press(k keys.Key) (msg tea.KeyPressMsg, ok bool) {
	return tea.KeyPressMsg{
		Code: pressCode(k.Code), Mod: pressMods(k.Mods), Text: k.Text, ShiftedCode: k.Shifted, BaseCode: k.Base,
		IsRepeat: k.Phase == keys.Repeat,
	}, k.Phase != keys.Release
}

// pressCode converts a key code. The code of a character is the character itself.
func pressCode(c keys.Code) rune {
	switch {
	case c < keys.Up:
		return rune(c)
	case c >= keys.F1 && c <= keys.F24:
		return tea.KeyF1 + rune(c-keys.F1)
	case c >= keys.KP0 && c <= keys.KP9:
		return tea.KeyKp0 + rune(c-keys.KP0)
	}
	return map[keys.Code]rune{
		keys.Up: tea.KeyUp, keys.Down: tea.KeyDown, keys.Right: tea.KeyRight, keys.Left: tea.KeyLeft,
		keys.Home: tea.KeyHome, keys.End: tea.KeyEnd, keys.PageUp: tea.KeyPgUp, keys.PageDown: tea.KeyPgDown,
		keys.Insert: tea.KeyInsert, keys.Delete: tea.KeyDelete, keys.KPEnter: tea.KeyKpEnter,
	}[c]
}

// pressMods converts modifiers except lock keys: to an editor, ctrl+w is the same with and
// without them.
func pressMods(m keys.Mod) (mods tea.KeyMod) {
	for _, pair := range [...]struct {
		ours   keys.Mod
		theirs tea.KeyMod
	}{{keys.Shift, tea.ModShift}, {keys.Alt, tea.ModAlt}, {keys.Ctrl, tea.ModCtrl}, {keys.Super, tea.ModSuper}, {keys.Hyper, tea.ModHyper}, {keys.Meta, tea.ModMeta}} {
		if m&pair.ours != 0 {
			mods |= pair.theirs
		}
	}
	return mods
}
