package browsertest

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// tabTo presses tab until the element found by selector has the keyboard focus. Each element
// focused on the way must show its focus visibly.
func (p *tab) tabTo(selector string) {
	p.Helper()
	for range 60 {
		p.keys(kb.Tab)
		p.visibleFocus()
		if value[bool](p, `document.activeElement.matches(`+quoted(selector)+`)`) {
			return
		}
	}
	p.Fatalf("tab does not lead to %s", selector)
}

// visibleFocus fails the test if the focused element does not look focused.
func (p *tab) visibleFocus() {
	p.Helper()
	if problem := value[string](p, `(() => {
		const e = document.activeElement;
		if (e === document.body || e.matches('.xterm-helper-textarea')) return ''; // a cursor shows it
		const style = getComputedStyle(e);
		const box = e.getBoundingClientRect();
		const seen = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1 && box.width > 0 && box.height > 0 && style.visibility === 'visible' && style.opacity > 0.9;
		return seen ? '' : e.outerHTML.slice(0, 200) + ' ' + style.outline;
	})()`); problem != "" {
		p.Errorf("nobody sees that the keyboard is at %s", problem)
	}
}

// alt presses a digit with alt.
func (p *tab) alt(digit string) {
	p.Helper()
	p.do(chromedp.KeyEvent(digit, chromedp.KeyModifiers(chromedp.ModifierAlt)))
}

// byKeyboard uses the page without a mouse.
func byKeyboard(m *machine, t *testing.T) {
	p := m.paired(t, m.link())
	p.until(rowOf("shop"))

	// Tab and enter open each view; tab and the arrow keys reach everything in it.
	p.script(`document.activeElement.blur()`)
	for _, view := range []string{"processes", "history", "requests", "output", "sessions"} {
		p.tabTo("#tab-" + view)
		p.keys("\r")
		p.until(`document.querySelector('#tab-` + view + `').getAttribute('aria-current') === 'page'`)
		p.script(`document.activeElement.blur()`)
	}
	p.tabTo(".sessions li > button:first-child")
	p.keys(kb.ArrowDown)
	p.visibleFocus()
	p.keys(kb.ArrowUp)
	p.visibleFocus()
	p.until(`document.activeElement === document.querySelector('.sessions li > button:first-child')`)
	p.tabTo(".sessions .more")
	p.tabTo(".list .new")
	p.tabTo(".pane .lock")
	p.tabTo(".pane button[title='Find in scrollback']")
	p.keys("\r")
	p.until(`document.activeElement.matches('.find input')`)
	p.keys(kb.Escape)
	p.until(`document.activeElement.matches('.xterm-helper-textarea')`)

	// A terminal takes the tab key for itself. Alt and a digit move the focus out of it and back.
	p.alt("1")
	p.until(`document.activeElement.matches('.sessions button[aria-current]')`)
	p.alt("1")
	p.until(`document.activeElement.matches('.pane.current .xterm-helper-textarea')`)
	p.alt("2")
	p.until(`document.activeElement.matches('tbody button')`)
	p.visibleFocus()
	p.keys("\r")
	p.until(`document.querySelector('.actions button')`)
	p.tabTo(".actions button:first-child")
	p.keys("\r")
	p.until(`document.querySelector('dialog[open]')?.contains(document.activeElement)`)
	p.visibleFocus()
	p.keys(kb.Escape)
	p.until(`!document.querySelector('dialog')`)
	p.tabTo(".actions button:last-child")
	p.tabTo(".detail button[aria-label=Close]")
	p.tabTo(".logs input[type=search]")
	p.tabTo(".logs input[type=checkbox]")
	p.tabTo(".log")
	p.alt("3")
	p.until(`document.activeElement.matches('.history input')`)
	p.alt("4")
	p.until(`document.querySelector('#tab-requests').getAttribute('aria-current') === 'page'`)
	p.script(`document.activeElement.blur()`)
	p.tabTo(".top button[title=Settings]")
	p.keys("\r")
	p.until(`document.querySelector('dialog[open]')?.contains(document.activeElement)`)
	p.tabTo("dialog input[name=reader]")
	p.keys(" ")
	p.tabTo("dialog button[type=submit]")
	p.keys("\r")
	p.alt("1")
	p.until(`document.querySelector('.pane.current .xterm-accessibility')`) // for screen readers
	p.session("numbers")
	p.until(`document.querySelector('.pane.current .xterm-accessibility').textContent.includes('line 300')`)
}

// contrast lists the texts of the page with too little contrast, except for the output of programs.
// WCAG 2.2 (1.4.3) requires a ratio of at least 4.5.
const contrast = `(() => {
	const part = (c) => { const v = c / 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
	const rgb = (text) => { const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number); return { r, g, b, a }; };
	const light = ({ r, g, b }) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
	const ground = (e) => {
		for (let at = e; at; at = at.parentElement) {
			const c = rgb(getComputedStyle(at).backgroundColor);
			if (c.a === 1) return c;
		}
		return { r: 255, g: 255, b: 255 };
	};
	const bad = [];
	for (const e of document.querySelectorAll('body *')) {
		const said = [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim()) || e.placeholder;
		if (!said || e.disabled || e.closest('.xterm') || !e.checkVisibility({ visibilityProperty: true })) continue;
		const own = getComputedStyle(e, e.placeholder && !e.value ? '::placeholder' : undefined);
		const [a, b] = [light(rgb(own.color)), light(ground(e))].sort((x, y) => y - x);
		const ratio = (a + 0.05) / (b + 0.05);
		if (ratio < 4.5) bad.push(ratio.toFixed(2) + ' ' + (e.textContent || e.placeholder).slice(0, 30) + ' .' + e.className);
	}
	return bad.join('\n');
})()`

// readable checks the contrast of each view in dark and in light colours, and that nothing moves if
// the user prefers reduced motion.
func readable(m *machine, t *testing.T) {
	m.run("history", "add", "--exit", "2", "--", "make another-entry")
	p := m.paired(t, m.link())
	agent := p.engine("agent:test/1")
	defer agent.Close()
	asked := make(chan error, 1)
	go func() {
		asked <- askToRun(t.Context(), agent, "make", "/tmp")
	}()
	p.until(`document.querySelector('#tab-requests .badge').textContent === '1'`)
	p.session("shop")
	for _, scheme := range []string{"dark", "light"} {
		p.do(command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
		}}))
		for _, view := range []string{"sessions", "processes", "history", "requests", "output"} {
			p.click("#tab-" + view)
			switch view {
			case "processes":
				p.click("tbody tr button")
				p.until(`document.querySelector('.log').textContent.includes('listening')`)
			case "history":
				p.until(`document.querySelector('.commands li')`)
			case "output":
				p.do(chromedp.SendKeys(chromedp.CSS(".output input[type=search]"), "listening"))
				p.until(`document.querySelector('.found summary mark')`)
				p.script(`document.querySelector('.found summary').click()`)
			}
			p.measure(scheme + " " + view)
		}
		p.click(".top button[title=Settings]")
		p.until(`document.querySelector('dialog[open]')`)
		p.measure(scheme + " settings")
		p.click("dialog menu button:first-child")
		p.until(`!document.querySelector('dialog')`)
		if moves := value[int](p, `[...document.querySelectorAll('*')].filter((e) => !e.closest('.xterm')).map((e) => getComputedStyle(e)).filter((s) => parseFloat(s.transitionDuration) > 0 || s.animationName !== 'none').length`); moves != 0 {
			t.Errorf("%d elements move", moves)
		}
	}
	p.click("#tab-requests")
	p.click(".asked button.danger")
	if err := <-asked; err != nil && !strings.Contains(err.Error(), "denied") {
		t.Error(err)
	}
}

func (p *tab) measure(where string) {
	p.Helper()
	if bad := value[string](p, contrast); bad != "" {
		p.Errorf("%s: too little contrast:\n%s", where, bad)
	}
}
