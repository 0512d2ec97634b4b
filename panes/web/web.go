// Package web implements the dialog with the link that opens the sessions in a browser, and with
// its QR code for a phone.
package web

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/page/background"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/look"
	"tandem/panes/kit/qr"
	"tandem/panes/kit/text"
)

// ShowLink opens the dialog with a new link. The page is served by a process that the engine keeps.
// The process is started if needed, and keeps running after the dashboard has exited.
func ShowLink(env panes.Env) tea.Cmd {
	shown := &page{env: env, loading: true}
	env.Ask(shown)
	return panes.Call(env.Context(), env, func(ctx context.Context, e panes.Engine) (background.Link, error) {
		return background.Invite(ctx, e)
	}, func(link background.Link, err error) tea.Cmd {
		answer := dialog.Answer{Of: shown, Do: func() tea.Cmd { return shown.storeLink(link, err) }}
		return func() tea.Msg { return answer }
	})
}

// A page is the dialog while it is open.
type page struct {
	env     panes.Env
	loading bool
	link    background.Link
	code    []string // the QR code, if a phone can open the link
}

func (u *page) storeLink(link background.Link, err error) tea.Cmd {
	u.loading = false
	if err != nil {
		// The dialog has nothing to show, so close it and report the error in the status bar.
		u.env.Close()
		return u.env.Say("open in browser: "+panes.ErrorText(err), true)
	}
	u.link = link
	if !link.IsLocal() { // otherwise no phone can open it
		u.code, _ = qr.DrawLines(link.URL) // without a code, the link is enough
	}
	return nil
}

// Traits shows that the link has not arrived yet.
func (u *page) Traits() dialog.Traits { return dialog.Traits{Busy: u.loading} }

func (u *page) Scopes() []keymap.Scope { return []keymap.Scope{keymap.ScopePrompt} }

func (u *page) Do(h dialog.Host, a keymap.Action) tea.Cmd {
	if a != keymap.Accept {
		h.Close()
		return nil
	}
	if u.loading {
		return nil
	}
	return u.env.Copy(u.link.URL, "the link")
}

func (u *page) Type(dialog.Host, tea.KeyPressMsg) tea.Cmd { return nil }
func (u *page) Paste(dialog.Host, string) tea.Cmd         { return nil }

func (u *page) Hints(h dialog.Host) []keymap.Hint {
	hints := []keymap.Hint{h.Bindings().Hint(keymap.Cancel, "close", keymap.ScopePrompt)}
	if u.loading {
		return hints
	}
	return append([]keymap.Hint{h.Bindings().Hint(keymap.Accept, "copy the link", keymap.ScopePrompt)}, hints...)
}

func (u *page) Draw(h dialog.Host, w, height int) (rows []string, width, x, y int) {
	look := h.Look()
	if u.loading {
		width = min(46, w-8)
		return []string{look.Strong.Text(text.Fit("Open in browser", width)), look.Dim.Text(text.Fit(h.Spinner()+" Starting tandem web…", width))}, width, -1, 0
	}
	notes := text.WrapLines(u.noteLines(), w-8)
	if len(u.code)+1+frameRows+2 <= height { // the code needs the rows more than the notes
		notes = notes[:min(len(notes), height-len(u.code)-frameRows-2)]
	}
	width = text.Width(u.link.URL)
	for _, n := range notes {
		width = max(width, text.Width(n))
	}
	width = min(width, w-8)
	rows = []string{look.Strong.Text(text.Fit("Open in browser", width)), look.Accent.Text(text.Fit(u.link.URL, width))}
	rows = append(rows, u.drawCode(look, width, height-len(rows)-len(notes)-frameRows)...)
	for _, n := range notes {
		rows = append(rows, look.Dim.Text(text.Fit(n, width)))
	}
	return rows, width, -1, 0
}

// frameRows is how many rows of the screen are taken by the dialog's frame and the dashboard's
// bars.
const frameRows = 4

// drawCode draws the QR code in the middle, if it fits.
func (u *page) drawCode(look *look.Look, width, height int) (rows []string) {
	if len(u.code) == 0 {
		return nil
	}
	size := text.Width(u.code[0])
	if size > width || len(u.code) > height {
		return []string{look.Dim.Text(text.Fit("No room for its QR code. Enlarge the window.", width))}
	}
	left := (width - size) / 2
	for _, line := range u.code {
		if u.env.Colors() > 0 {
			line = qr.PaintLine(line)
		}
		rows = append(rows, text.Spaces(left)+line+text.Spaces(width-size-left))
	}
	return rows
}

func (u *page) noteLines() []string {
	notes := []string{"It pairs one browser, within 10 minutes.",
		"Runs as process " + background.ProcessName + "; `tandem stop " + background.ProcessName + "` stops it."}
	if f := u.link.Fingerprint; f != "" {
		half := len(f) / 2
		notes = append(notes, "The browser does not know the certificate. SHA-256:", f[:half], f[half:])
	}
	if u.link.IsLocal() {
		notes = append(notes, "This machine only. For a phone, run in a shell:", "tandem web --background --listen 0.0.0.0:8800")
	}
	return notes
}
