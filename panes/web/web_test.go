package web

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"tandem/keys/keymap"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/text"
	"tandem/panes/panestest"
)

// openDialog opens the dialog; arrive delivers its link.
func openDialog(env *panestest.Env, link Link, err error) (arrive func()) {
	d := New(env)
	d.Invite = func(context.Context) (Link, error) { return link, err }
	cmd := d.ShowLink()
	return func() {
		answer, _ := cmd().(dialog.Answer)
		answer.Do()
	}
}

func drawText(t *testing.T, env *panestest.Env, w, h int) string {
	t.Helper()
	rows, width, _, _ := env.Shown.Draw(env, w, h)
	for i, row := range rows {
		if text.Width(row) != width {
			t.Errorf("%d×%d: row %d is %d cells wide, not %d: %q", w, h, i, text.Width(row), width, row)
		}
	}
	if len(rows) > h-2 && h > 12 {
		t.Errorf("%d×%d: it has %d rows", w, h, len(rows))
	}
	return ansi.Strip(strings.Join(rows, "\n"))
}

func TestDialogShowsTheLinkOnceItArrives(t *testing.T) {
	env := &panestest.Env{}
	arrive := openDialog(env, Link{URL: "http://127.0.0.1:8800/#ABCDEFGHIJKLMNOP"}, nil)
	if text := drawText(t, env, 80, 24); !strings.Contains(text, "Starting tandem web") {
		t.Errorf("shown:\n%s", text)
	}
	if env.Shown.Do(env, keymap.Accept); env.Copied != "" || env.Shown == nil {
		t.Errorf("before there is a link enter copies %q", env.Copied)
	}
	arrive()
	for size, parts := range map[[2]int][]string{
		{120, 36}: {"http://127.0.0.1:8800/#ABCDEFGHIJKLMNOP", "█▀▀▀▀▀█", "pairs one browser", "For a phone", "--listen 0.0.0.0:8800"},
		{80, 24}:  {"http://127.0.0.1:8800/#ABCDEFGHIJKLMNOP", "█▀▀▀▀▀█", "pairs one browser"},
		{80, 16}:  {"http://127.0.0.1:8800/#ABCDEFGHIJKLMNOP", "No room for its QR code", "pairs one browser", "For a phone"},
		{40, 30}:  {"http://127.0.0.1:8800/", "pairs one"},
	} {
		text := drawText(t, env, size[0], size[1])
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("%v: %q is missing in\n%s", size, part, text)
			}
		}
	}
	if env.Shown.Do(env, keymap.Accept); env.Copied != "http://127.0.0.1:8800/#ABCDEFGHIJKLMNOP" || env.Shown == nil {
		t.Errorf("enter copies %q", env.Copied)
	}
	if env.Shown.Do(env, keymap.Cancel); env.Shown != nil {
		t.Error("esc leaves it open")
	}
}

func TestDialogShowsAnUnknownCertificate(t *testing.T) {
	env := &panestest.Env{}
	openDialog(env, Link{"https://192.0.2.7:8800/#ABCDEFGHIJKLMNOP", strings.Repeat("0F", 32)}, nil)()
	text := drawText(t, env, 120, 36)
	if strings.Count(text, strings.Repeat("0F", 16)) != 2 || strings.Contains(text, "This machine only") {
		t.Errorf("shown:\n%s", text)
	}
}

func TestDialogReportsWhyThereIsNoLink(t *testing.T) {
	env := &panestest.Env{}
	openDialog(env, Link{}, errors.New("serve the page in the background: no"))()
	if env.Shown != nil || env.Said != "open in browser: serve the page in the background: no" {
		t.Errorf("message: %q", env.Said)
	}
}

func TestHintsOfferTheLinkOnceItArrives(t *testing.T) {
	env := &panestest.Env{}
	d := panestest.DriveDialogs(t, env, 100, 30)
	link := make(chan Link)
	dialog := New(env)
	dialog.Invite = func(context.Context) (Link, error) { return <-link, nil }
	d.Run(dialog.ShowLink())
	d.WaitText("esc close")
	d.WaitNoText("copy the link")
	link <- Link{URL: "http://127.0.0.1:8800/#ABCDEFGHIJKLMNOP"}
	d.WaitText("enter copy the link")
	d.CheckRows()
}

func TestLateErrorOfAClosedDialogIsDropped(t *testing.T) {
	env := &panestest.Env{}
	d := panestest.DriveDialogs(t, env, 100, 30)
	fail, answer := make(chan error), make(chan Link)
	closed, open := New(env), New(env)
	closed.Invite = func(context.Context) (Link, error) { return Link{}, <-fail }
	open.Invite = func(context.Context) (Link, error) { return <-answer, nil }
	d.Run(closed.ShowLink())
	d.Press("esc")
	d.Run(open.ShowLink())
	fail <- errors.New("too late")
	answer <- Link{URL: "http://127.0.0.1:8800/#ABCDEFGHIJKLMNOP"}
	d.WaitText("enter copy the link")
	if env.Said != "" {
		t.Errorf("said %q", env.Said)
	}
}

func TestLastMessageReadsTheJSONError(t *testing.T) {
	for stderr, want := range map[string]string{
		"": "",
		"a note\n{\"code\":\"unavailable\",\"message\":\"serve the page: it took too long\",\"hint\":\"\"}\n": "serve the page: it took too long",
		"panic\nno JSON\n": "no JSON",
	} {
		if got := lastMessage([]byte(stderr)); got != want {
			t.Errorf("%q: %q, want %q", stderr, got, want)
		}
	}
}
