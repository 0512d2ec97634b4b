package browsertest

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// printedContrast lists the texts with too little contrast in the current pane's terminal.
const printedContrast = `[...document.querySelectorAll('.pane.current .xterm-rows span')].filter((e) => e.textContent.trim()).map((e) => {
	const rgb = (text) => (text.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
	const light = ([r, g, b]) => [r, g, b].map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
		.reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
	const own = rgb(getComputedStyle(e).backgroundColor);
	const ground = own[3] === 0 ? [255, 255, 255] : own;
	const ink = rgb(getComputedStyle(e).color);
	const shown = ink.slice(0, 3).map((v, i) => v * (ink[3] ?? 1) + ground[i] * (1 - (ink[3] ?? 1)));
	const [a, b] = [light(shown), light(ground)].sort((x, y) => y - x);
	return [(a + 0.05) / (b + 0.05), e.textContent];
}).filter(([ratio]) => ratio < 4.5).map(([ratio, text]) => ratio.toFixed(2) + ' ' + text).join('\n')`

// readableOutput checks that colours chosen for dark terminals can be read on a light page.
func readableOutput(m *machine, t *testing.T) {
	m.run("new", "--name", "colours", "--", "sh", "-c", `
		printf '\033[37mwhite\033[m \033[97mbright\033[m \033[1;37mbold\033[m \033[38;5;255mpalette\033[m \033[38;2;250;250;250mdirect\033[m\n'
		printf '\033[2mdim\033[m \033[2;37mdimwhite\033[m \033[2;31mdimred\033[m \033[2;38;2;200;200;200mdimdirect\033[m \033[33;43myellow\033[m\n'
		echo last; exec cat`)
	defer m.run("rm", "colours")
	defer m.run("kill", "colours")
	p := m.paired(t, m.link())
	p.session("colours")
	p.shows("last")
	p.do(command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "light"}}}))
	p.until(`getComputedStyle(document.querySelector('.pane.current .xterm-scrollable-element')).backgroundColor === 'rgb(255, 255, 255)'`)
	p.script(`globalThis.drawn = new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))`)
	p.until(`globalThis.drawn.then(() => true)`)
	if bad := value[string](p, printedContrast); bad != "" {
		t.Errorf("too little contrast:\n%s", bad)
	}
}
