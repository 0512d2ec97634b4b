package tmux

import (
	"regexp"
	"sync"

	"tandem/engine/api"
	"tandem/ui/cli/tmux/server"
)

// A keyboard types into panes.
type keyboard struct{ *parts }

// keyPattern matches tmux's names of keys, in the notation that the engine knows too: C-a, M-x,
// S-Left, F1, Enter. A plain character is text, not a key.
var keyPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\^[!-~]|([CcMmSs]-)+.|([CcMmSs]-)*(?i:up|down|left|right|home|end|ic|insert|dc|delete|` +
		`npage|pagedown|pgdn|ppage|pageup|pgup|tab|btab|bspace|enter|kpenter|escape|space|f[1-9]|f1[0-2]))$`)
})

func (c keyboard) sendKeys(cmd *command, at server.Target) error {
	var inputs []api.SessionWriteInput
	for _, word := range cmd.args {
		n := len(inputs) - 1
		switch {
		case !cmd.has('l') && keyPattern().MatchString(word):
			inputs = append(inputs, api.SessionWriteInput{Keys: []string{word}})
		case n >= 0 && inputs[n].Keys == nil: // one write for all text saves calls of the engine
			inputs[n].Text += word
		default:
			inputs = append(inputs, api.SessionWriteInput{Text: word})
		}
	}
	return c.typeInto(at, inputs)
}

// typeInto types into a pane, or into all panes of its window with synchronize-panes. Exited panes
// and those with disabled input are skipped.
func (c keyboard) typeInto(at server.Target, inputs []api.SessionWriteInput) error {
	panes := []*server.Pane{at.Pane}
	if c.settings.optionValue(at, "synchronize-panes").IsOn() {
		panes = at.Window.Panes
	}
	e, err := c.engine.connect()
	if err != nil {
		return err
	}
	for _, p := range panes {
		if p.InputOff || !c.engine.isAlive(p) {
			continue
		}
		for _, in := range mergeInputs(inputs) {
			in.ID = p.Terminal
			if err := api.TypeInto(c.engine.ctx, e, in); err != nil {
				return err
			}
		}
	}
	return nil
}

// mergeInputs merges inputs into as few requests as possible. One request can hold text followed by
// keys.
func mergeInputs(inputs []api.SessionWriteInput) (all []api.SessionWriteInput) {
	for _, in := range inputs {
		if n := len(all) - 1; n >= 0 && in.Text == "" {
			all[n].Keys = append(all[n].Keys, in.Keys...)
			continue
		}
		all = append(all, in)
	}
	return all
}

func (c keyboard) sendPrefix(_ *command, at server.Target) error {
	name := string(c.settings.optionValue(at, "prefix"))
	if !keyPattern().MatchString(name) {
		return nil // the prefix may be None
	}
	return c.typeInto(at, []api.SessionWriteInput{{Keys: []string{name}}})
}
