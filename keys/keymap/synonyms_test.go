package keymap

import (
	"slices"
	"strings"
	"testing"
)

func TestSynonymsAreOfActionsAndSayMoreThanTheAction(t *testing.T) {
	for action, words := range synonyms() {
		i := slices.IndexFunc(Catalogue(), func(d Definition) bool { return d.Action == action })
		if i < 0 {
			t.Errorf("%s is no action", action)
			continue
		}
		for word := range strings.FieldsSeq(words) {
			if strings.Contains(" "+Catalogue()[i].Help+" ", " "+word+" ") {
				t.Errorf("%s: help has the word %q", action, word)
			}
		}
	}
}
