package browsertest

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// drawn follows a picture printed by a program, half red and half blue over 4×2 cells, through
// scrolling, a switch of screens and its deletion.
func drawn(m *machine, t *testing.T) {
	const picture = `\033_Ga=T,i=9,f=24,s=2,v=1,c=4,r=2,q=2;/wAAAAD/\033\\`
	m.run("new", "--name", "drawn", "--", "sh", "-c", "echo above; printf '"+picture+"'; echo; read x; seq 60; read x; printf '\\033[?1049h"+picture+`drawn'; read x; printf '\033_Ga=d\033\\gone'; read x`)
	p := m.paired(t, m.link())
	p.session("drawn")
	p.shows("above")
	// The colours of each visible canvas, from top to bottom: one from its left half, one from its
	// right.
	const seen = `[...document.querySelectorAll('.pane.current .pictures canvas')].filter((e) => !e.hidden).sort((a, b) => parseFloat(a.style.top) - parseFloat(b.style.top)).map((e) => {
		const at = (part) => [...e.getContext('2d').getImageData(e.width * part, e.height / 2, 1, 1).data].slice(0, 3).join();
		return at(.2) + ' ' + at(.8);
	}).join('; ')`
	const both = "255,0,0 0,0,255; 255,0,0 0,0,255"
	p.until(seen + ` === ` + quoted(both))
	top := value[float64](p, `parseFloat(document.querySelector('.pane.current .pictures canvas').style.top)`)
	row := value[float64](p, `document.querySelector('.pane.current .xterm-rows > div').getBoundingClientRect().height`)
	if top < row-1 || top > row+1 {
		t.Errorf("it begins at %v, and a row has %v", top, row)
	}
	p.keys("\r")
	p.shows("60")
	p.until(seen + ` === ''`) // it has scrolled off with its lines
	p.do(chromedp.KeyEvent(kb.PageUp, chromedp.KeyModifiers(chromedp.ModifierShift)), chromedp.KeyEvent(kb.PageUp, chromedp.KeyModifiers(chromedp.ModifierShift)))
	p.until(seen + ` === ` + quoted(both))
	p.keys("\r") // another screen, with a picture of its own
	p.shows("drawn")
	p.until(seen + ` === ` + quoted(both))
	p.keys("\r")
	p.shows("gone")
	p.until(seen + ` === ''`)
	p.quiet()
}
