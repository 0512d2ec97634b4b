package keys

import (
	"strings"
	"testing"
)

// The sequences are from xterm's ctlseqs and modified-keys pages and from the description of the
// kitty protocol.
func TestEncodeMatchesTerminalDocumentation(t *testing.T) {
	kitty := func(flags uint8) Modes { return Modes{Kitty: flags} }
	cases := []struct {
		key   string
		modes Modes
		want  string
	}{
		{"a", Modes{}, "a"},
		{"A", Modes{}, "A"},
		{"é", Modes{}, "é"},
		{"alt+a", Modes{}, "\x1ba"},
		{"alt+shift+a", Modes{}, "\x1bA"},
		{"ctrl+a", Modes{}, "\x01"},
		{"ctrl+shift+a", Modes{}, "\x01"},
		{"ctrl+alt+a", Modes{}, "\x1b\x01"},
		{"ctrl+space", Modes{}, "\x00"},
		{"ctrl+@", Modes{}, "\x00"},
		{"ctrl+2", Modes{}, "\x00"},
		{"ctrl+[", Modes{}, "\x1b"},
		{"ctrl+\\", Modes{}, "\x1c"},
		{"ctrl+]", Modes{}, "\x1d"},
		{"ctrl+6", Modes{}, "\x1e"},
		{"ctrl+_", Modes{}, "\x1f"},
		{"ctrl+/", Modes{}, "\x1f"},
		{"ctrl+?", Modes{}, "\x7f"},
		{"ctrl+8", Modes{}, "\x7f"},
		{"ctrl+.", Modes{}, "."},
		{"enter", Modes{}, "\r"},
		{"enter", Modes{Newline: true}, "\r\n"},
		{"alt+enter", Modes{}, "\x1b\r"},
		{"tab", Modes{}, "\t"},
		{"shift+tab", Modes{}, "\x1b[Z"},
		{"backspace", Modes{}, "\x7f"},
		{"ctrl+backspace", Modes{}, "\x08"},
		{"alt+backspace", Modes{}, "\x1b\x7f"},
		{"esc", Modes{}, "\x1b"},
		{"alt+esc", Modes{}, "\x1b\x1b"},
		{"space", Modes{}, " "},
		{"up", Modes{}, "\x1b[A"},
		{"up", Modes{AppCursor: true}, "\x1bOA"},
		{"home", Modes{AppCursor: true}, "\x1bOH"},
		{"ctrl+up", Modes{AppCursor: true}, "\x1b[1;5A"},
		{"alt+shift+left", Modes{}, "\x1b[1;4D"},
		{"f1", Modes{}, "\x1bOP"},
		{"shift+f3", Modes{}, "\x1b[1;2R"},
		{"f5", Modes{}, "\x1b[15~"},
		{"ctrl+f12", Modes{}, "\x1b[24;5~"},
		{"f13", Modes{}, "\x1b[25~"},
		{"f20", Modes{}, "\x1b[34~"},
		{"delete", Modes{}, "\x1b[3~"},
		{"shift+insert", Modes{}, "\x1b[2;2~"},
		{"pgup", Modes{}, "\x1b[5~"},
		{"menu", Modes{}, "\x1b[29~"},
		{"printscreen", Modes{}, ""},
		{"super+a", Modes{}, ""},
		{"kp5", Modes{}, "5"},
		{"kp5", Modes{AppKeypad: true}, "\x1bOu"},
		{"kpenter", Modes{}, "\r"},
		{"kpenter", Modes{AppKeypad: true}, "\x1bOM"},

		{"ctrl+a", Modes{ModifyOther: 1}, "\x01"},
		{"ctrl+shift+a", Modes{ModifyOther: 1}, "\x1b[27;6;65~"},
		{"ctrl+.", Modes{ModifyOther: 1}, "\x1b[27;5;46~"},
		{"ctrl+1", Modes{ModifyOther: 1}, "\x1b[27;5;49~"},
		{"shift+enter", Modes{ModifyOther: 1}, "\x1b[27;2;13~"},
		{"ctrl+tab", Modes{ModifyOther: 1}, "\x1b[27;5;9~"},
		{"alt+a", Modes{ModifyOther: 1}, "\x1ba"},
		{"ctrl+backspace", Modes{ModifyOther: 1}, "\x08"},
		{"ctrl+a", Modes{ModifyOther: 2}, "\x1b[27;5;97~"},
		{"alt+a", Modes{ModifyOther: 2}, "\x1b[27;3;97~"},
		{"A", Modes{ModifyOther: 2}, "A"},
		{"shift+tab", Modes{ModifyOther: 2}, "\x1b[Z"},
		{"ctrl+up", Modes{ModifyOther: 2}, "\x1b[1;5A"},

		{"a", kitty(1), "a"},
		{"A", kitty(1), "A"},
		{"esc", kitty(1), "\x1b[27u"},
		{"ctrl+c", kitty(1), "\x1b[99;5u"},
		{"alt+a", kitty(1), "\x1b[97;3u"},
		{"ctrl+shift+a", kitty(1), "\x1b[97;6u"},
		{"super+a", kitty(1), "\x1b[97;9u"},
		{"enter", kitty(1), "\r"},
		{"shift+enter", kitty(1), "\x1b[13;2u"},
		{"tab", kitty(1), "\t"},
		{"shift+tab", kitty(1), "\x1b[9;2u"},
		{"backspace", kitty(1), "\x7f"},
		{"up", Modes{Kitty: 1, AppCursor: true}, "\x1b[A"},
		{"ctrl+up", kitty(1), "\x1b[1;5A"},
		{"f1", kitty(1), "\x1b[P"},
		{"f3", kitty(1), "\x1b[13~"},
		{"shift+f3", kitty(1), "\x1b[13;2~"},
		{"f13", kitty(1), "\x1b[57376u"},
		{"menu", kitty(1), "\x1b[57363u"},
		{"kp5", kitty(1), "\x1b[57404u"},
		{"kpenter", kitty(1), "\x1b[57414u"},
		{"pause", kitty(1), "\x1b[57362u"},
		{"ctrl+c", kitty(2), "\x03"},
		{"u+e061", kitty(1), ""},

		{"a", kitty(8), "\x1b[97u"},
		{"A", kitty(8), "\x1b[97;2u"},
		{"enter", kitty(8), "\x1b[13u"},
		{"A", kitty(8 | 4), "\x1b[97:65;2u"},
		{"a", kitty(8 | 16), "\x1b[97;;97u"},
		{"A", kitty(8 | 16), "\x1b[97;2;65u"},
		{"u+e061", kitty(8), "\x1b[57441u"},
	}
	for _, c := range cases {
		k, err := Parse(c.key)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(Encode(nil, k, c.modes)); got != c.want {
			t.Errorf("Encode(%s, %+v) = %q, want %q", c.key, c.modes, got, c.want)
		}
	}
}

func TestEncodeReportsEventTypesAndLayouts(t *testing.T) {
	cases := []struct {
		key   Key
		flags uint8
		want  string
	}{
		{Key{Code: 'a', Phase: Release}, 0, ""},
		{Key{Code: 'a', Text: "a", Phase: Repeat}, 0, "a"},
		{Key{Code: 'a', Phase: Release}, 1, ""},
		{Key{Code: 'a', Text: "a", Phase: Repeat}, 3, "a"},
		{Key{Code: 'a', Phase: Release}, 3, "\x1b[97;1:3u"},
		{Key{Code: Up, Phase: Repeat}, 3, "\x1b[1;1:2A"},
		{Key{Code: Up, Mods: Ctrl, Phase: Release}, 3, "\x1b[1;5:3A"},
		{Key{Code: Enter, Phase: Release}, 3, ""},
		{Key{Code: Enter, Phase: Release}, 3 | 8, "\x1b[13;1:3u"},
		{Key{Code: 'a', Text: "a", Mods: NumLock}, 1, "a"},
		{Key{Code: Up, Mods: NumLock}, 1, "\x1b[1;129A"},
		{Key{Code: 'a', Text: "a", Mods: NumLock}, 8, "\x1b[97;129u"},
		{Key{Code: 'ц', Base: 'w', Mods: Ctrl}, 0, "\x17"},
		{Key{Code: 'ц', Base: 'w', Mods: Ctrl}, 1 | 4, "\x1b[1094::119;5u"},
		{Key{Code: 'ц', Base: 'w', Shifted: 'Ц', Mods: Ctrl | Shift}, 1 | 4, "\x1b[1094:1062:119;6u"},
		{Key{Code: KP5, Text: "5", Mods: NumLock}, 1, "5"},
		{Key{Text: "你好"}, 0, "你好"},
		{Key{Text: "你"}, 8 | 16, "\x1b[0;;20320u"},
	}
	for _, c := range cases {
		if got := string(Encode(nil, c.key, Modes{Kitty: c.flags})); got != c.want {
			t.Errorf("Encode(%+v, kitty %d) = %q, want %q", c.key, c.flags, got, c.want)
		}
	}
}

func TestShiftedKeysEncodeTheirAlternateKey(t *testing.T) {
	for typed, want := range map[string][2]string{ // plain, modifyOtherKeys 2
		"\x1b[55:47;4u":   {"\x1b/", "\x1b[27;4;47~"}, // alt+shift+7 on a German keyboard
		"\x1b[38:49;4u":   {"\x1b1", "\x1b[27;4;49~"}, // alt+shift+& on a French keyboard
		"\x1b[55:47;2u":   {"/", "/"},
		"\x1b[246:214;4u": {"\x1bÖ", "\x1b[27;4;214~"},
	} {
		var d Decoder
		var got Key
		d.Feed([]byte(typed), func(e Event) { got = e.Key })
		if plain := string(Encode(nil, got, Modes{})); plain != want[0] {
			t.Errorf("%q encodes to %q, want %q", typed, plain, want[0])
		}
		if other := string(Encode(nil, got, Modes{ModifyOther: 2})); other != want[1] {
			t.Errorf("%q with modifyOtherKeys encodes to %q, want %q", typed, other, want[1])
		}
	}
}

func TestPasteCannotLeaveItsBrackets(t *testing.T) {
	bracketed := Modes{BracketedPaste: true}
	cases := []struct {
		text  string
		modes Modes
		want  string
	}{
		{"a\nb\r\nc\rd", Modes{}, "a\rb\rc\rd"},
		{"a\nb", bracketed, "\x1b[200~a\nb\x1b[201~"},
		{"", bracketed, "\x1b[200~\x1b[201~"},
		{"x\x1b[201~rm -rf\n", bracketed, "\x1b[200~xrm -rf\n\x1b[201~"},
		{"\x1b[20\x1b[201~1~y", bracketed, "\x1b[200~y\x1b[201~"},
		{"\u009b201~z", bracketed, "\x1b[200~z\x1b[201~"},
		{"201~", bracketed, "\x1b[200~201~\x1b[201~"},
	}
	for _, c := range cases {
		if got := string(EncodePaste(nil, c.text, c.modes)); got != c.want {
			t.Errorf("EncodePaste(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

func TestEncodeMouseMatchesModeAndEncoding(t *testing.T) {
	left := Mouse{X: 4, Y: 2, Button: ButtonLeft}
	up := Mouse{X: 4, Y: 2, Button: ButtonLeft, Kind: MouseUp}
	drag := Mouse{X: 4, Y: 2, Button: ButtonLeft, Kind: MouseMove, Mods: Ctrl}
	move := Mouse{Kind: MouseMove}
	wheel := Mouse{Button: WheelDown}
	far := Mouse{X: 300, Button: ButtonLeft}
	cases := []struct {
		e        Mouse
		mode     MouseMode
		encoding MouseEncoding
		want     string
	}{
		{left, MouseOff, MouseSGR, ""},
		{left, MousePress, MouseX10, "\x1b[M %#"},
		{up, MousePress, MouseX10, ""},
		{wheel, MousePress, MouseX10, ""},
		{left, MouseClick, MouseX10, "\x1b[M %#"},
		{up, MouseClick, MouseX10, "\x1b[M#%#"},
		{drag, MouseClick, MouseSGR, ""},
		{left, MouseClick, MouseSGR, "\x1b[<0;5;3M"},
		{up, MouseClick, MouseSGR, "\x1b[<0;5;3m"},
		{drag, MouseDrag, MouseSGR, "\x1b[<48;5;3M"},
		{move, MouseDrag, MouseSGR, ""},
		{move, MouseMotion, MouseSGR, "\x1b[<35;1;1M"},
		{wheel, MouseClick, MouseSGR, "\x1b[<65;1;1M"},
		{Mouse{Button: ButtonBack}, MouseClick, MouseSGR, "\x1b[<128;1;1M"},
		{far, MouseClick, MouseX10, ""},
		{far, MouseClick, MouseUTF8, "\x1b[M \u014d!"},
		{far, MouseClick, MouseURXVT, "\x1b[32;301;1M"},
		{Mouse{X: 1, PixelX: 17, PixelY: 9, Button: ButtonLeft}, MouseClick, MouseSGRPixels, "\x1b[<0;18;10M"},
		{left, MouseClick, MouseSGRPixels, "\x1b[<0;5;3M"},
		{Mouse{X: -1, Button: ButtonLeft}, MouseClick, MouseSGR, ""},
	}
	for _, c := range cases {
		got := string(EncodeMouse(nil, c.e, Modes{Mouse: c.mode, MouseEncoding: c.encoding}))
		if got != c.want {
			t.Errorf("EncodeMouse(%+v, mode %d, encoding %d) = %q, want %q", c.e, c.mode, c.encoding, got, c.want)
		}
	}
}

func BenchmarkEncodePasteMegabyte(b *testing.B) {
	text := strings.Repeat("line of pasted text 201~\n", 40_000)
	b.SetBytes(int64(len(text)))
	var dst []byte
	for b.Loop() {
		dst = EncodePaste(dst[:0], text, Modes{BracketedPaste: true})
	}
}

func FuzzEncodePaste(f *testing.F) {
	f.Add("x\x1b[201~y")
	f.Add("\x1b[20\x1b[201~1~\u009b201~")
	f.Fuzz(func(t *testing.T, text string) {
		p := string(EncodePaste(nil, text, Modes{BracketedPaste: true}))
		inner, ok := strings.CutSuffix(strings.TrimPrefix(p, PasteStart), PasteEnd)
		if !ok || strings.Contains(inner, PasteEnd) || strings.Contains(inner, pasteEndC1) {
			t.Fatalf("the paste of %q is %q", text, p)
		}
		if !strings.Contains(text, "201~") && inner != text {
			t.Fatalf("the paste of %q has changed to %q", text, inner)
		}
		events := decodeAll([]byte(p))
		for i, e := range events {
			if e.Kind != EventPaste || e.Last != (i == len(events)-1) {
				t.Fatalf("the paste of %q is decoded as %+v", text, events)
			}
		}
	})
}

func TestEscapeBeforeKeyIsUnchangedByModifyOtherKeys(t *testing.T) {
	for _, typed := range []string{"\x1b:", "\x1b\x06", "\x1bé"} {
		var d Decoder
		var got []byte
		d.Feed([]byte(typed), func(e Event) { got = Encode(got, e.Key, Modes{ModifyOther: 2}) })
		if string(got) != typed {
			t.Errorf("%q is encoded as %q", typed, got)
		}
	}
	alt := Key{Code: ':', Mods: Alt}
	if got, want := string(Encode(nil, alt, Modes{ModifyOther: 2})), "\x1b[27;3;58~"; got != want {
		t.Errorf("alt+: is encoded as %q, want %q", got, want)
	}
}
