package ui

import (
	"strings"
	"testing"
	"time"

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
	d.shows("claude-code/2.1 asks (ctrl+b a answers): make install")
	d.shows("1 asking")
	d.press("y")
	d.typedInto(d.nth(0), "y") // what is typed goes on to the program
	d.press("ctrl+b", "a")
	d.shows("claude-code/2.1 wants to call exec")
	d.shows("make install")
	d.shows("in /work/app")
	d.shows("reason: rule 2 of policy.toml")
	d.shows("by 15:04:05")
	d.shows("y allow   n refuse   a always   esc later")
	d.press("y")
	d.calls("answer r1 true always false")
	d.lacks("wants to call")
	d.lacks("asking")
	d.lacks("answers)")
}

func TestRequestDialogShowsAnswerKeysBesideAnyNote(t *testing.T) {
	for _, size := range [][2]int{{120, 36}, {80, 24}, {60, 15}} {
		d := drive(t, newFakeEngine(), size[0], size[1])
		d.hasStarted(1)
		e := d.nth(0).engine
		e.asks(aRequest("r1", "git push"))
		d.shows("asks (ctrl+b a answers)")
		d.press("ctrl+b", "a")
		d.shows("y allow   n refuse")
		d.lacks("answers)")
		e.asks(aRequest("r2", "git pull"))
		d.shows("(1 of 2)")
		d.shows("y allow   n refuse")
		d.lacks("answers)")
		d.m.notices.say(strings.Repeat("something else is wrong ", 9), true)
		d.shows("something else")
		d.shows("y allow   n refuse")
	}
}

func TestRequestIsSpelledOutInTheBar(t *testing.T) {
	d := drive(t, newFakeEngine(), 120, 24)
	d.hasStarted(1)
	d.nth(0).engine.asks(aRequest("r1", "echo \x1b[31mred\n\u202eevil"))
	d.shows(`asks (ctrl+b a answers): echo \u{1b}[31mred\u{a}\u{202e}evil`)
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
	d.shows("it timed out")
	d.press("y")
	d.shows("it timed out")
	d.press("esc")
	d.lacks("it timed out")
}

func TestALongCommandIsReadBeforeItIsAllowed(t *testing.T) {
	d := drive(t, newFakeEngine(), 100, 24)
	d.hasStarted(1)
	e := d.nth(0).engine
	e.asks(aRequest("r1", "echo"+strings.Repeat(" safe", 500)+"; rm -rf ~"))
	e.asks(aRequest("r2", "true"+strings.Repeat("\ntrue", 40)+"\nlast line"))
	d.shows("2 asking")
	d.press("ctrl+b", "a")
	d.shows("rows 1–13 of")
	d.lacks("rm -rf ~")
	for _, key := range []string{"y", "a", "down", "y", "pgdown", "a"} {
		d.press(key)
	}
	d.shows("scroll to the end first")
	d.shows("wants to call exec")
	d.press("end")
	d.shows("rm -rf ~")
	d.shows("in /work/app")
	d.press("home")
	d.lacks("rm -rf ~")
	d.press("tab")
	d.shows("rows 1–13 of 44")
	d.press("y") // what was read was the other one
	d.shows("(2 of 2)")
	d.press("tab")
	d.shows("(1 of 2)")
	d.press("y")
	d.calls("answer r1 true always false")
	d.shows("› true")
	d.lacks("of 2)")
	d.press("n") // what is refused need not be read
	d.calls("answer r1 true always false; answer r2 false always false")
	d.lacks("wants to call")
}

func TestALongFolderIsShownWhole(t *testing.T) {
	d := drive(t, newFakeEngine(), 100, 24)
	d.hasStarted(1)
	r := aRequest("r1", "make")
	r.CWD = "/" + strings.Repeat("work/", 30) + "\u202eevil"
	d.nth(0).engine.asks(r)
	d.shows("1 asking")
	d.press("ctrl+b", "a")
	d.shows(`\u{202e}evil`)
}

func TestWithoutRequestsTheKeySaysSo(t *testing.T) {
	d := drive(t, newFakeEngine(), 100, 24)
	d.hasStarted(1)
	d.press("ctrl+b", "a")
	d.shows("no requests from agents")
}
