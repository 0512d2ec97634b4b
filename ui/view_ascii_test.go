package ui

import (
	"strings"
	"testing"
)

func TestLocaleWithoutUTF8IsDrawnInASCII(t *testing.T) {
	t.Setenv("LC_ALL", "C")
	e := newFakeEngine()
	e.addSession("shell", "$ ")
	d := drive(t, e, 100, 30)
	d.waitText("$ ")
	for _, keys := range [][]string{{}, {"ctrl+b", "%"}, {"alt+2"}, {"alt+3"}, {"alt+4"}, {"ctrl+b", "?"}} {
		for _, key := range keys {
			d.pressKeys(key)
		}
		for row := range strings.SplitSeq(d.screenText(), "\n") {
			if i := strings.IndexFunc(row, func(r rune) bool { return r >= 0x80 }); i >= 0 {
				t.Errorf("after %v: %q", keys, row)
			}
		}
	}
}
