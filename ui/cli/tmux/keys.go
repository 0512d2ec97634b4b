package tmux

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/ui/cli/tmux/server"
)

// keyNames maps tmux's names of keys, in lower case, to Tandem's.
var keyNames = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"up": "up", "down": "down", "left": "left", "right": "right", "home": "home", "end": "end",
		"ic": "insert", "insert": "insert", "dc": "delete", "delete": "delete",
		"npage": "pgdown", "pagedown": "pgdown", "pgdn": "pgdown", "ppage": "pgup", "pageup": "pgup", "pgup": "pgup",
		"tab": "tab", "btab": "shift+tab", "bspace": "backspace", "enter": "enter", "escape": "esc", "space": "space",
		"kpenter": "enter",
	}
})

// parseKey converts tmux's name of a key (C-a, M-x, S-Left, F1, Enter) to Tandem's and reports whether
// it is one. A plain character is text, not a key.
func parseKey(name string) (string, bool) {
	modifiers, rest := "", name
	if len(rest) == 2 && rest[0] == '^' {
		return "ctrl+" + strings.ToLower(rest[1:]), true
	}
	for len(rest) > 2 && rest[1] == '-' {
		switch rest[0] {
		case 'C', 'c':
			modifiers += "ctrl+"
		case 'M', 'm':
			modifiers += "alt+"
		case 'S', 's':
			modifiers += "shift+"
		default:
			return "", false
		}
		rest = rest[2:]
	}
	low := strings.ToLower(rest)
	if key := keyNames()[low]; key != "" {
		return modifiers + key, true
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(low, "f")); err == nil && low[0] == 'f' && n >= 1 && n <= 12 {
		return modifiers + low, true
	}
	// Without a modifier, keypad keys type their character: see appendInput.
	if pad, ok := strings.CutPrefix(low, "kp"); ok && len(pad) == 1 && modifiers == "" {
		return "", false
	}
	if modifiers != "" && utf8.RuneCountInString(rest) == 1 {
		if strings.Contains(modifiers, "ctrl") { // C-A and C-a are the same control character
			rest = low
		}
		return modifiers + rest, true
	}
	return "", false
}

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
	switch name, ok := parseKey(word); {
	case cmd.has('H'):
		code, err := strconv.ParseUint(word, 16, 21)
		if err != nil || !utf8.ValidRune(rune(code)) {
			return inputs // tmux ignores it, too
		}
		text = string(rune(code))
	case ok && !cmd.has('l'):
		return append(inputs, api.SessionWriteInput{Keys: []string{name}})
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
	name, ok := parseKey(string(k.settings.optionValue(at, option)))
	if !ok {
		return nil // the prefix may be None
	}
	return k.typeInto(at, []api.SessionWriteInput{{Keys: []string{name}}})
}
