package browsertest

import (
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// phoneKeyboard types like the keyboards of phones, which replace text after it was entered. `cat
// -v` shows a DEL as ^?.
func phoneKeyboard(m *machine, t *testing.T) {
	m.run("new", "--name", "raw", "--", "sh", "-c", "stty raw -echo; echo raw:; exec cat -v")
	defer m.run("rm", "raw")
	defer m.run("kill", "raw")
	p := m.paired(t, m.link(), chromedp.EmulateViewport(390, 844, chromedp.EmulateScale(2), chromedp.EmulateMobile, chromedp.EmulateTouch))
	p.until(rowOf("raw"))
	p.script(rowOf("raw") + ".click()")
	p.shows("raw:")
	p.script(`document.querySelector('.pane.current .xterm-helper-textarea').focus()`)
	p.shows("raw:")

	p.inserts("ab ") // two blanks for a full stop
	p.deletes()
	p.inserts(". ")
	p.shows("ab ^?. ")

	p.inserts("teh") // a suggestion for the last word
	p.composes("the", 4, 7)
	p.inserts("the ")
	p.shows("teh^?^?he ")

	p.inserts("gi")
	p.composes("github", 8, 10)
	p.inserts("github ")
	p.shows("github ")

	p.composes("か", -1, -1) // sent once, when it is finished
	p.composes("漢字", -1, -1)
	p.until(`document.querySelector('.composition-view.active')?.textContent === '漢字'`)
	p.inserts("漢字")
	p.until(`!document.querySelector('.composition-view.active')`)
	p.composes("x", -1, -1)
	p.composes("", -1, -1) // cancelled
	p.inserts("❤️👍🏽")
	p.deletes()
	p.deletes()
	p.inserts("|")
	p.shows("github M-fM-<M-\"M-eM--M-^WM-bM-^]M-$M-oM-8M-^OM-pM-^_M-^QM-^MM-pM-^_M-^OM-=^?^?^?|")

	p.keys("Ab\r") // keys with a character of their own
	p.shows("|Ab^M")
	p.inserts("cd")
	p.shows("^Mcd")

	p.script(`document.querySelector('.xterm-helper-textarea').value = 'chosen'; document.querySelector('.xterm-helper-textarea').select()`) // as xterm.js does on a click
	p.inserts("!")
	p.shows("cd!")

	p.composes("word", -1, -1) // what is left of it comes before a key of the page
	p.click(".keybar button:first-child")
	p.shows("cd!word^[")
	p.inserts("?")
	p.shows("word^[?")
}

// inserts makes the phone's keyboard insert text, or end its composition with it.
func (p *tab) inserts(text string) {
	p.Helper()
	p.key229()
	p.do(command(input.InsertText, input.InsertTextParams{Text: text}))
}

// deletes has the keyboard delete a character.
func (p *tab) deletes() {
	p.Helper()
	p.key229("deleteBackward")
}

func (p *tab) key229(commands ...string) {
	p.Helper()
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown, input.DispatchKeyEventTypeKeyUp} {
		p.do(command[input.DispatchKeyEventParams, cdp.Empty](input.DispatchKeyEvent, input.DispatchKeyEventParams{
			Type: kind, Key: "Unidentified", WindowsVirtualKeyCode: 229, Commands: commands,
		}))
		commands = nil
	}
}

// composes makes the phone's keyboard show text as being composed. If from is not negative, the
// text replaces the characters between from and to.
func (p *tab) composes(text string, from, to int64) {
	p.Helper()
	p.key229()
	in := input.ImeSetCompositionParams{Text: text, SelectionStart: int64(len(text)), SelectionEnd: int64(len(text))}
	if from >= 0 {
		in.ReplacementStart, in.ReplacementEnd = &from, &to
	}
	p.do(command(input.ImeSetComposition, in))
}
