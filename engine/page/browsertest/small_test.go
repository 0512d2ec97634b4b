package browsertest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"tandem/engine/api"
)

func renaming(m *machine, t *testing.T) {
	p := m.paired(t, m.link())
	p.session("numbers")
	p.click(".pane.current > header .name")
	p.until(`document.activeElement.matches('dialog input[name=name]')`)
	p.script(`document.activeElement.select()`)
	p.keys("figures\r")
	p.until(rowOf("figures"))
	p.until(`document.querySelector('.pane.current > header .name').textContent === 'figures'`)
	call(m, "cli", api.SessionRename, api.SessionRenameInput{ID: "figures", Name: "numbers"})
	p.until(rowOf("numbers"))
}

// reloading checks that the page shows the same session, view and process again after a reload.
func reloading(m *machine, t *testing.T) {
	p := m.paired(t, m.link())
	for _, name := range []string{"numbers", "shop"} {
		p.session(name)
		p.reload()
		p.until(`document.querySelector('.pane.current > header .name')?.textContent === ` + quoted(name))
	}
	p.click("#tab-processes")
	p.click("tbody tr button")
	p.reload()
	p.until(`document.querySelector('#tab-processes').getAttribute('aria-current')`)
	p.until(`document.querySelector('.log')?.textContent.includes('listening')`)
	m.run("new", "--name", "brief", "--", "cat")
	p.session("brief")
	m.run("kill", "brief")
	m.run("rm", "brief")
	p.reload()
	p.until(`/^(shop|numbers)$/.test(document.querySelector('.pane.current > header .name')?.textContent)`)
}

// reload loads the page again and waits until it knows its sessions.
func (p *tab) reload() {
	p.Helper()
	p.script(`globalThis.loadedBefore = true; location.reload()`)
	p.until(`!globalThis.loadedBefore && document.querySelector('.sessions li')`)
}

// swiping checks that a finger moved along the title at the top switches between sessions.
func swiping(m *machine, t *testing.T) {
	p := m.paired(t, m.link(), chromedp.EmulateViewport(390, 844, chromedp.EmulateScale(2), chromedp.EmulateMobile, chromedp.EmulateTouch))
	p.click(".sheet")
	p.until(rowOf("shop"))
	p.script(rowOf("shop") + ".click()")
	title := func(name string) { p.until(`document.querySelector('.top .title').textContent === ` + quoted(name)) }
	title("shop")
	at := value[[]float64](p, `(({ left, top, width, height }) => [left + width / 2, top + height / 2])(document.querySelector('.top .title').getBoundingClientRect())`)
	swipe := func(by float64) {
		p.touch("touchStart", &input.TouchPoint{X: at[0], Y: at[1]})
		p.touch("touchMove", &input.TouchPoint{X: at[0] + by, Y: at[1] + 3})
		p.touch("touchEnd")
	}
	swipe(-100)
	title("numbers")
	swipe(20) // too short to be one
	swipe(100)
	title("shop")
}

func (p *tab) touch(kind input.DispatchTouchEventType, points ...*input.TouchPoint) {
	p.Helper()
	p.do(command(input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points}))
}

func installing(m *machine, t *testing.T) {
	p := m.paired(t, m.link())
	p.until(`navigator.serviceWorker.controller`)
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		out, err := cdp.Call(ctx, t, page.GetInstallabilityErrors, cdp.Empty{})
		for _, e := range out.InstallabilityErrors {
			if e.ErrorID != "in-incognito" { // as each tab of these tests is
				p.Errorf("it cannot be installed: %s %v", e.ErrorID, e.ErrorArguments)
			}
		}
		return err
	}))
}

// machines adds another machine, which is another data folder here, and uses it from the page.
func machines(m *machine, t *testing.T) {
	other := filepath.Join(m.dir, "o")
	m.write("box", "#!/bin/sh\nexec env TANDEM_DATA_DIR="+other+" "+m.tandem+" bridge\n")
	if err := os.Chmod(filepath.Join(m.dir, "box"), 0o700); err != nil {
		t.Fatal(err)
	}
	m.run("machine", "add", "box", "--", filepath.Join(m.dir, "box"))
	t.Cleanup(func() {
		m.run("machine", "remove", "box")
		stop := exec.Command(m.tandem, "shutdown", "--all", "--yes")
		stop.Env = append(m.env, "TANDEM_DATA_DIR="+other)
		if out, err := stop.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	m.run("--host", "box", "new", "--name", "there", "--", "cat")
	p := m.paired(t, m.link())
	p.click("#tab-machines")
	p.until(`/^box.*connected · (<1|\d+) ms · /.test([...document.querySelectorAll('.machines li')].map((e) => e.children[1].textContent + ' ' + e.children[2].textContent).at(-1))`)
	p.click(".machines li:last-child button")
	p.until(rowOf("there"))
	p.click("#tab-processes")
	p.reload()
	p.until(`document.querySelector('#tab-processes').getAttribute('aria-current') && ` + rowOf("there"))
	p.click("#tab-machines")
	p.until(`document.querySelector('.machines li:last-child .state').textContent === 'shown here now'`)
	p.click(".machines li:first-child button")
	p.until(rowOf("shop"))
}
