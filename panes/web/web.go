// Package web is the dialog with the link to open the sessions in a browser, and its QR code for a
// phone.
package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"

	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/look"
	"tandem/panes/kit/qr"
	"tandem/panes/kit/text"
)

// A Dialog shows links to the web page.
type Dialog struct {
	env panes.Env
	// Invite starts the web server if needed and returns a new link.
	Invite func(ctx context.Context) (Link, error)
}

// A Link pairs one browser, once.
type Link struct {
	URL         string `json:"url"`
	Fingerprint string `json:"fingerprint"` // of a certificate unknown to browsers
}

// New returns a dialog without opening it.
func New(env panes.Env) *Dialog { return &Dialog{env, requestLink} }

// ShowLink opens the dialog with a new link.
func (d *Dialog) ShowLink() tea.Cmd {
	shown := &page{env: d.env, loading: true}
	d.env.Ask(shown)
	ctx := d.env.Context()
	return func() tea.Msg {
		link, err := d.Invite(ctx)
		return dialog.Answer{Of: shown, Do: func() tea.Cmd { return shown.storeLink(link, err) }}
	}
}

// requestLink runs `tandem web`, which starts the server in the background.
func requestLink(ctx context.Context) (link Link, err error) {
	program, err := os.Executable()
	if err != nil {
		return link, fmt.Errorf("find this program: %w", err)
	}
	out, err := exec.CommandContext(ctx, program, "--json", "web", "--background").Output()
	// With --json, the command prints its error as JSON too.
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return link, errors.New(lastMessage(failed.Stderr))
	}
	if err != nil {
		return link, err
	}
	return link, json.Unmarshal(out, &link)
}

// lastMessage returns the message of the last error printed by `tandem web`.
func lastMessage(stderr []byte) string {
	lines := bytes.Split(bytes.TrimSpace(stderr), []byte{'\n'})
	last := lines[len(lines)-1]
	var reason struct{ Message string }
	if json.Unmarshal(last, &reason) != nil {
		return string(last)
	}
	return reason.Message
}

// A page is the dialog while it is open.
type page struct {
	env     panes.Env
	loading bool
	link    Link
	code    []string // the QR code
}

func (u *page) storeLink(link Link, err error) tea.Cmd {
	u.loading = false
	if err != nil {
		// Nothing is left to show, so the error goes to the status bar.
		u.env.Close()
		return u.env.Say("open in browser: "+err.Error(), true)
	}
	u.link = link
	u.code, _ = qr.DrawLines(link.URL) // without a code, the link is enough
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
	notes := u.noteLines()
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

// frameRows is how many rows are outside the dialog: its frame and the dashboard's bars.
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
	notes := []string{"It pairs one browser, within 10 minutes."}
	if f := u.link.Fingerprint; f != "" {
		half := len(f) / 2
		notes = append(notes, "The browser does not know the certificate. SHA-256:", f[:half], f[half:])
	}
	if at, err := url.Parse(u.link.URL); err == nil {
		if ip := net.ParseIP(at.Hostname()); ip != nil && ip.IsLoopback() {
			notes = append(notes, "This machine only. For a phone, run in a shell:", "tandem web --background --listen 0.0.0.0:8800")
		}
	}
	return notes
}
