package browsertest

import (
	"embed"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/coder/websocket"
	"github.com/creack/pty"

	"tandem/engine/api"
)

// The page itself measures what a key costs: from the keydown event to the frame in which its echo
// is painted. The program echo prints each key unchanged. No shell is involved.
const (
	echo    = `stty raw -echo; printf 'ready>'; exec cat`
	probing = `
	globalThis.probe = () => {
		const rows = document.querySelector('.pane.current .xterm-rows') || document.querySelector('.xterm-rows');
		const before = rows.textContent;
		return new Promise((done) => {
			let from = 0;
			addEventListener('keydown', () => { from = performance.now(); }, { capture: true, once: true });
			const seen = new MutationObserver(() => {
				if (!from || rows.textContent === before) return;
				seen.disconnect(); // in the middle of a frame: what is posted now comes once it is painted
				const painted = new MessageChannel();
				painted.port1.onmessage = () => done(performance.now() - from);
				painted.port2.postMessage(0);
			});
			seen.observe(rows, { subtree: true, childList: true, characterData: true });
		});
	};`
)

// keyTimes types n keys, one at a time, and returns the time each one took, in milliseconds.
func (p *tab) keyTimes(n int) (times []float64) {
	p.Helper()
	p.script(probing)
	p.do(command(page.BringToFront, cdp.Empty{}))
	for i := range n {
		// At another moment of a frame each time.
		p.do(chromedp.Evaluate[chromedp.Void](`new Promise((done) => { setTimeout(() => { globalThis.took = probe(); done(); }, Math.random() * 17); })`, chromedp.EvalAwaitPromise))
		p.keys(string(rune('a' + i%26)))
		times = append(times, value[float64](p, `globalThis.took`))
	}
	slices.Sort(times)
	return times
}

func percentile(sorted []float64, p int) float64 {
	return sorted[min(len(sorted)*p/100, len(sorted)-1)]
}

//go:embed testdata/bare.html
var bare embed.FS

// bareTerminal serves a page with nothing but xterm.js, connected to a PTY over a WebSocket.
func bareTerminal(b *testing.B) *httptest.Server {
	b.Helper()
	mux := http.NewServeMux()
	mux.Handle("GET /vendor/", http.StripPrefix("/vendor/", http.FileServer(http.Dir("../files/vendor"))))
	mux.Handle("GET /", http.StripPrefix("/", http.FileServerFS(bare)))
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("GET /pty", func(w http.ResponseWriter, r *http.Request) {
		if err := serveTerminal(w, r); err != nil {
			b.Logf("the bare terminal: %v", err)
		}
	})
	s := httptest.NewServer(mux)
	b.Cleanup(s.Close)
	return s
}

func serveTerminal(w http.ResponseWriter, r *http.Request) error {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return err
	}
	defer conn.CloseNow()
	cmd := exec.CommandContext(r.Context(), "sh", "-c", echo)
	master, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 100, Rows: 30})
	if err != nil {
		return err
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		master.Close()
	}()
	stream := websocket.NetConn(r.Context(), conn, websocket.MessageBinary)
	go func() { _, _ = io.Copy(stream, master) }() // until the browser goes
	_, _ = io.Copy(master, stream)
	return nil
}

// BenchmarkPageKeys types in the page and in a bare terminal, alternately.
func BenchmarkPageKeys(b *testing.B) {
	m := newMachine(b)
	m.run("new", "--name", "echo", "--", "sh", "-c", echo)
	p := m.paired(b, m.code, chromedp.EmulateViewport(1000, 700))
	p.session("echo")
	p.shows("ready>")
	server := bareTerminal(b)
	plain := m.tab(b, chromedp.EmulateViewport(1000, 700))
	plain.do(chromedp.Navigate(server.URL + "/testdata/bare.html"))
	plain.until(`document.querySelector('.xterm-rows')?.textContent.includes('ready>')`)
	var ours, theirs []float64
	for b.Loop() {
		p.script(`document.querySelector('.pane.current .xterm-helper-textarea').focus()`)
		ours = append(ours, p.keyTimes(50)...)
		theirs = append(theirs, plain.keyTimes(50)...)
	}
	report(b, ours, theirs)
}

// opened measures the time from the start of loading until a page shows a prompt and has the
// keyboard focus.
const opened = `
	globalThis.opened = new Promise((done) => {
		const look = () => {
			if (document.querySelector('.xterm-rows')?.textContent.includes('ready>') && document.activeElement?.className.includes('xterm-helper-textarea')) done(performance.now());
			else requestAnimationFrame(look);
		};
		look();
	});`

// openTimes loads a page again and again.
func (p *tab) openTimes(n int) (times []float64) {
	p.Helper()
	p.do(command(page.BringToFront, cdp.Empty{}))
	for range n {
		p.do(chromedp.Reload())
		times = append(times, value[float64](p, `globalThis.opened`))
	}
	return times
}

// BenchmarkPageOpens loads the page in a paired browser and a bare terminal, alternately. Each load
// ends when the prompt is shown and has the keyboard focus.
func BenchmarkPageOpens(b *testing.B) {
	m := newMachine(b)
	m.run("new", "--name", "echo", "--", "sh", "-c", echo)
	p := m.paired(b, m.code, chromedp.EmulateViewport(1000, 700))
	p.session("echo")
	p.shows("ready>")
	server := bareTerminal(b)
	plain := m.tab(b, chromedp.EmulateViewport(1000, 700))
	plain.do(chromedp.Navigate(server.URL + "/testdata/bare.html"))
	for _, t := range []*tab{p, plain} {
		t.do(command(page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: opened}))
	}
	var ours, theirs []float64
	for b.Loop() {
		ours = append(ours, p.openTimes(5)...)
		theirs = append(theirs, plain.openTimes(5)...)
	}
	report(b, ours, theirs)
}

// report compares the page with a bare terminal.
func report(b *testing.B, ours, theirs []float64) {
	slices.Sort(ours)
	slices.Sort(theirs)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(percentile(ours, 50), "page-ms")
	b.ReportMetric(percentile(ours, 95), "page-p95-ms")
	b.ReportMetric(percentile(theirs, 50), "bare-ms")
	b.ReportMetric(percentile(theirs, 95), "bare-p95-ms")
	b.ReportMetric(percentile(ours, 50)/percentile(theirs, 50), "ratio")
}

// BenchmarkPageFlood types in one session while another prints without end, and while the page
// shows a process's log of 100 MB.
func BenchmarkPageFlood(b *testing.B) {
	m := newMachine(b)
	ids := map[string]string{
		"echo":  m.run("new", "--name", "echo", "--", "sh", "-c", echo),
		"flood": m.run("new", "--name", "flood", "--", "yes", "a line of a program that prints without end"),
	}
	m.run("start", "--name", "log", "--log-limit", "200M", "--", "sh", "-c", "yes 'a line of a long log' | head -c 100000000; exec sleep 100000")
	call(m, "cli", api.LayoutChanges, api.LayoutChangeInput{Changes: []api.LayoutChange{{Do: api.LayoutArrange, Nodes: []api.LayoutNode{
		{Axis: api.AxisBeside, Share: 5000}, {ID: ids["flood"], Name: "flood"}, {ID: ids["echo"], Name: "echo"},
	}}}})
	p := m.paired(b, m.code)
	p.click("#tab-processes")
	p.until(`document.querySelector('tbody tr')`)
	p.click("tbody tr button")
	p.until(`document.querySelector('.log').textContent.length > 100000`)
	p.click("#tab-sessions")
	p.session("echo")
	p.until(`document.querySelectorAll('.split.beside .pane').length === 2`)
	p.shows("ready>")
	p.script(`document.querySelector('.pane.current .xterm-helper-textarea').focus()`)
	var took []float64
	for b.Loop() {
		took = append(took, p.keyTimes(50)...)
	}
	slices.Sort(took)
	heap := value[float64](p, `performance.memory.usedJSHeapSize / 1e6`)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(percentile(took, 50), "key-ms")
	b.ReportMetric(percentile(took, 95), "key-p95-ms")
	b.ReportMetric(heap, "tab-MB")
	b.ReportMetric(m.engineMemory(), "engine-MB")
}

// engineMemory returns the engine's anonymous memory in megabytes.
func (m *machine) engineMemory() float64 {
	m.Helper()
	info := call(m, "cli", api.EngineInfo, api.Empty{})
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", info.EnginePID))
	if err != nil {
		m.Fatal(err)
	}
	own, _, _ := strings.Cut(strings.TrimSpace(after(string(text), "RssAnon:")), " ")
	kilobytes, err := strconv.ParseFloat(own, 64)
	if err != nil {
		m.Fatal(err)
	}
	return kilobytes / 1000
}

func after(text, mark string) string {
	_, rest, _ := strings.Cut(text, mark)
	return rest
}
