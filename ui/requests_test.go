package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"tandem/engine/api"
)

func aRequest(id, command string) api.Request {
	return api.Request{
		ID: id, Actor: "agent:claude-code/2.1", Tool: "exec", Command: command, CWD: "/work/app",
		Rule: "rule 2 of policy.toml", ExpiresAt: time.Date(2026, 1, 2, 15, 4, 5, 0, time.Local),
	}
}

func TestARequestIsAnnouncedAndWaitsForItsKey(t *testing.T) {
	d := drive(t, newFakeEngine(), 100, 24)
	d.hasStarted(1)
	e := d.nth(0).engine
	e.asks(aRequest("r1", "make install"))
	d.shows("claude-code/2.1 asks: make install – ctrl+b a answers")
	d.shows("1 asking")
	d.press("y")
	d.typedInto(d.nth(0), "y") // what is typed goes on to the program
	d.press("ctrl+b", "a")
	d.shows("claude-code/2.1 wants to call exec")
	d.shows("make install")
	d.shows("in /work/app")
	d.shows("asked because of: rule 2 of policy.toml")
	d.shows("by 15:04:05")
	d.shows("y allow   a always   n refuse   esc later")
	d.press("y")
	d.calls("answer r1 true always false")
	d.lacks("wants to call")
	d.lacks("asking")
	d.lacks("asks:")
}

func TestARequestCanBeRefusedAllowedForAlwaysOrLeft(t *testing.T) {
	for key, want := range map[string]string{"n": "answer r1 false always false", "a": "answer r1 true always true", "esc": ""} {
		d := drive(t, newFakeEngine(), 100, 24)
		d.hasStarted(1)
		d.nth(0).engine.asks(aRequest("r1", "make install"))
		d.shows("1 asking")
		d.press("ctrl+b", "a")
		d.shows("wants to call exec")
		d.press(key)
		if want != "" {
			d.calls(want)
		}
		d.lacks("wants to call")
	}
}

func TestOneRequestAfterTheOtherIsShown(t *testing.T) {
	d := drive(t, newFakeEngine(), 100, 24)
	d.hasStarted(1)
	e := d.nth(0).engine
	e.asks(aRequest("r1", "make one"))
	e.asks(aRequest("r2", "make two"))
	d.shows("2 asking")
	d.press("ctrl+b", "a")
	d.shows("(1 of 2)")
	d.press("tab")
	d.shows("make two")
	d.press("tab")
	d.shows("make one")
	d.press("y")
	d.calls("answer r1 true always false")
	d.shows("make two")
	e.asks(api.Request{ID: "r2", Answer: "expired"})
	d.shows("its time is over")
	d.press("y")
	d.shows("its time is over")
	d.press("esc")
	d.lacks("its time is over")
}

func TestALongOrHostileCommandIsShownSafelyAndCounted(t *testing.T) {
	r := aRequest("r1", "echo \x1b[2Jhidden\u202e"+strings.Repeat(" x", 60)+strings.Repeat("\nrm -rf /", 50))
	lines := requestLines(r, 40, 10)
	if len(lines) != 10 || !strings.Contains(lines[9], "more lines") {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
	if !strings.Contains(lines[0], `\u{1b}[2Jhidden\u{202e}`) {
		t.Errorf("what does not show is not written out: %q", lines[0])
	}
	for _, l := range lines[:9] {
		if strings.ContainsAny(l, "\x1b\u202e\n") || ansi.StringWidth(l) > 40 {
			t.Errorf("%q", l)
		}
	}
}

func TestWithoutRequestsTheKeySaysSo(t *testing.T) {
	d := drive(t, newFakeEngine(), 100, 24)
	d.hasStarted(1)
	d.press("ctrl+b", "a")
	d.shows("no agent asks for anything")
}
