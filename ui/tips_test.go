package ui

import (
	"errors"
	"testing"
)

func TestAnotherPrefixIsOfferedWithinTmux(t *testing.T) {
	e := newFakeEngine()
	e.add("shell", "$ ")
	d := drive(t, e, 100, 30)
	var kept []string
	d.m.o.KeepPrefix = func(key string) (string, error) {
		if kept = append(kept, key); len(kept) > 1 {
			return "", errors.New("the disk is full")
		}
		return "/home/ann/config.toml", nil
	}
	d.m.offerPrefix()
	d.lacks("tmux uses")
	d.m.o.InTmux = true
	d.m.offerPrefix()
	d.shows("tmux uses ctrl+b too. Which key comes before Tandem's commands?")
	d.shows("press it twice: tmux passes the second one on")
	d.press("down", "enter")
	d.shows(`prefix = "ctrl+a" is in ~/config.toml now`)
	d.m.offerPrefix()
	d.press("enter")
	d.shows("the disk is full")
	if len(kept) != 2 || kept[0] != "ctrl+a" || kept[1] != "ctrl+b" {
		t.Errorf("kept %q", kept)
	}
	d.m.o.PrefixChosen = true
	d.m.offerPrefix()
	d.lacks("tmux uses")
}
