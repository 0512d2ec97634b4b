package browsertest

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"tandem/engine/api"
)

var pictures = flag.String("pictures", "", "make the pictures of the documentation in this `folder`")

// TestPicturesAreMade makes the screenshots of the page in README.md and docs/web.md from the
// running program. It runs only with a directory for them: go test ./engine/page/browsertest -run
// Pictures -pictures DIR
func TestPicturesAreMade(t *testing.T) {
	if *pictures == "" {
		return
	}
	m := newMachine(t)
	m.write("c/tandem/policy.toml", "default = \"ask\"\nask_timeout = \"10m\"\n")
	m.write(".bashrc", `PS1='\[\e[32m\]\w\[\e[0m\] $ '`)
	if err := os.CopyFS(m.dir, os.DirFS("../../../docs/pictures/demo")); err != nil {
		t.Fatal(err)
	}
	ids := map[string]string{}
	for _, name := range []string{"shop", "tests"} {
		ids[name] = m.run("new", "--name", name, "--cwd", filepath.Join(m.dir, "shop"), "--", "bash")
	}
	m.run("start", "--name", "web", "--keep-alive", "--", "python3", "-u", "-m", "http.server", "0", "--bind", "127.0.0.1")
	m.run("start", "--name", "worker", "--keep-alive", "--cwd", m.dir, "--", "bash", "worker.sh")
	m.run("start", "--name", "deploy", "--", "sh", "-c", "echo deploying to staging; exit 7")
	call(m, "cli", api.LayoutChanges, api.LayoutChangeInput{Changes: []api.LayoutChange{{Do: api.LayoutArrange, Nodes: []api.LayoutNode{
		{Axis: api.AxisBeside, Share: 6000}, {ID: ids["shop"], Name: "shop"}, {ID: ids["tests"], Name: "tests"},
	}}}})
	agent := m.engine("agent:claude/2.1")
	defer agent.Close()
	go func() {
		_ = askToRun(t.Context(), agent, "git push --force-with-lease origin main", "/home/ann/shop") // nobody answers
	}()

	dark := command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
	desktop := m.paired(t, m.code, chromedp.EmulateViewport(1180, 640), dark)
	for name, typed := range map[string][2]string{"tests": {"bash ../tests.sh", "ok"}, "shop": {"head -14 server.go.txt; ls --color", "web"}} {
		desktop.session(name)
		desktop.until(`document.querySelectorAll('.split.beside .pane').length === 2`)
		desktop.shows("~/shop $")
		desktop.script(`document.querySelector('.pane.current .xterm-helper-textarea').focus()`)
		desktop.keys(typed[0] + "\r")
		desktop.shows(typed[1])
	}
	desktop.session("shop")
	desktop.until(`document.querySelector('#tab-requests .badge').textContent === '1'`)
	desktop.picture("page-sessions")
	desktop.click("#tab-processes")
	desktop.until(`[...document.querySelectorAll('tbody tr')].filter((e) => /MB/.test(e.textContent)).length === 2`)
	desktop.script(`[...document.querySelectorAll('tbody button')].find((e) => e.textContent === 'worker').click()`)
	desktop.until(`document.querySelector('.log').textContent.includes('order 4718: packed')`)
	desktop.picture("page-processes")

	phone := m.paired(t, m.link(), chromedp.EmulateViewport(390, 700, chromedp.EmulateScale(2), chromedp.EmulateMobile, chromedp.EmulateTouch), dark)
	phone.click("#tab-requests")
	phone.until(`document.querySelector('.asked pre')`)
	phone.picture("page-phone")
}

// picture writes what the tab shows.
func (p *tab) picture(name string) {
	p.Helper()
	p.do(command(page.BringToFront, cdp.Empty{}), chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		out, err := cdp.Call(ctx, t, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatPng})
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(*pictures, name+".png"), out.Data, 0o644)
	}))
}
