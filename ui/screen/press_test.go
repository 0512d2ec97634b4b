package screen

import (
	"testing"

	"tandem/keys"
)

func TestKeysReachComponentsUnderTheirNames(t *testing.T) {
	for name, want := range map[string]string{
		"a": "a", "A": "A", "é": "é", "space": "space", "enter": "enter", "tab": "tab", "esc": "esc", "backspace": "backspace",
		"shift+tab": "shift+tab", "alt+b": "alt+b", "ctrl+w": "ctrl+w", "ctrl+left": "ctrl+left", "alt+enter": "alt+enter",
		"ctrl+shift+right": "ctrl+shift+right", "pgup": "pgup", "delete": "delete", "home": "home", "f5": "f5", "f24": "f24",
	} {
		k, err := keys.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		if msg, ok := Press(k); !ok || msg.String() != want {
			t.Errorf("%s is %q, want %q", name, msg.String(), want)
		}
	}
	if msg, _ := Press(keys.Key{Code: 'ц', Base: 'w', Mods: keys.Ctrl | keys.NumLock}); msg.String() != "ctrl+w" {
		t.Errorf("the key of w on a Cyrillic layout is %q", msg.String())
	}
	if _, ok := Press(keys.Key{Code: 'a', Phase: keys.Release}); ok {
		t.Error("a key that is let go is pressed")
	}
}
