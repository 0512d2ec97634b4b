package browsertest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/renameio/v2"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/tests/needs"
)

// TestPageWorksInABrowser tests the page in a real browser with a real engine. All parts share one
// of each, because starting them takes the longest.
func TestPageWorksInABrowser(t *testing.T) {
	needs.FullRun(t)
	m := newMachine(t)
	m.write("c/tandem/policy.toml", "default = \"ask\"\nask_timeout = \"10m\"\n")
	m.run("new", "--name", "shop", "--", "sh")
	m.run("new", "--name", "numbers", "--", "sh", "-c", "seq -f 'line %g' 1 300; exec cat")
	m.run("start", "--name", "server", "--", "sh", "-c", "echo listening; exec sleep 1000")
	for _, part := range []struct {
		name string
		test func(m *machine, t *testing.T)
	}{
		{"PairOpenAndType", pairOpenAndType},
		{"SelectCopyAndSearch", selectCopyAndSearch},
		{"ProgramCopies", programCopies},
		{"ALayoutOfSplits", aLayoutOfSplits},
		{"Processes", processes},
		{"StartedAgainAtOnce", startedAgainAtOnce},
		{"RedrawnLines", redrawnLines},
		{"History", history},
		{"OutputSearch", outputSearch},
		{"ItIsFollowedThroughAKill", itIsFollowedThroughAKill},
		{"Requests", requests},
		{"ALongRequest", aLongRequest},
		{"ByKeyboard", byKeyboard},
		{"Readable", readable},
		{"ReadableOutput", readableOutput},
		{"Notifications", notifications},
		{"OnAPhone", onAPhone},
		{"ALinkToOneSession", aLinkToOneSession},
		{"Strangers", strangers},
		{"Renaming", renaming},
		{"Reloading", reloading},
		{"Drawn", drawn},
		{"PhoneKeyboard", phoneKeyboard},
		{"Swiping", swiping},
		{"Installing", installing},
		{"StateWords", stateWords},
		{"Projects", projects},
		{"ExitedSessions", exitedSessions},
		{"Machines", machines},
		{"Revoking", revoking},
		{"Impostors", impostors}, // which stop the page
	} {
		ok := t.Run(part.name, func(t *testing.T) { part.test(m, t) })
		if !ok {
			break // what follows builds on it
		}
	}
}

func (m *machine) write(name, text string) {
	m.Helper()
	path := filepath.Join(m.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		m.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		m.Fatal(err)
	}
}

// session chooses a session in the list.
func (p *tab) session(name string) {
	p.Helper()
	p.until(rowOf(name))
	p.script(rowOf(name) + ".click()")
	p.until(`document.querySelector('.pane.current > header .name')?.textContent === ` + quoted(name))
}

func rowOf(name string) string {
	return `[...document.querySelectorAll('.sessions li > button:first-child')].find((b) => b.querySelector('.name').textContent === ` + quoted(name) + `)`
}

func pairOpenAndType(m *machine, t *testing.T) {
	p := m.paired(t, m.code)
	p.until(`location.hash === ''`)
	p.until(rowOf("numbers"))
	p.session("shop")
	p.shows("ready>")
	p.keys("echo page $((40 + 2))\r")
	p.shows("page 42")

	before := value[int](p, `document.querySelector('.xterm-rows').childElementCount`)
	p.do(chromedp.EmulateViewport(900, 500))
	p.until(fmt.Sprintf(`document.querySelector('.xterm-rows').childElementCount < %d`, before))
	after := value[int](p, `document.querySelector('.xterm-rows').childElementCount`)
	p.keys("stty size\r")
	p.shows(fmt.Sprintf("%d ", after))
	p.quiet()

	used := m.tab(t)
	used.do(chromedp.Navigate(m.url + "#" + m.code))
	used.until(`document.querySelector('.gate')?.textContent.includes('can be used once')`)
	for _, width := range []int64{390, 1200} {
		used.do(chromedp.EmulateViewport(width, 800))
		used.until(fmt.Sprintf(`innerWidth === %d`, width))
		if problem := value[string](used, `(() => {
			const all = [...document.querySelectorAll('.gate > *')].map((e) => e.getBoundingClientRect());
			const below = all.every((box, i) => !i || box.top >= all[i - 1].bottom);
			const middle = all.every((box) => Math.abs(box.left + box.right - innerWidth) <= 2);
			return below && middle && all.length === 5 ? '' : JSON.stringify(all);
		})()`); problem != "" {
			t.Errorf("%d px wide, the parts of the page are not below one another in the middle: %s", width, problem)
		}
	}
	used.quiet("403")

	// The browser that the link has paired goes on.
	p.do(chromedp.Navigate("about:blank"), chromedp.Navigate(m.url+"#"+m.code))
	p.until(rowOf("numbers"))
	p.until(`location.hash === ''`)
	p.quiet("403")
}

func selectCopyAndSearch(m *machine, t *testing.T) {
	p := m.paired(t, m.link())
	p.session("numbers")
	p.shows("line 300")
	p.do(chromedp.KeyEvent("F", chromedp.KeyModifiers(chromedp.ModifierCtrl, chromedp.ModifierShift)))
	p.until(`document.activeElement === document.querySelector('.pane.current .find input')`)
	p.keys("line 17\r")
	p.until(`/^\d+ of 11$/.test(document.querySelector('.find .count').textContent)`)
	p.shows("line 17") // it scrolled off the screen before the page was opened
	p.script(`navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }`)
	p.click(".find button:last-child")

	p.script(`document.querySelector('.pane.current .xterm-helper-textarea').focus()`)
	at := value[[]float64](p, `(({ left, top, height }) => [left + 10, top + height / 2])(document.querySelector('.pane.current .xterm-rows > div:first-child').getBoundingClientRect())`)
	p.do(chromedp.MouseClickXY(at[0], at[1], chromedp.ClickCount(2)))
	p.do(chromedp.KeyEvent("C", chromedp.KeyModifiers(chromedp.ModifierCtrl, chromedp.ModifierShift)))
	p.until(`globalThis.copied === 'line'`)

	p.session("shop")
	p.shows("ready>")
	p.script(`(() => {
		const data = new DataTransfer();
		data.setData('text/plain', 'echo pasted here');
		document.querySelector('.pane.current .xterm-helper-textarea').dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true }));
	})()`)
	p.shows("echo pasted here")
	p.keys("\r")
}

// programCopies checks that a program's text is put on the clipboard if the configuration allows
// it, and only then.
func programCopies(m *machine, t *testing.T) {
	p := m.paired(t, m.link())
	p.session("shop")
	p.shows("ready>")
	copies := func(encoded, mark string) {
		p.script(`document.querySelector('.pane.current .xterm-helper-textarea').focus(); navigator.clipboard.writeText = async (text) => { (globalThis.copied ||= []).push(text); }`)
		p.keys(`printf '\033]52;c;?\007\033]52;c;=x=\007\033]52;c;` + encoded + `\007'; echo ` + mark + "-$((1+1))\r")
		p.shows(mark + "-2")
	}
	copies("aMOpbGxv", "allowed")
	p.until(`globalThis.copied?.join() === 'héllo'`)
	m.write("c/tandem/config.toml", "clipboard = false\n")
	defer os.Remove(filepath.Join(m.dir, "c/tandem/config.toml"))
	p.reload()
	p.shows("ready>")
	copies("aMOpbGxv", "refused")
	if got := value[string](p, `(globalThis.copied || []).join()`); got != "" {
		t.Errorf("with the clipboard off, %q is copied", got)
	}
}

// call calls an operation of the engine from the test's own client.
func call[In, Out any](m *machine, name string, op api.Operation[In, Out], in In) Out {
	m.Helper()
	c := m.engine(name)
	defer c.Close()
	out, err := op.Call(m.Context(), c, in)
	if err != nil {
		m.Fatal(err)
	}
	return out
}

func (m *machine) engine(name string) *client.Client {
	m.Helper()
	c, err := client.Connect(m.Context(), client.Options{DataDir: filepath.Join(m.dir, "d"), Name: name})
	if err != nil {
		m.Fatal(err)
	}
	return c
}

func aLayoutOfSplits(m *machine, t *testing.T) {
	p := m.paired(t, m.link())
	ids := map[string]string{}
	for _, s := range call(p.machine, "cli", api.ProcessList, api.ProcessListInput{}).Processes {
		ids[s.Name] = s.ID
	}
	call(p.machine, "cli", api.LayoutChanges, api.LayoutChangeInput{Changes: []api.LayoutChange{{Do: api.LayoutArrange, Nodes: []api.LayoutNode{
		{Axis: api.AxisBeside, Share: 6000}, {ID: ids["shop"], Name: "shop"}, {ID: ids["numbers"], Name: "numbers"},
	}}}})
	p.until(`document.querySelectorAll('.split.beside .pane').length === 2`)
	p.session("numbers")
	p.until(`document.querySelectorAll('.split.beside .pane').length === 2`)
	p.shows("line 300")
	tablet := m.paired(t, m.link(), chromedp.EmulateViewport(1200, 800, chromedp.EmulateTouch)) // its size changes no session, so nothing else draws the page anew
	tablet.session("numbers")
	tablet.until(`document.querySelectorAll('.split.beside .pane').length === 2`)
	tablet.do(chromedp.EmulateViewport(400, 800, chromedp.EmulateTouch))
	tablet.until(`document.querySelectorAll('.pane').length === 1`)
	tablet.until(`document.querySelector('.top .title').offsetParent && document.querySelector('.top .title').textContent === 'numbers'`)
	tablet.do(chromedp.EmulateViewport(1200, 800, chromedp.EmulateTouch))
	tablet.until(`document.querySelectorAll('.split.beside .pane').length === 2`)
	call(p.machine, "cli", api.LayoutChanges, api.LayoutChangeInput{Changes: []api.LayoutChange{{Do: api.LayoutArrange, Nodes: []api.LayoutNode{{ID: ids["shop"]}}, Own: api.OwnAfter}}})
	p.until(`document.querySelectorAll('.pane').length === 1`)
}

func processes(m *machine, t *testing.T) {
	p := m.paired(t, m.link())
	p.click("#tab-processes")
	p.until(`document.querySelector('tbody tr')?.textContent.includes('running')`)
	p.until(`/MB|KB/.test(document.querySelector('td.memory').textContent)`)
	p.click("tbody tr button")
	p.until(`document.querySelector('.log').textContent.includes('listening')`)
	p.click(".actions button:last-child")
	p.click("dialog button[type=submit]")
	p.until(`document.querySelector('td.status').textContent === 'stopped'`)
	p.click(".actions button:first-child")
	p.until(`document.querySelector('td.status').textContent === 'running'`)
	p.until(`document.querySelector('.log').textContent.split('listening').length === 3`)
	p.do(chromedp.SendKeys(chromedp.CSS(".logs input[type=search]"), "list.n"))
	p.until(`document.querySelector('.hint').textContent === '2 of 2'`)
}

// The end of a run may arrive after the next run has started.
func startedAgainAtOnce(m *machine, t *testing.T) {
	p := m.paired(t, m.link())
	p.script(`(async () => {
		const { Log } = await import(new URL('log.js', document.querySelector('script[type=module]').src));
		const processes = new Map();
		let answer;
		const call = () => new Promise((resolve) => { answer = resolve; });
		const log = new Log({ api: { call }, store: { processes } });
		const note = (p) => { processes.set('a', { id: 'a', ...p }); log.note(processes.get('a')); };
		const reply = async (o) => {
			answer({ start: 0, dropped: 0, end: o.next_cursor, ...o });
			await new Promise((later) => setTimeout(later));
		};
		note({ state: 'running', started_at: 1 });
		log.show('a');
		await reply({ state: 'running', data: 'one\n', next_cursor: 4 });
		note({ state: 'stopped', started_at: 1 });
		note({ state: 'running', started_at: 2 });
		await reply({ state: 'stopped', data: '', next_cursor: 4 });
		await reply({ state: 'running', data: 'one\ntwo\n', next_cursor: 8 });
		globalThis.logged = log.out.textContent;
	})()`)
	p.until(`globalThis.logged`)
	p.until(`globalThis.logged === 'one\ntwo\n'`)
	p.script(`(async () => {
		const { TerminalView } = await import(new URL('terminal.js', document.querySelector('script[type=module]').src));
		const processes = new Map([['a', { id: 'a', name: 'a', state: 'running', started_at: 2 }]]);
		const view = new TerminalView({ me: {}, store: { processes } }, 'a', { decides: false });
		view.revive = () => { globalThis.revived = true; };
		view.end({ id: 'a', state: 'exited', exit_code: 0, started_at: 1 });
	})()`)
	p.until(`globalThis.revived`)
}

func redrawnLines(m *machine, t *testing.T) {
	m.run("start", "--name", "progress", "--", "printf", `\033[31mERR\033[0mOR split\n1%%\r50%%\r\033[32mdone\033[m\033[K\nabc\b\bX\n\033]8;;http://x\033\\link\033]8;;\033\\\n10%%\r20%%`)
	m.run("wait", "progress", "--exit")
	p := m.paired(t, m.link())
	p.click("#tab-processes")
	const row = `[...document.querySelectorAll('tbody tr')].find((r) => r.textContent.includes('progress'))`
	p.until(row)
	p.script(row + `.querySelector('button').click()`)
	p.until(`document.querySelector('.log').textContent === 'ERROR split\ndone\naXc\nlink\n20%'`)
	p.do(chromedp.SendKeys(chromedp.CSS(".logs input[type=search]"), "^ERROR"))
	p.until(`document.querySelector('.log').textContent === 'ERROR split'`)
	m.run("rm", "progress")
}

func history(m *machine, t *testing.T) {
	m.run("history", "add", "--", "make a-history-entry")
	p := m.paired(t, m.link())
	p.session("shop")
	p.shows("ready>")
	p.click("#tab-history")
	p.do(chromedp.SendKeys(chromedp.CSS(".history input"), "ahist"))
	p.until(`document.querySelectorAll('.commands li').length === 1`)
	p.keys("\r")
	p.shows("make a-history-entry")
	p.keys("\r")

	m.run("history", "add", "--exit", "3", "--", "make a-failure")
	p.click("#tab-history")
	p.until(`(document.querySelector('.history input').value = '') === ''`)
	p.do(chromedp.SendKeys(chromedp.CSS(".history input"), "afailure"))
	p.until(`document.querySelector('.commands .mark.failed')?.textContent === '✗' && /exit 3 .*· you ·/.test(document.querySelector('.commands .about').textContent)`)

	// The shell is dash, which runs each line it gets.
	m.run("history", "add", "--", "echo ran-$((1+1))\ngit lines")
	p.click("#tab-history")
	p.until(`(document.querySelector('.history input').value = '') === ''`)
	p.do(chromedp.SendKeys(chromedp.CSS(".history input"), "gitlines"))
	p.until(`document.querySelector('.commands code')?.textContent.includes('git lines')`)
	p.keys("\r")
	p.until(`document.querySelector('dialog h2')?.textContent === 'Insert several lines at the prompt?'`)
	p.click("dialog button[type=button]")
	p.until(`!document.querySelector('dialog')`)
	if screen := m.run("screen", "shop"); strings.Contains(screen, "ran-") {
		t.Errorf("a line was typed:\n%s", screen)
	}
	p.quiet("Failed to load resource") // the refusal
}

func outputSearch(m *machine, t *testing.T) {
	m.run("start", "--name", "noisy", "--", "sh", "-c", `seq -f 'row %g' 1 150; echo '<b>needle</b> A'; printf '\033[31mneedle\033[0m b\n'; exit 3`)
	m.run("wait", "noisy")
	p := m.paired(t, m.link())
	p.until(rowOf("shop"))
	p.click("#tab-output")
	p.until(`document.activeElement.matches('.output input[type=search]')`)
	p.keys("needle")
	p.until(`document.querySelectorAll('.found summary').length === 2 && document.querySelectorAll('.found .group').length === 1`)
	p.until(`[...document.querySelectorAll('.found summary')].map((e) => e.textContent).join('|') === 'needle b|<b>needle</b> A'`)
	p.until(`document.querySelector('.found summary mark').textContent === 'needle'`)
	p.until(`/exit 3 · you · /.test(document.querySelector('.found .about').textContent)`)
	// The lines around one, by keyboard.
	p.keys("\r" + kb.ArrowDown + "\r")
	p.until(`document.querySelector('.found details[open] pre').textContent.startsWith('row 148\nrow 149\nrow 150\n<b>needle</b> A\n')`)
	p.click(".found .group .link")
	p.until(`document.querySelector('.detail h2').textContent === 'noisy'`)
	// A mistake leaves the lines; the page continues a search only when asked to.
	p.click("#tab-output")
	p.click(".output input[type=checkbox]")
	p.do(chromedp.SendKeys(chromedp.CSS(".output input[type=search]"), "("))
	p.until(`document.querySelector('.output .hint').textContent.includes('missing closing )')`)
	p.until(`document.querySelectorAll('.found summary').length === 2`)
	p.script(`document.querySelector('.output input[type=search]').value = ''`)
	p.do(chromedp.SendKeys(chromedp.CSS(".output input[type=search]"), "^row [0-9]+$"))
	p.until(`document.querySelectorAll('.found summary').length === 100`)
	p.until(`document.querySelector('.found summary').textContent === 'row 150'`)
	p.click(".output .tools:last-child button")
	p.until(`document.querySelectorAll('.found summary').length === 150 && document.querySelector('.output .hint').textContent === '150 lines'`)
	p.script(`document.querySelector('.output input[type=search]').value = ''`)
	p.do(chromedp.SendKeys(chromedp.CSS(".output input[type=search]"), "no such text"))
	p.until(`document.querySelector('.output .hint').textContent === 'No line found'`)
	m.run("rm", "noisy")
	p.quiet("Failed to load resource") // the mistake
}

func itIsFollowedThroughAKill(m *machine, t *testing.T) {
	p := m.paired(t, m.link())
	p.session("shop")
	p.shows("ready>")
	p.script(`new MutationObserver(() => { globalThis.cut ||= !!document.querySelector('.pane.away'); }).observe(document.body, { subtree: true, attributes: true })`)
	info := call(p.machine, "cli", api.EngineInfo, api.Empty{})
	if err := syscall.Kill(info.EnginePID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p.until(`globalThis.cut && !document.querySelector('.pane.away') && document.querySelector('p.away').hidden`)
	p.keys("echo after $((1 + 1))\r")
	p.shows("after 2")
	p.quiet("WebSocket", "Failed to load resource") // while there was no engine
}

// askToRun asks the user whether an agent's tool may run a command.
func askToRun(ctx context.Context, agent *client.Client, command, cwd string) error {
	ctx = api.WithToolCall(ctx, &api.ToolCall{ID: api.NewID(), Tools: []string{"exec"}})
	return api.PolicyCheck.Run(ctx, agent, api.PolicyCheckInput{
		Operations: []string{api.Exec.Name}, Subjects: []api.Subject{{Command: command, CWD: cwd}}, Write: true,
	})
}

// decisionOf returns allow, deny, or the text of another error.
func decisionOf(err error) string {
	switch {
	case err == nil:
		return "allow"
	case errors.Is(err, api.CodeForbidden):
		return "deny"
	}
	return err.Error()
}

func requests(m *machine, t *testing.T) {
	p := m.paired(t, m.link())
	agent := p.engine("agent:test/1")
	defer agent.Close()
	for _, allow := range []bool{true, false} {
		decided := make(chan string, 1)
		go func() {
			decided <- decisionOf(askToRun(t.Context(), agent, "rm -rf '<b>build</b>'", "/tmp"))
		}()
		p.until(`document.querySelector('#tab-requests .badge').textContent === '1'`)
		p.click("#tab-requests")
		p.until(`document.querySelector('.asked pre').textContent === "rm -rf '<b>build</b>'"`)
		button, want := ".asked button.danger", "deny"
		if allow {
			button, want = ".asked button.primary", "allow"
			p.until(`!document.querySelector('.asked button.primary').disabled`) // all of it is in sight
		}
		p.click(button)
		if got := <-decided; got != want {
			t.Errorf("the agent hears %q, want %s", got, want)
		}
		p.until(`document.querySelectorAll('.asked li').length === 0`)
	}
}

// aLongRequest checks that a request can be allowed only after its end has been in view, and that
// invisible characters in it are shown.
func aLongRequest(m *machine, t *testing.T) {
	p := m.paired(t, m.link())
	agent := p.engine("agent:test/1")
	defer agent.Close()
	decided := make(chan string, 1)
	command := "touch README.md # tidy up" + strings.Repeat("\n", 120) + "rm -rf ~/everything # \u202e\u2066\u200b"
	go func() {
		decided <- decisionOf(askToRun(t.Context(), agent, command, "/tmp"))
	}()
	p.until(`document.querySelector('#tab-requests .badge').textContent === '1'`)
	p.click("#tab-requests")
	p.until(`document.querySelector('.asked pre').textContent.endsWith(` + quoted(`\u{202e}\u{2066}\u{200b}`) + `)`)
	p.script(`globalThis.frames = new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))`)
	p.until(`globalThis.frames.then(() => true)`)
	if !value[bool](p, `document.querySelector('.asked button.primary').disabled`) {
		t.Error("it can be allowed while its end is out of sight")
	}
	p.script(`document.querySelector('.asked pre').scrollTo(0, 1e6)`)
	p.until(`!document.querySelector('.asked button.primary').disabled && !document.querySelector('.asked .hint')`)
	p.click(".asked button.primary")
	if got := <-decided; got != "allow" {
		t.Errorf("the agent hears %q", got)
	}
}

func onAPhone(m *machine, t *testing.T) {
	p := m.paired(t, m.link(), chromedp.EmulateViewport(390, 844, chromedp.EmulateScale(2), chromedp.EmulateMobile, chromedp.EmulateTouch))
	p.until(`document.documentElement.scrollWidth === 390`)
	sizeOf := func() api.Terminal {
		for _, s := range call(p.machine, "cli", api.ProcessList, api.ProcessListInput{}).Processes {
			if s.Name == "numbers" {
				return *s.Terminal
			}
		}
		t.Fatal("the session is gone")
		return api.Terminal{}
	}
	p.click(".sheet")
	p.until(`getComputedStyle(document.querySelector('aside')).visibility === 'visible'`)
	before := sizeOf()
	p.until(rowOf("numbers"))
	p.script(rowOf("numbers") + ".click()")
	p.until(`document.querySelector('.top .title').textContent === 'numbers'`)
	p.shows("line 300")
	if after := sizeOf(); after.Cols != before.Cols || after.Rows != before.Rows {
		t.Errorf("looking from a phone makes it %d×%d, it was %d×%d", after.Cols, after.Rows, before.Cols, before.Rows)
	}
	p.swipeUp()
	p.until(`!document.querySelector('.pane.current .xterm-rows').textContent.includes('300')`)

	p.click(".keybar button:nth-child(3)") // ctrl
	p.until(`document.querySelector('.keybar button:nth-child(3)').getAttribute('aria-pressed') === 'true'`)
	p.script(`document.querySelector('.pane.current .xterm-helper-textarea').focus()`)
	p.keys("v")
	p.click(".keybar button:nth-child(7)") // up
	p.shows("^[[A")
	if after := sizeOf(); after.Cols == before.Cols {
		t.Errorf("typing on a phone leaves the session at %d columns", after.Cols)
	}
	p.click(".top button[title=Settings]")
	p.until(`document.querySelector('dialog[open]')`)
	if wide := value[string](p, `[...document.querySelectorAll('dialog, dialog *, .keybar button')].filter((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0).map((e) => e.textContent).join()`); wide != "" {
		t.Errorf("there is no room for %s", wide)
	}
	p.click("dialog menu button:first-child")
	if value[bool](p, `[...document.querySelectorAll('.keybar button, .top button')].filter((b) => b.offsetParent).some((b) => b.getBoundingClientRect().right > 390)`) {
		t.Error("keys are beyond the edge of the phone")
	}
}

// swipeUp moves a finger down over the terminal, which scrolls up into the scrollback.
func (p *tab) swipeUp() {
	p.Helper()
	p.touch("touchStart", &input.TouchPoint{X: 180, Y: 300})
	for y := 320.0; y <= 700; y += 40 {
		p.touch("touchMove", &input.TouchPoint{X: 180, Y: y})
	}
	p.touch("touchEnd")
}

func aLinkToOneSession(m *machine, t *testing.T) {
	p := m.paired(t, m.link())
	p.until(rowOf("shop"))
	p.do(chromedp.Navigate(m.at(m.link("share", "numbers", "--for", "2h"))))
	p.until(`document.querySelector('.page.link')`)
	p.shows("line 300")
	if all := value[int](p, `document.querySelectorAll('.sessions li').length`); all != 1 {
		t.Errorf("the link lists %d sessions", all)
	}
	p.script(`document.querySelector('.pane.current .xterm-helper-textarea').focus()`)
	p.keys("not typed")
	if status := value[int](p, pageAPI+`.then((a) => new a.Api('').call('session.start', {})).then(() => 200, (e) => e.status)`); status != http.StatusForbidden {
		t.Errorf("starting a session through the link is answered %d", status)
	}
	if value[string](p, pageAPI+`.then((a) => a.me()).then((me) => me.until || '')`) == "" {
		t.Error("the link does not end")
	}
	m.expire()
	p.until(`document.querySelector('.gate')?.textContent.includes('expired')`)
	if screen := m.run("screen", "numbers"); strings.Contains(screen, "not typed") {
		t.Errorf("the link types:\n%s", screen)
	}
	p.do(chromedp.Navigate(m.url)) // where it was paired, and is still
	p.until(rowOf("shop"))
	p.quiet("403", "401", "WebSocket")
}

// expire ends the links to sessions.
func (m *machine) expire() {
	m.Helper()
	path := filepath.Join(m.dir, "d", "page", "devices.json")
	text, err := os.ReadFile(path)
	if err != nil {
		m.Fatal(err)
	}
	past := regexp.MustCompile(`"until": ?"[^"]*"`).ReplaceAll(text, []byte(`"until":"2001-01-01T00:00:00Z"`))
	if err := renameio.WriteFile(path, past, 0o600); err != nil {
		m.Fatal(err)
	}
}

// strangers opens other servers' pages in the same browser. Their requests to the page carry its
// cookies and must be refused.
func strangers(m *machine, t *testing.T) {
	p := m.paired(t, m.link())
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>other</title>")
	}))
	defer other.Close()
	p.do(chromedp.Navigate(other.URL))
	got := value[[]string](p, `Promise.all([
		fetch(`+quoted(m.url+"me")+`, { credentials: 'include' }).then((r) => 'answered', () => 'refused'),
		fetch(`+quoted(m.url+"call/session.start")+`, { method: 'POST', credentials: 'include', body: '{}' }).then((r) => 'answered', () => 'refused'),
		new Promise((done) => {
			const s = new WebSocket(`+quoted(strings.Replace(m.url, "http", "ws", 1)+"attach?id=x")+`);
			s.onopen = () => done('answered');
			s.onerror = () => done('refused');
		}),
		new Promise((done) => {
			const f = document.createElement('iframe');
			f.onload = () => { try { done(f.contentDocument ? 'answered' : 'refused'); } catch { done('refused'); } };
			f.src = `+quoted(m.url)+`;
			document.body.append(f);
		}),
	])`)
	for i, answer := range got {
		if answer != "refused" {
			t.Errorf("request %d of another page is %s", i, answer)
		}
	}
	if n := len(call(p.machine, "cli", api.ProcessList, api.ProcessListInput{}).Processes); n != 3 {
		t.Errorf("there are %d sessions and processes", n)
	}
	p.quiet("127.0.0.1") // each refusal
}

func revoking(m *machine, t *testing.T) {
	p := m.paired(t, m.link())
	p.session("shop")
	p.shows("ready>")
	m.run("web", "revoke", "--all")
	p.until(`document.querySelector('.gate')?.textContent.includes('revoked')`)
	if value[bool](p, `!!document.querySelector('.xterm')`) {
		t.Error("the terminal is shown still")
	}
	p.quiet("401", "WebSocket")
}
