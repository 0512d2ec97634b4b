package ui

import (
	"errors"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"tandem/panes/kit/dialog"
)

func TestOtherPrefixIsOfferedInsideTmux(t *testing.T) {
	e := newFakeEngine()
	e.addSession("shell", "$ ")
	d := drive(t, e, 100, 30)
	var kept []string
	d.m.o.KeepPrefix = func(key string) (string, error) {
		if kept = append(kept, key); len(kept) > 1 {
			return "", errors.New("the disk is full")
		}
		return "/home/ann/config.toml", nil
	}
	d.m.tips.offerPrefix()
	d.waitNoText("tmux takes")
	d.m.o.InTmux = true
	d.m.tips.offerPrefix()
	d.pressKeys("'typed ahead")
	d.waitTyped(d.nthSession(0), "typed ahead")
	d.waitText("ctrl+b enter answers: tmux takes the first ctrl+b. Which key comes before Tandem's")
	d.pressKeys("ctrl+b", "enter")
	d.waitText("press it twice: tmux passes the second one on")
	d.pressKeys("down", "enter")
	d.waitText(`saved prefix ctrl+a to ~/config.toml`)
	d.m.tips.offerPrefix()
	d.pressKeys("ctrl+b", "enter", "enter")
	d.waitText("the disk is full")
	if len(kept) != 2 || kept[0] != "ctrl+a" || kept[1] != "ctrl+b" {
		t.Errorf("kept %q", kept)
	}
	d.m.o.PrefixChosen = true
	d.m.tips.offerPrefix()
	d.waitNoText("tmux takes")
}

func TestTipsDoNotRepeatStatusBar(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 36}, {200, 60}} {
		e := newFakeEngine()
		e.addSession("shell", "$ ")
		d := drive(t, e, size[0], size[1])
		d.m.o.ShowTips = true
		d.m.relayout()
		d.waitText("New here?")
		for _, keys := range [][]string{nil, {"alt+2"}, {"alt+3"}, {"alt+4"}, {"alt+1", "ctrl+b", "s"}} {
			d.pressKeys(keys...)
			_, hints := d.m.drawStatusBar()
			_, line, _ := strings.Cut(ansi.Strip(dialog.DrawTips(d.m.o.Bindings, hints, size[0], &d.m.theme.look)), "then")
			for _, h := range hints {
				for _, tip := range dialog.Tips() {
					if tip.InHint(h) && strings.Contains(line, " "+tip.Does[2]) {
						t.Errorf("%d columns, after %q: the bar shows %s %s and the tips are%s", size[0], keys, h.Key, h.Does, line)
					}
				}
			}
			if n := strings.Count(strings.TrimSpace(line), "   "); n < 3 {
				t.Errorf("%d columns, after %q: few tips:%s", size[0], keys, line)
			}
		}
	}
}
