package web

import (
	"context"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"tandem/engine/api"
	webpage "tandem/engine/page"
	"tandem/engine/page/background"
	"tandem/engine/page/devices"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/text"
	"tandem/panes/panestest"
)

// openDialog opens the dialog without its link. arrive delivers the link, or the error.
func openDialog(env *panestest.Env, link background.Link, err error) (arrive func()) {
	shown := &page{env: env, loading: true}
	env.Ask(shown)
	return func() { shown.storeLink(link, err) }
}

// A fakeEngine runs the process that serves the page.
type fakeEngine struct {
	*panestest.Engine
	dir     string
	old     []api.Process // processes of earlier calls
	log     string        // if not empty, the process exits with this output instead of serving
	started []api.ProcessStartInput
	removed []string
}

func newFakeEngine(t *testing.T) *fakeEngine {
	e := &fakeEngine{Engine: panestest.NewEngine(), dir: t.TempDir()}
	panestest.On(e.Engine, api.EngineInfo, func(context.Context, api.Empty) (api.Info, error) { return api.Info{DataDir: e.dir}, nil })
	panestest.On(e.Engine, api.ProcessList, func(context.Context, api.ProcessListInput) (api.ProcessListOutput, error) {
		return api.ProcessListOutput{Processes: e.old}, nil
	})
	panestest.On(e.Engine, api.ProcessStart, func(_ context.Context, in api.ProcessStartInput) (api.Process, error) {
		e.started = append(e.started, in)
		if e.log == "" {
			servePage(t, e.dir)
		}
		return api.Process{ID: "p1"}, nil
	})
	panestest.On(e.Engine, api.ProcessGet, func(_ context.Context, in api.IDInput) (api.Process, error) {
		p := api.Process{ID: in.ID, State: api.StateRunning}
		if e.log != "" {
			p.State, p.ExitedAt = api.StateExited, &time.Time{}
		}
		return p, nil
	})
	panestest.On(e.Engine, api.ProcessLog, func(context.Context, api.ProcessLogInput) (api.ProcessLogOutput, error) {
		return api.ProcessLogOutput{Data: e.log}, nil
	})
	panestest.On(e.Engine, api.ProcessStop, func(_ context.Context, in api.ProcessStopInput) (api.Process, error) {
		e.removed = append(e.removed, "stop "+in.ID)
		return api.Process{ID: in.ID}, nil
	})
	panestest.On(e.Engine, api.ProcessRemove, func(_ context.Context, in api.IDInput) (api.Empty, error) {
		e.removed = append(e.removed, in.ID)
		return api.Empty{}, nil
	})
	return e
}

// servePage serves the page of a data directory until the test ends.
func servePage(t *testing.T, dir string) {
	at, err := webpage.Listen(t.Context(), webpage.Where{DataDir: dir})
	if err != nil {
		t.Error(err)
		return
	}
	p := webpage.New(webpage.Options{Book: devices.Open(dir), Origin: at.Origin, Log: io.Discard})
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- webpage.Serve(ctx, dir, at, p) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

// runShowLink opens the dialog and delivers its link.
func runShowLink(env *panestest.Env) {
	link, _ := ShowLink(env)().(panes.Result)
	answer, _ := link()().(dialog.Answer)
	answer.Do()
}

func TestLinkStartsThePageOnce(t *testing.T) {
	e := newFakeEngine(t)
	env := &panestest.Env{API: e}
	runShowLink(env)
	if len(e.started) != 1 {
		t.Fatalf("started %+v, said %q", e.started, env.Said)
	}
	in := e.started[0]
	if in.Name != "tandem-web" || !in.KeepAlive || !slices.Equal(in.Command[1:], []string{"web", "--no-link"}) || in.Env["TANDEM_DATA_DIR"] != e.dir {
		t.Errorf("started %+v", in)
	}
	link := regexp.MustCompile(`http://127\.0\.0\.1:[0-9]+/#[A-Z2-7]{16}`)
	first := link.FindString(drawText(t, env, 80, 24))
	if text := drawText(t, env, 80, 50); !strings.Contains(text, "Runs as process tandem-web; `tandem stop tandem-web` stops it.") {
		t.Errorf("the dialog does not name its process:\n%s", text)
	}
	env.Close()
	runShowLink(env)
	second := link.FindString(drawText(t, env, 80, 24))
	if len(e.started) != 1 {
		t.Errorf("started again: %+v", e.started)
	}
	page, _, _ := strings.Cut(first, "#")
	if first == "" || first == second || !strings.HasPrefix(second, page+"#") {
		t.Errorf("links %q and %q, want two to one page", first, second)
	}
}

func TestLinkReplacesAProcessThatDoesNotServe(t *testing.T) {
	e := newFakeEngine(t)
	e.old = []api.Process{
		{ID: "p8", Name: "tandem-web", Kind: api.KindProcess, State: api.StateRunning},
		{ID: "p9", Name: "tandem-web", Kind: api.KindProcess, State: api.StateExited},
		{ID: "s1", Name: "tandem-web", Kind: api.KindSession, State: api.StateRunning},
		{ID: "box/p7", Name: "tandem-web", Kind: api.KindProcess, State: api.StateRunning},
	}
	env := &panestest.Env{API: e}
	runShowLink(env)
	if want := []string{"stop p8", "p8", "p9"}; !slices.Equal(e.removed, want) || len(e.started) != 1 {
		t.Errorf("removed %q, want %q; started %+v", e.removed, want, e.started)
	}
}

func TestDialogReportsWhyThePageExited(t *testing.T) {
	for log, want := range map[string]string{
		"tandem: listen on 127.0.0.1:80: permission denied\nrun it as root\n": "listen on 127.0.0.1:80: permission denied",
		"starting\nout of memory\n": "out of memory",
	} {
		e := newFakeEngine(t)
		e.log = log
		env := &panestest.Env{API: e}
		runShowLink(env)
		if env.Shown != nil || !env.SaidBad || env.Said != "open in browser: serve the page in the background: "+want {
			t.Errorf("%q: said %q, want %q", log, env.Said, want)
		}
		if !slices.Equal(e.removed, []string{"p1"}) {
			t.Errorf("%q: removed %q, want the process that has exited", log, e.removed)
		}
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
	arrive := openDialog(env, background.Link{URL: "https://192.0.2.7:8800/#ABCDEFGHIJKLMNOP"}, nil)
	if text := drawText(t, env, 80, 24); !strings.Contains(text, "Starting tandem web") {
		t.Errorf("shown:\n%s", text)
	}
	if env.Shown.Do(env, keymap.Accept); env.Copied != "" || env.Shown == nil {
		t.Errorf("before there is a link enter copies %q", env.Copied)
	}
	arrive()
	for size, parts := range map[[2]int][]string{
		{120, 36}: {"https://192.0.2.7:8800/#ABCDEFGHIJKLMNOP", "█▀▀▀▀▀█", "pairs one browser"},
		{80, 24}:  {"https://192.0.2.7:8800/#ABCDEFGHIJKLMNOP", "█▀▀▀▀▀█", "pairs one browser"},
		{80, 16}:  {"https://192.0.2.7:8800/#ABCDEFGHIJKLMNOP", "No room for its QR code", "pairs one browser"},
		{40, 30}:  {"https://192.0.2.7:8800/", "pairs one"},
	} {
		text := drawText(t, env, size[0], size[1])
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("%v: %q is missing in\n%s", size, part, text)
			}
		}
	}
	if env.Shown.Do(env, keymap.Accept); env.Copied != "https://192.0.2.7:8800/#ABCDEFGHIJKLMNOP" || env.Shown == nil {
		t.Errorf("enter copies %q", env.Copied)
	}
	if env.Shown.Do(env, keymap.Cancel); env.Shown != nil {
		t.Error("esc leaves it open")
	}
}

func TestLinkThatNoPhoneCanOpenHasNoQRCode(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "[::1]", "localhost"} {
		env := &panestest.Env{}
		openDialog(env, background.Link{URL: "http://" + host + ":8800/#ABCDEFGHIJKLMNOP"}, nil)()
		shown := drawText(t, env, 120, 36)
		if strings.ContainsAny(shown, "█▀▄") || !strings.Contains(shown, "For a phone") || !strings.Contains(shown, "--listen 0.0.0.0:8800") {
			t.Errorf("shown:\n%s", shown)
		}
	}
}

func TestDialogShowsAnUnknownCertificate(t *testing.T) {
	env := &panestest.Env{}
	openDialog(env, background.Link{URL: "https://192.0.2.7:8800/#ABCDEFGHIJKLMNOP", Fingerprint: strings.Repeat("0F", 32)}, nil)()
	text := drawText(t, env, 120, 36)
	if strings.Count(text, strings.Repeat("0F", 16)) != 2 || strings.Contains(text, "This machine only") {
		t.Errorf("shown:\n%s", text)
	}
}

func TestDialogReportsWhyThereIsNoLink(t *testing.T) {
	env := &panestest.Env{}
	openDialog(env, background.Link{}, errors.New("serve the page in the background: no"))()
	if env.Shown != nil || env.Said != "open in browser: serve the page in the background: no" {
		t.Errorf("message: %q", env.Said)
	}
}

// holdLinks makes the engine's calls for a link wait. Each call sends a channel; the test answers
// the call by sending its error, or nil, to that channel.
func holdLinks(e *fakeEngine) <-chan chan error {
	calls := make(chan chan error)
	panestest.On(e.Engine, api.EngineInfo, func(context.Context, api.Empty) (api.Info, error) {
		outcome := make(chan error)
		calls <- outcome
		return api.Info{DataDir: e.dir}, <-outcome
	})
	return calls
}

func TestHintsOfferTheLinkOnceItArrives(t *testing.T) {
	e := newFakeEngine(t)
	calls := holdLinks(e)
	env := &panestest.Env{API: e}
	d := panestest.DriveDialogs(t, env, 100, 30)
	d.Run(ShowLink(env))
	d.WaitText("esc close")
	d.WaitNoText("copy the link")
	outcome := <-calls
	outcome <- nil
	d.WaitText("enter copy the link")
	d.CheckRows()
}

func TestLateErrorOfAClosedDialogIsDropped(t *testing.T) {
	e := newFakeEngine(t)
	calls := holdLinks(e)
	env := &panestest.Env{API: e}
	d := panestest.DriveDialogs(t, env, 100, 30)
	d.Run(ShowLink(env))
	closed := <-calls
	d.Press("esc")
	d.Run(ShowLink(env))
	open := <-calls
	closed <- errors.New("too late")
	open <- nil
	d.WaitText("enter copy the link")
	if env.Said != "" {
		t.Errorf("said %q", env.Said)
	}
}
