// Package web implements `tandem web`: the page for browsers and phones, paired devices, and links
// to single sessions.
package web

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/base/units"
	"tandem/engine/page"
	"tandem/engine/page/background"
	"tandem/engine/page/devices"
	"tandem/engine/page/push"
	"tandem/panes/kit/qr"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
)

// Commands implements `tandem web` and its subcommands.
type Commands struct{ f *factory.Factory }

// A request holds the flags of `tandem web`.
type request struct {
	listen     page.Where
	readOnly   bool
	noQR       bool
	background bool // serve from a process of the engine
	noLink     bool // set for that process: its log must not contain a code
}

// NewWeb returns the command web.
func NewWeb(f *factory.Factory) *cobra.Command {
	v := &Commands{f}
	var w request
	cmd := &cobra.Command{
		Use:   "web",
		Short: "Show sessions and processes in a browser, or on a phone",
		Long: "Serves a page until ctrl+c is pressed, and prints a link, with a QR code if a phone can open\n" +
			"it. The link pairs one browser, once; for another one, run the command again while it serves.\n" +
			"If other machines can reach the page, it uses TLS. With --background it runs as the process\n" +
			"tandem-web until you stop it.",
		Example:     "tandem web\ntandem web --background --listen 0.0.0.0:8800\ntandem web devices\ntandem web share build --for 2h",
		Annotations: factory.Here.Annotations(),
		RunE:        func(cmd *cobra.Command, _ []string) error { return v.servePage(cmd, w) },
	}
	flags := cmd.Flags()
	flags.StringVar(&w.listen.Address, "listen", "", "serve on `address`, 0.0.0.0:8800 for the network; default: this machine only")
	flags.StringSliceVar(&w.listen.Hosts, "host-name", nil, "a host `name` by which browsers reach this machine")
	flags.StringVar(&w.listen.CertFile, "tls-cert", "", "`file` of the certificate, in PEM (default: one that Tandem makes)")
	flags.StringVar(&w.listen.KeyFile, "tls-key", "", "`file` of its key (PEM)")
	flags.BoolVar(&w.readOnly, "read-only", false, "make browsers read-only")
	flags.BoolVar(&w.noQR, "no-qr", false, "print no QR code")
	flags.BoolVar(&w.background, "background", false, "serve it as the process tandem-web")
	flags.BoolVar(&w.noLink, "no-link", false, "")
	_ = flags.MarkHidden("no-link") // the flag exists
	cmd.MarkFlagsRequiredTogether("tls-cert", "tls-key")
	for _, name := range []string{"listen", "host-name"} {
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions) // the flags exist
	}
	cmd.AddCommand(v.devicesCommand(), v.revokeCommand(), v.shareCommand())
	return cmd
}

func (v *Commands) servePage(cmd *cobra.Command, w request) error {
	dataDir, err := api.DataDir()
	if err != nil {
		return err
	}
	book := devices.Open(dataDir)
	running, ok, err := page.Served(dataDir)
	if err != nil {
		return err
	}
	changed := findChangedFlag(cmd)
	switch {
	case w.background && (!ok || changed != ""):
		running, err = v.serveInBackground(cmd.Context(), dataDir, w)
		if errors.Is(err, page.ErrServed) {
			return alreadyServedError(running, changed)
		}
		if err != nil {
			return err
		}
	case ok && changed != "":
		return alreadyServedError(running, changed)
	case !ok:
		return v.serveHere(cmd.Context(), dataDir, book, w)
	}
	// The page is already served in the requested way, so only a new link is needed.
	return v.invite(book, running, devices.Grant{}, !w.noQR)
}

// findChangedFlag returns a flag given by the user that affects how the page is served.
func findChangedFlag(cmd *cobra.Command) string {
	for _, name := range []string{"listen", "host-name", "tls-cert", "read-only"} {
		if cmd.Flags().Changed(name) {
			return name
		}
	}
	return ""
}

func alreadyServedError(s page.Serving, changed string) error {
	return api.Errorf(api.CodeConflict, "serve the page: it is already served, at %s by process %d", s.URL, s.PID).
		WithHint("stop that one first, or leave out --" + changed + " for a link to it")
}

func (v *Commands) serveInBackground(ctx context.Context, dataDir string, w request) (page.Serving, error) {
	options, err := w.options()
	if err != nil {
		return page.Serving{}, err
	}
	engine, err := v.f.Connect(ctx)
	if err != nil {
		return page.Serving{}, err
	}
	defer engine.Close()
	return background.Start(ctx, engine, dataDir, options...)
}

// options returns the options of `tandem web` that affect how the page is served.
func (w request) options() (options []string, err error) {
	if w.listen.Address != "" {
		options = append(options, "--listen", w.listen.Address)
	}
	for _, name := range w.listen.Hosts {
		options = append(options, "--host-name", name)
	}
	// The process starts in another folder.
	if w.listen.CertFile != "" {
		cert, err := filepath.Abs(w.listen.CertFile)
		if err != nil {
			return nil, err
		}
		key, err := filepath.Abs(w.listen.KeyFile)
		if err != nil {
			return nil, err
		}
		options = append(options, "--tls-cert", cert, "--tls-key", key)
	}
	if w.readOnly {
		options = append(options, "--read-only")
	}
	return options, nil
}

func (v *Commands) serveHere(ctx context.Context, dataDir string, book *devices.Book, w request) error {
	w.listen.DataDir = dataDir
	at, err := page.Listen(ctx, w.listen)
	if err != nil {
		return err
	}
	defer at.Close()
	if at.Moved != "" {
		fmt.Fprintf(v.f.Stderr, "Another program is using the page's previous port, %s. The page moved to a new port; pair your browsers again.\n", at.Moved)
	}
	p := page.New(page.Options{
		Engine: v.connectEngine, Book: book, Origin: at.Origin, ReadOnly: w.readOnly, Version: v.f.Version, Log: v.f.Stderr,
		NoClipboard: func() bool { return !v.f.Settings().Clipboard },
		Notify: page.Notify{
			Sender: push.New(dataDir, book, v.f.Stderr), Running: v.f.Reach, Machine: machineName(),
			Quiet: func(at time.Time) bool { return v.f.Settings().Attention.Quiet.Have(at) },
		},
	})
	defer p.Close()
	if w.noLink {
		if err := v.f.Out.Answer(map[string]string{"url": at.URL}, func() string { return at.URL + "\n" }); err != nil {
			return err
		}
	} else if err := v.invite(book, page.Serving{URL: at.URL, Fingerprint: at.Fingerprint}, devices.Grant{}, !w.noQR); err != nil {
		return err
	}
	err = page.Serve(ctx, dataDir, at, p)
	if errors.Is(err, page.ErrServed) {
		return api.Errorf(api.CodeConflict, "serve the page: %v", err).WithHint("run the command again for a link to that page")
	}
	return err
}

// machineName returns the name of this machine for notifications.
func machineName() string {
	name, err := os.Hostname()
	if err != nil {
		return "A machine"
	}
	return name
}

func (v *Commands) connectEngine(ctx context.Context, machine string) (*client.Client, error) {
	if machine == "" {
		return v.f.Connect(ctx)
	}
	return v.f.ConnectMachine(ctx, machine)
}

// invite prints a new link.
func (v *Commands) invite(book *devices.Book, s page.Serving, grant devices.Grant, qr bool) error {
	out, err := background.NewLink(book, s, grant)
	if err != nil {
		return err
	}
	return v.f.Out.Answer(out, func() string {
		text := out.URL + "\n"
		switch _, ok := output.Terminal(v.f.Stdout); {
		case !ok || !qr:
		case out.IsLocal():
			text += "This machine only; `tandem web --listen 0.0.0.0:8800` serves phones too, and prints a QR code.\n"
		default:
			text += drawQR(out.URL)
		}
		if s.Fingerprint != "" {
			text += "certificate: SHA-256 " + inPairs(s.Fingerprint) + "\nThe browser warns about it: compare the two, and continue if they are equal.\n"
		}
		if grant.Session == "" {
			text += "Open the link within 10 minutes; it pairs one browser.\n"
		} else {
			text += "Open the link within 10 minutes; it shows this session only, read-only, until " + grant.Until.Local().Format("2006-01-02 15:04") + ".\n"
		}
		return text
	})
}

// inPairs formats hex digits as browsers do.
func inPairs(hex string) (text string) {
	for i := 0; i+1 < len(hex); i += 2 {
		if i > 0 {
			text += ":"
		}
		text += hex[i : i+2]
	}
	return text
}

func openBook() (*devices.Book, error) {
	dataDir, err := api.DataDir()
	if err != nil {
		return nil, err
	}
	return devices.Open(dataDir), nil
}

// shareTime is the default life of a link to a session.
const shareTime = time.Hour

func (v *Commands) shareCommand() *cobra.Command {
	var duration time.Duration
	cmd := &cobra.Command{
		Use:     "share SESSION",
		Short:   "Make a link that shows one session, read-only, for a while",
		Long:    "Makes a link to one session. The first browser to open it sees only that session, cannot type, and\nloses access when the time is up or you revoke it.",
		Example: "tandem web share build\ntandem web share build --for 2h",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return output.Usagef(cmd, "share what? Give one session.")
			}
			return nil
		},
		ValidArgsFunction: v.f.CompleteSession(factory.IsLive),
		RunE: func(cmd *cobra.Command, args []string) error {
			if duration <= 0 {
				return output.Usagef(cmd, "--for %v: must be positive", duration)
			}
			return v.shareSession(cmd.Context(), args[0], duration)
		},
	}
	cmd.Flags().DurationVar(&duration, "for", shareTime, "how long it is shown: `2h`, 30m")
	_ = cmd.RegisterFlagCompletionFunc("for", cobra.FixedCompletions([]string{"30m", "2h", "24h"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (v *Commands) shareSession(ctx context.Context, which string, duration time.Duration) error {
	dataDir, err := api.DataDir()
	if err != nil {
		return err
	}
	s, ok, err := page.Served(dataDir)
	if err != nil {
		return err
	}
	if !ok {
		return api.Errorf(api.CodeUnavailable, "share %s: no page is served", which).WithHint("`tandem web` serves it; for browsers on other machines, add --listen")
	}
	engine, err := v.f.Connect(ctx)
	if err != nil {
		return err
	}
	defer engine.Close()
	session, err := api.SessionGet.Call(ctx, engine, api.IDInput{ID: which})
	if err != nil {
		return err
	}
	if !session.IsCalled(which) { // a browser must not get another session than the one meant
		return api.Errorf(api.CodeNotFound, "share %s: no session has this name or id; did you mean %s?", which, session.Name)
	}
	return v.invite(devices.Open(dataDir), s, devices.Grant{Session: session.ID, Until: time.Now().Add(duration)}, true)
}

func (v *Commands) devicesCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "devices",
		Short:   "List the browsers that may use the page",
		Example: "tandem web devices\ntandem web devices --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			book, err := openBook()
			if err != nil {
				return err
			}
			all, err := book.List()
			if err != nil {
				return err
			}
			rows := make([]deviceRow, 0, len(all))
			for _, d := range all {
				rows = append(rows, deviceRow{d.ID, d.Name, deviceAccess(d), d.Session, d.Added, d.Seen, d.Until, d.PairAgain()})
			}
			return output.AnswerList(v.f.Out, rows, "no browser is paired: `tandem web` prints a link", func() string {
				t := v.f.Out.Table("id", "device", "may", "paired", "seen")
				for _, r := range rows {
					t.Add(output.Text(r.ID), output.Text(output.Visible(r.Name)), output.Text(r.access()), output.Text(r.Added.Local().Format("2006-01-02 15:04")), output.Text(ageText(r.Seen)))
				}
				text := t.String()
				if slices.ContainsFunc(rows, func(r deviceRow) bool { return r.PairAgain }) {
					text += "Browsers that were paired with Tandem 0.2.0 have no key yet: open a new link of `tandem web` in each.\n"
				}
				return text
			})
		},
	}
}

// A deviceRow is one line of `tandem web devices`.
type deviceRow struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	May     string    `json:"may"` // all, look, session or nothing
	Session string    `json:"session,omitempty"`
	Added   time.Time `json:"added"`
	Seen    time.Time `json:"seen"`
	Until   time.Time `json:"until,omitzero"`

	PairAgain bool `json:"pair_again,omitempty"` // it has no key yet
}

func deviceAccess(d devices.Device) string {
	switch {
	case d.PairAgain():
		return "nothing"
	case d.Session != "":
		return "session"
	case d.ReadOnly:
		return "look"
	}
	return "all"
}

// access describes the device's access as text.
func (r deviceRow) access() string {
	switch {
	case r.PairAgain:
		return "nothing, pair again"
	case r.Session != "":
		return "see " + r.Session + " until " + r.Until.Local().Format("15:04")
	}
	return r.May
}

func ageText(t time.Time) string { return units.Age(time.Since(t)) + " ago" }

func (v *Commands) revokeCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:     "revoke [DEVICE…]",
		Short:   "Revoke browsers' access to the page",
		Long:    "Revokes browsers' access immediately and closes their connections. DEVICE is an id or a name of\n`tandem web devices`.",
		Example: "tandem web revoke 3f9a2c11\ntandem web revoke --all",
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 && !all:
				return output.Usagef(cmd, "revoke what? Name devices of `tandem web devices`, or give --all.")
			case len(args) > 0 && all:
				return output.Usagef(cmd, "give names or --all, not both")
			}
			return nil
		},
		ValidArgsFunction: v.deviceNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			book, err := openBook()
			if err != nil {
				return err
			}
			gone, err := book.Revoke(args...)
			var not *devices.NotOne
			if errors.As(err, &not) {
				return api.Errorf(api.CodeNotFound, "revoke: %v", not).WithHint("`tandem web devices` lists them")
			}
			if err != nil {
				return err
			}
			rows := make([]string, 0, len(gone))
			for _, d := range gone {
				rows = append(rows, d.ID)
			}
			return output.AnswerList(v.f.Out, rows, "no browser was paired", func() (text string) {
				for _, d := range gone {
					text += fmt.Sprintf("%s, %s, is no longer paired\n", d.ID, output.Visible(d.Name))
				}
				return text
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "revoke all, links and unused codes included")
	return cmd
}

func (v *Commands) deviceNames(_ *cobra.Command, _ []string, _ string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
	book, err := openBook()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	all, _ := book.List() // completion must not print errors into the line
	for _, d := range all {
		found = append(found, cobra.CompletionWithDesc(d.ID, d.Name))
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// drawQR returns a QR code for text, as lines for a terminal.
func drawQR(text string) string {
	_, plain := os.LookupEnv("NO_COLOR")
	lines, err := qr.DrawLines(text)
	if err != nil {
		return "" // the link is enough
	}
	out := ""
	for _, line := range lines {
		if !plain {
			line = qr.PaintLine(line)
		}
		out += line + "\n"
	}
	return out
}
