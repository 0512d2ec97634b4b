package attach

import (
	"strings"
	"testing"

	"tandem/engine/screen/passthrough"
)

// reports are sequences that terminals send as answers, or by themselves.
var reports = [...]string{
	"\x1b[?62;1;4c", "\x1b[>41;354;0c", "\x1b[12;40R", "\x1b[?12;40;1R", "\x1b[0n", "\x1b[?997;1n", "\x1b[?2026;2$y", "\x1b[4;2$y",
	"\x1b[?1u", "\x1b[>4;1m", "\x1b[4;480;640t", "\x1b[8;24;80t", "\x1b[48;24;80;480;640t", "\x1b[?1;0;256S", "\x1b[2;1;1;128;128;1;0x",
	"\x1b]10;rgb:ffff/ffff/ffff\x1b\\", "\x1b]11;rgb:0000/0000/0000\a", "\x1b]4;1;rgb:ffff/0000/0000\a", "\x1b]52;c;aGVsbG8=\a", "\x1b]ltitle\x1b\\",
	"\x1bP>|terminal 1.0\x1b\\", "\x1bP1$r0m\x1b\\", "\x1bP0+r\x1b\\", "\x1bP!|00000000\x1b\\", "\x1b_Gi=31;OK\x1b\\",
}

func TestReportsOfTerminalAreNotInput(t *testing.T) {
	p := newPerson(t)
	p.watchScreen()
	p.attach(newEngineStub(t, greetAndEcho("ready>")), nil)
	p.waitOutput("ready>")
	for _, a := range reports {
		p.sendText("x" + a + "y")
		p.sendText(a[:3])
		p.sendText(a[3:])
	}
	p.sendText("end")
	p.waitOutput("end>")
	p.sendText("\x02d")
	p.waitExit()
	_, typed, _ := strings.Cut(strings.ReplaceAll(p.screenText(), passthrough.AskColors, ""), "ready>")
	typed, _, _ = strings.Cut(typed, "\x18") // where attach restores the terminal
	if got := strings.NewReplacer("<", "", ">", "").Replace(typed); got != strings.Repeat("xy", len(reports))+"end" {
		t.Errorf("the session gets %q", got)
	}
}

func TestKeysResemblingReportsAreInput(t *testing.T) {
	p := newPerson(t)
	p.watchScreen()
	p.attach(newEngineStub(t, greetAndEcho("ready>")), nil)
	p.waitOutput("ready>")
	for _, key := range []string{"\x1b]", "\x1bP", "\x1b_", "\x1b[1;5R", "\x1b[15;2~", "\x1b[A"} {
		p.sendText(key)
		p.waitOutput("<" + strings.ReplaceAll(key, "\x1b", "^[") + ">")
	}
	p.sendText("\x02d")
	p.waitExit()
}
