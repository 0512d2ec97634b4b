package tmux

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/ui/cli/tmux/server"
)

// keyPattern matches tmux's names of keys, in the notation that the engine knows too: C-a, M-x,
// S-Left, F1, Enter. A plain character is text, not a key.
var keyPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\^[!-~]|([CcMmSs]-)+.|([CcMmSs]-)*(?i:up|down|left|right|home|end|ic|insert|dc|delete|` +
		`npage|pagedown|pgdn|ppage|pageup|pgup|tab|btab|bspace|enter|kpenter|escape|space|f[1-9]|f1[0-2]))$`)
})

// A keyboard types into panes.
type keyboard struct {
	engine   *engine
	formats  *formats
	settings *settings
}

func (k *keyboard) sendKeys(cmd *command, at server.Target) error {
	times := 1
	if cmd.has('N') {
		var err error
		times, err = parseNumber(cmd.value('N'))
		switch {
		case err != nil:
			return errors.New("repeat count invalid")
		case times < 1:
			return errors.New("repeat count too small")
		}
	}
	var inputs []api.SessionWriteInput
	for range times {
		for _, word := range cmd.args {
			if cmd.has('F') {
				word = k.formats.expand(at, word)
			}
			inputs = appendInput(cmd, inputs, word)
		}
	}
	return k.typeInto(at, inputs)
}

// appendInput appends the input for one argument of send-keys: a key, or else text.
func appendInput(cmd *command, inputs []api.SessionWriteInput, word string) []api.SessionWriteInput {
	text := word
	switch {
	case cmd.has('H'):
		code, err := strconv.ParseUint(word, 16, 21)
		if err != nil || !utf8.ValidRune(rune(code)) {
			return inputs // tmux ignores it, too
		}
		text = string(rune(code))
	case !cmd.has('l') && keyPattern().MatchString(word):
		return append(inputs, api.SessionWriteInput{Keys: []string{word}})
	case strings.HasPrefix(word, "KP") && len(word) == 3 && !cmd.has('l'):
		text = word[2:]
	}
	// Consecutive text goes into one write, to save calls of the engine.
	if n := len(inputs) - 1; n >= 0 && inputs[n].Keys == nil {
		inputs[n].Text += text
		return inputs
	}
	return append(inputs, api.SessionWriteInput{Text: text})
}

// typeInto types into a pane, or into all panes of its window with synchronize-panes. Exited panes
// and those with disabled input are skipped.
func (k *keyboard) typeInto(at server.Target, inputs []api.SessionWriteInput) error {
	panes := []*server.Pane{at.Pane}
	if k.settings.optionValue(at, "synchronize-panes").IsOn() {
		panes = at.Window.Panes
	}
	e, err := k.engine.connect()
	if err != nil {
		return err
	}
	for _, p := range panes {
		if p.InputOff || !k.engine.isAlive(p) {
			continue
		}
		for _, in := range mergeInputs(inputs) {
			in.ID = p.Terminal
			if err := api.TypeInto(k.engine.ctx, e, in); err != nil {
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

func (k *keyboard) sendPrefix(cmd *command, at server.Target) error {
	option := "prefix"
	if cmd.has('2') {
		option = "prefix2"
	}
	name := string(k.settings.optionValue(at, option))
	if !keyPattern().MatchString(name) {
		return nil // the prefix may be None
	}
	return k.typeInto(at, []api.SessionWriteInput{{Keys: []string{name}}})
}
