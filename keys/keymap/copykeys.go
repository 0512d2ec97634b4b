package keymap

// EmacsCopy are other keys for scroll and copy mode: those of people who are
// used to Emacs.
func (b Bindings) EmacsCopy() Bindings {
	changes := map[Action][]string{}
	for _, d := range b.definitions {
		names, ok := emacsCopy()[d.Action]
		if !ok {
			continue
		}
		for _, bound := range b.keys[d.Action] {
			if bound.scope != ScopeScroll {
				names = append(names, string(bound.scope)+" "+bound.key.String())
			}
		}
		changes[d.Action] = names
	}
	other, err := b.Rebind(changes)
	if err != nil {
		panic(err) // the table is data of this package, held by its tests
	}
	return other
}

func emacsCopy() map[Action][]string {
	return map[Action][]string{
		ScrollDown:          k("down", "ctrl+n"),
		ScrollUp:            k("up", "ctrl+p"),
		ScrollLeft:          k("left"),
		ScrollRight:         k("right", "ctrl+f"),
		ScrollWord:          k("alt+w"),
		ScrollWordBack:      k("alt+b"),
		ScrollWordEnd:       k("alt+f"),
		ScrollLineStart:     k("ctrl+a"),
		ScrollLineText:      k("alt+m"),
		ScrollLineEnd:       k("ctrl+e"),
		ScrollTop:           k("alt+t"),
		ScrollMiddle:        k("alt+r"),
		ScrollBottom:        k("alt+l"),
		ScrollParagraph:     k("alt+}"),
		ScrollParagraphBack: k("alt+{"),
		ScrollPageDown:      k("pgdown", "ctrl+v", "space"),
		ScrollPageUp:        k("pgup", "alt+v"),
		ScrollHalfDown:      k("ctrl+down"),
		ScrollHalfUp:        k("ctrl+up"),
		ScrollFirst:         k("home", "alt+<"),
		ScrollLast:          k("end", "alt+>"),
		ScrollCommandBack:   k("["),
		ScrollCommand:       k("]"),
		ScrollSearch:        k("ctrl+s"),
		ScrollSearchBack:    k("ctrl+r"),
		ScrollNext:          k("n"),
		ScrollPrevious:      k("N"),
		ScrollSelect:        k("ctrl+space"),
		ScrollSelectLine:    k("V"),
		ScrollSelectBlock:   k("R"),
		ScrollSelectOutput:  k("s"),
		ScrollSwap:          k("ctrl+x"),
		ScrollCopy:          k("ctrl+w", "y"),
		ScrollOpen:          k("enter"),
		ScrollCopyLine:      k("ctrl+k"),
		ScrollSave:          k("S"),
		ScrollCancel:        k("ctrl+g", "esc"),
		ScrollLeave:         k("q", "ctrl+c"),
	}
}
