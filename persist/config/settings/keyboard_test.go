package settings

import (
	"slices"
	"strings"
	"testing"
)

func TestFormerActionNamesStillBindKeys(t *testing.T) {
	for former, current := range renamedActions {
		k := Defaults().Keyboard
		k.Keys = map[string][]string{former: {"f9"}}
		b, err := k.Bindings()
		if err != nil || !slices.ContainsFunc(b.KeysOf(current, ""), func(key string) bool { return strings.HasSuffix(key, "f9") }) {
			t.Errorf("%s: %s has the keys %v: %v", former, current, b.KeysOf(current, ""), err)
		}
	}
}
