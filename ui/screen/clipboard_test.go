package screen

import (
	"strings"
	"testing"
)

func TestCopiedTextReachesClipboardOnce(t *testing.T) {
	c := newCanvas(t)
	if err := c.enterScreen(); err != nil {
		t.Fatal(err)
	}
	c.readWritten()
	view := viewOf("a                   ", "b                   ", "c                   ")
	c.showView(view)
	c.updateFrame(func(f *frame) { f.clip, f.clips = "漢 x\n", 1 })
	const put = "\x1b]52;c;5ryiIHgK\x07"
	if got := c.showView(view); !strings.Contains(got, put) {
		t.Errorf("written: %q", got)
	}
	if got := c.showView(view); got != "" {
		t.Errorf("written again: %q", got)
	}
	c.leaveScreen()
	if err := c.enterScreen(); err != nil {
		t.Fatal(err)
	}
	c.readWritten()
	if got := c.showView(view); strings.Contains(got, "]52;") {
		t.Error("the clipboard is overwritten when the terminal is entered again")
	}
}
