package ui

import (
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/persist/config/settings"
)

func newRequest(id, command string) api.Request {
	return api.Request{
		ID: id, Actor: "agent:claude-code/2.1", Tool: "exec", Command: command, CWD: "/work/app",
		Rule: "rule 2 of policy.toml", ExpiresAt: time.Date(2026, 1, 2, 15, 4, 5, 0, time.Local),
	}
}

func TestRequestIsAnnouncedAndWaitsForKey(t *testing.T) {
	d := drive(t, newFakeEngine(), 100, 24)
	d.waitStarted(1)
	e := d.nthSession(0).engine
	e.addRequest(newRequest("r1", "make install"))
	d.waitText("claude-code/2.1 asks (ctrl+b a answers): make install")
	d.waitText("1 asking")
	d.pressKeys("y")
	d.waitTyped(d.nthSession(0), "y") // further keys still go to the program
	d.pressKeys("ctrl+b", "a")
	d.waitText("claude-code/2.1 wants to call exec")
	d.waitText("make install")
	d.waitText("in /work/app")
	d.waitText("reason: rule 2 of policy.toml")
	d.waitText("by 15:04:05")
	d.waitText("y allow   n refuse   a always   esc later")
	d.pressKeys("y")
	d.waitCalls("answer r1 true always false")
	d.waitNoText("wants to call")
	d.waitNoText("asking")
	d.waitNoText("answers)")
}

func TestOpenRequestIsAnnouncedOnceThoughLinksFlap(t *testing.T) {
	for name, flap := range map[string]func(d *driver, box *fakeEngine) (asking *fakeEngine){
		"to a machine": func(d *driver, box *fakeEngine) *fakeEngine {
			box.addRequest(newRequest("r1", "make install"))
			d.waitText("1 asking")
			for range 2 {
				d.engine.announceBox(api.MachineAway)
				d.waitNoText("asking")
				d.engine.announceBox(api.MachineConnected)
				d.waitText("1 asking")
			}
			return box
		},
		"to the engine": func(d *driver, _ *fakeEngine) *fakeEngine {
			d.engine.addRequest(newRequest("r1", "make install"))
			d.waitText("1 asking")
			for range 2 {
				d.restoreEngine(d.loseEngine())
				d.waitNoText("asking")
				// The open requests follow the snapshot.
				d.engine.addRequest(newRequest("r1", "make install"))
				d.waitText("1 asking")
			}
			return d.engine
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newFakeEngine()
			e.addSession("here")
			box := addBox(e)
			d := drive(t, e, 120, 24)
			var said strings.Builder
			d.m.notices.toast.log = &said
			d.waitText("● there")
			asking := flap(d, box)
			asking.addRequest(newRequest("r2", "git push"))
			d.waitUntil("the next request is announced", func() bool { return strings.Contains(said.String(), "git push") })
			if n := strings.Count(said.String(), "make install"); n != 1 {
				t.Errorf("announced %d times:\n%s", n, said.String())
			}
		})
	}
}

func TestAnnouncedRequestsAreBounded(t *testing.T) {
	n := notices{toast: toast{redraw: func() {}, log: io.Discard}, desktop: desktop{attention: &settings.Attention{}}}
	var open []api.Request
	for i := range 2 * maxAnnounced {
		open = append(open, newRequest(strconv.Itoa(i), "make"))
	}
	n.announceRequests(open, "", false)
	if last := open[len(open)-1]; len(n.announced) != maxAnnounced || n.announceRequests([]api.Request{last}, "", false) != nil {
		t.Errorf("%d are remembered, without the last one", len(n.announced))
	}
}

func TestRequestDialogShowsAnswerKeysBesideAnyNote(t *testing.T) {
	for _, size := range [][2]int{{120, 36}, {80, 24}, {60, 15}} {
		d := drive(t, newFakeEngine(), size[0], size[1])
		d.waitStarted(1)
		e := d.nthSession(0).engine
		e.addRequest(newRequest("r1", "git push"))
		d.waitText("asks (ctrl+b a answers)")
		d.pressKeys("ctrl+b", "a")
		d.waitText("y allow   n refuse")
		d.waitNoText("answers)")
		e.addRequest(newRequest("r2", "git pull"))
		d.waitText("(1 of 2)")
		d.waitText("y allow   n refuse")
		d.waitNoText("answers)")
		d.m.notices.toast.Say(strings.Repeat("something else is wrong ", 9), true)
		d.waitText("something else")
		d.waitText("y allow   n refuse")
	}
}

func TestRequestIsSpelledOutInBar(t *testing.T) {
	d := drive(t, newFakeEngine(), 120, 24)
	d.waitStarted(1)
	d.nthSession(0).engine.addRequest(newRequest("r1", "echo \x1b[31mred\n\u202eevil"))
	d.waitText(`asks (ctrl+b a answers): echo \u{1b}[31mred\u{a}\u{202e}evil`)
}

func TestRequestCanBeDeniedAlwaysAllowedOrLeftOpen(t *testing.T) {
	for key, want := range map[string]string{"n": "answer r1 false always false", "a": "answer r1 true always true", "esc": ""} {
		d := drive(t, newFakeEngine(), 100, 24)
		d.waitStarted(1)
		d.nthSession(0).engine.addRequest(newRequest("r1", "make install"))
		d.waitText("1 asking")
		d.pressKeys("ctrl+b", "a")
		d.waitText("wants to call exec")
		d.pressKeys(key)
		if want != "" {
			d.waitCalls(want)
		}
		d.waitNoText("wants to call")
	}
}

func TestRequestsAreShownOneAfterAnother(t *testing.T) {
	d := drive(t, newFakeEngine(), 100, 24)
	d.waitStarted(1)
	e := d.nthSession(0).engine
	e.addRequest(newRequest("r1", "make one"))
	e.addRequest(newRequest("r2", "make two"))
	d.waitText("2 asking")
	d.pressKeys("ctrl+b", "a")
	d.waitText("(1 of 2)")
	d.pressKeys("tab")
	d.waitText("make two")
	d.pressKeys("tab")
	d.waitText("make one")
	d.pressKeys("y")
	d.waitCalls("answer r1 true always false")
	d.waitText("make two")
	e.addRequest(api.Request{ID: "r2", Answer: "expired"})
	d.waitText("it timed out")
	d.pressKeys("y")
	d.waitText("it timed out")
	d.pressKeys("esc")
	d.waitNoText("it timed out")
}

func TestLongCommandMustBeReadBeforeItIsAllowed(t *testing.T) {
	d := drive(t, newFakeEngine(), 100, 24)
	d.waitStarted(1)
	e := d.nthSession(0).engine
	e.addRequest(newRequest("r1", "echo"+strings.Repeat(" safe", 500)+"; rm -rf ~"))
	e.addRequest(newRequest("r2", "true"+strings.Repeat("\ntrue", 40)+"\nlast line"))
	d.waitText("2 asking")
	d.pressKeys("ctrl+b", "a")
	d.waitText("rows 1–13 of")
	d.waitNoText("rm -rf ~")
	for _, key := range []string{"y", "a", "down", "y", "pgdown", "a"} {
		d.pressKeys(key)
	}
	d.waitText("scroll to the end first")
	d.waitText("wants to call exec")
	d.pressKeys("end")
	d.waitText("rm -rf ~")
	d.waitText("in /work/app")
	d.pressKeys("home")
	d.waitNoText("rm -rf ~")
	d.pressKeys("tab")
	d.waitText("rows 1–13 of 44")
	d.pressKeys("y") // the other request was read, not this one
	d.waitText("(2 of 2)")
	d.pressKeys("tab")
	d.waitText("(1 of 2)")
	d.pressKeys("y")
	d.waitCalls("answer r1 true always false")
	d.waitText("› true")
	d.waitNoText("of 2)")
	d.pressKeys("n") // denying does not require reading
	d.waitCalls("answer r1 true always false; answer r2 false always false")
	d.waitNoText("wants to call")
}

func TestLongFolderIsShownInFull(t *testing.T) {
	d := drive(t, newFakeEngine(), 100, 24)
	d.waitStarted(1)
	r := newRequest("r1", "make")
	r.CWD = "/" + strings.Repeat("work/", 30) + "\u202eevil"
	d.nthSession(0).engine.addRequest(r)
	d.waitText("1 asking")
	d.pressKeys("ctrl+b", "a")
	d.waitText(`\u{202e}evil`)
}

func TestRequestsKeySaysIfThereAreNone(t *testing.T) {
	d := drive(t, newFakeEngine(), 100, 24)
	d.waitStarted(1)
	d.pressKeys("ctrl+b", "a")
	d.waitText("no requests from agents")
}
