// Package browsertest tests the page in a real browser with a real engine.
package browsertest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"tandem/tests/needs"
	"tandem/tests/places"
)

// patience is how long a test waits for something on a busy machine before it fails.
const patience = 60 * time.Second

// A machine is a data folder with an engine, the server of its page, and a browser.
type machine struct {
	testing.TB
	tandem string
	env    []string
	dir    string
	url    string // of the page
	code   string // of the first link
	stop   func() // ends the page
	chrome context.Context
}

func newMachine(t testing.TB) *machine {
	t.Helper()
	browser := needs.Program(t, "chromium", "chromium", "chromium-browser", "google-chrome", "chrome")
	places.Take(t)
	dir, err := os.MkdirTemp("", "td") // short, for the socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	m := &machine{TB: t, dir: dir, tandem: filepath.Join(dir, "tandem")}
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", m.tandem, "tandem").CombinedOutput(); err != nil {
		t.Fatalf("build tandem: %v: %s", err, out)
	}
	m.env = []string{"TANDEM_DATA_DIR=" + dir + "/d", "XDG_CONFIG_HOME=" + dir + "/c", "HOME=" + dir, "SHELL=/bin/sh", "PS1=ready> ", "ENV=",
		"TERM=xterm-256color", "LANG=C.UTF-8", "PATH=" + os.Getenv("PATH")}
	t.Cleanup(func() { m.run("shutdown", "--all", "--yes") })
	m.serve("127.0.0.1:0")
	m.open(browser)
	return m
}

// run runs a verb and gives what it prints.
func (m *machine) run(args ...string) string {
	m.Helper()
	cmd := exec.Command(m.tandem, args...)
	cmd.Env, cmd.Dir = m.env, m.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		m.Errorf("tandem %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// serve runs `tandem web` until the test ends or stops it.
func (m *machine) serve(address string) {
	m.Helper()
	cmd := exec.Command(m.tandem, "web", "--listen", address)
	cmd.Env, cmd.Dir, cmd.Stderr = m.env, m.dir, os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		m.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		m.Fatal(err)
	}
	m.stop = sync.OnceFunc(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	m.Cleanup(m.stop)
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		m.Fatal("tandem web prints nothing")
	}
	url, code, ok := strings.Cut(lines.Text(), "#")
	if !ok {
		m.Fatalf("tandem web prints %q first", lines.Text())
	}
	m.url, m.code = url, code
	go func() {
		for lines.Scan() { // until it ends
		}
	}()
}

// open starts the browser, in a process group of its own that ends with the test.
func (m *machine) open(path string) {
	m.Helper()
	var group int
	var cmd *exec.Cmd
	temp, err := os.MkdirTemp("/tmp", "td") // Chrome's socket needs a short path, whatever TMPDIR is
	if err != nil {
		m.Fatal(err)
	}
	m.Cleanup(func() { os.RemoveAll(temp) })
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.UserDataDir(filepath.Join(m.dir, "browser")), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Env("TMPDIR=" + temp), // Chrome leaves temporary folders behind when it is killed
		chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true), chromedp.WindowSize(1200, 800), chromedp.WSURLReadTimeout(patience),
		chromedp.ModifyCmdFunc(func(c *exec.Cmd) {
			c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
			cmd = c
		}),
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, closeBrowser := chromedp.NewContext(ctx)
	m.Cleanup(func() {
		closeBrowser()
		cancel()
		if group > 0 {
			_ = syscall.Kill(-group, syscall.SIGKILL) // helpers that are left
		}
	})
	if err := chromedp.Do(ctx); err != nil {
		m.Fatal(err)
	}
	group = cmd.Process.Pid
	m.chrome = ctx
}

// A tab is the only tab of a browser context. It shares no cookies with other tabs.
type tab struct {
	*machine
	ctx context.Context

	mu       sync.Mutex
	problems []string
}

// tab opens a tab. The test fails if the page logs an error, violates its content security policy
// or throws an exception.
func (m *machine) tab(t testing.TB, options ...chromedp.Action[chromedp.Void]) *tab {
	t.Helper()
	own := *m
	own.TB = t
	p := &tab{machine: &own}
	ctx, cancel := chromedp.NewContext(m.chrome, chromedp.WithNewBrowserContext(), chromedp.WithListener(p.hear))
	p.ctx = ctx
	if err := chromedp.Do(ctx); err != nil { // the first gets no deadline: the tab ends with it
		t.Fatal(err)
	}
	p.do(options...)
	t.Cleanup(func() {
		p.quiet()
		cancel()
	})
	return p
}

func (p *tab) hear(event any) {
	problem := ""
	switch e := event.(type) {
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			problem = fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	case *runtime.EventExceptionThrown:
		problem = "exception: " + fmt.Sprint(e.ExceptionDetails)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError {
			text, _ := json.Marshal(e.Args)
			problem = "console: " + string(text)
		}
	}
	if problem != "" {
		p.mu.Lock()
		p.problems = append(p.problems, problem)
		p.mu.Unlock()
	}
}

// quiet fails the test for each problem the browser has reported since the last call. It ignores
// problems with one of the texts in expected, such as requests that are refused on purpose.
func (p *tab) quiet(expected ...string) {
	p.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, problem := range p.problems {
		if !containsAny(problem, expected) {
			p.Errorf("the browser complains: %s", problem)
		}
	}
	p.problems = nil
}

func containsAny(text string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.Fatal(err)
	}
}

// command is one of the browser's own protocol.
func command[In, Out any](c cdp.Command[In, Out], in In) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, in)
		return err
	})
}

// value returns the value of an expression in the page. If the value is a promise, it waits for the
// result.
func value[T any](p *tab, expr string) T {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expr, chromedp.EvalAwaitPromise))
	if err != nil {
		p.Fatalf("%s: %v", expr, err)
	}
	return v
}

// script does what an expression says.
func (p *tab) script(expr string) {
	p.Helper()
	p.do(chromedp.Evaluate[chromedp.Void](expr))
}

// until waits until an expression is true.
func (p *tab) until(expr string) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	var err error
	for ctx.Err() == nil {
		var ok bool
		if ok, err = chromedp.Run(ctx, chromedp.Evaluate[bool]("Promise.resolve("+expr+").then(Boolean)", chromedp.EvalAwaitPromise)); ok {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
	text, _ := chromedp.Run(p.ctx, chromedp.Evaluate[string](`document.body.innerText`)) // the failure is told
	p.Fatalf("wait for %s: %v; the page shows:\n%s", expr, err, text)
}

// click clicks what a selector finds.
func (p *tab) click(selector string) {
	p.Helper()
	p.do(chromedp.Click(chromedp.CSS(selector)))
}

// keys types text as a keyboard does: a key that the page handles itself inserts no text.
func (p *tab) keys(text string) {
	p.Helper()
	for _, r := range text {
		typed := ""
		for _, k := range kb.Encode(r) {
			if k.Type == kb.KeyChar {
				typed = k.Text
			}
		}
		for _, k := range kb.Encode(r) {
			switch k.Type {
			case kb.KeyChar:
				continue
			case kb.KeyDown:
				k.Text = typed
			}
			p.do(func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
				_, err := cdp.Call(ctx, t, input.DispatchKeyEvent, *k)
				return chromedp.Void{}, err
			})
		}
	}
}

// shows waits until the current pane's terminal shows text.
func (p *tab) shows(text string) {
	p.Helper()
	p.until(`(document.querySelector('.pane.current .xterm-rows')?.textContent || '').replaceAll('\u00a0', ' ').includes(` + quoted(text) + `)`)
}

func quoted(text string) string {
	out, _ := json.Marshal(text) // a string always has one
	return string(out)
}

// paired opens the page with a link.
func (m *machine) paired(t testing.TB, code string, options ...chromedp.Action[chromedp.Void]) *tab {
	t.Helper()
	p := m.tab(t, options...)
	p.do(chromedp.Navigate(m.at(code)))
	p.until(`document.querySelector('.page')`)
	return p
}

// at is the address of a link.
func (m *machine) at(code string) string {
	if strings.Contains(code, "#") { // of one session
		return m.url + code
	}
	return m.url + "#" + code
}

// pageAPI is what a page asks its server with.
const pageAPI = `import(new URL('api.js', document.querySelector('script[type=module]').src))`

// link returns a new link from `tandem web`: the code for the page, or the path of a link to a
// session with its code.
func (m *machine) link(args ...string) string {
	m.Helper()
	var out struct{ URL string }
	text := m.run(append([]string{"--json", "web"}, args...)...)
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		m.Fatalf("tandem web %v answers %s", args, text)
	}
	return strings.TrimPrefix(strings.TrimPrefix(out.URL, m.url), "#")
}
