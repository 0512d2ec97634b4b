package keys

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tandem/tests/seed"
)

// drawKey draws a key as a terminal could report it.
func drawKey(t *rapid.T) Key {
	code := rapid.OneOf(
		rapid.RuneFrom([]rune("abcxyz019-=[];',./`éñцß你")),
		rapid.SampledFrom([]rune{rune(Enter), rune(Tab), rune(Escape), rune(Space), rune(Backspace)}),
		rapid.Int32Range(int32(Up), int32(ScrollLock)),
	).Draw(t, "code")
	k := Key{Code: Code(code), Mods: Mod(rapid.ByteRange(0, 63).Draw(t, "mods"))}
	k.Phase = Phase(rapid.ByteRange(0, 2).Draw(t, "phase"))
	if k.Phase != Release {
		k.Text = k.textIfPressed()
	}
	return k
}

func decodeAll(p []byte) []Event {
	var d Decoder
	var events []Event
	keep := func(e Event) {
		e.Paste = bytes.Clone(e.Paste)
		events = append(events, e)
	}
	d.Feed(p, keep)
	d.Flush(keep)
	return events
}

func TestKittyReportDecodesToEncodedKey(t *testing.T) {
	seed.Check(t, func(t *rapid.T) {
		k := drawKey(t)
		m := Modes{Kitty: KittyDisambiguate | KittyEventTypes | KittyAlternateKeys | KittyAllKeys | KittyText}
		p := Encode(nil, k, m)
		events := decodeAll(p)
		if len(events) != 1 || events[0].Kind != EventKey {
			t.Fatalf("%+v is encoded as %q and decoded as %+v", k, p, events)
		}
		got := events[0].Key
		if got.Code != k.Code || got.Mods != k.Mods || got.Phase != k.Phase || got.Text != k.Text {
			t.Fatalf("%+v is encoded as %q and decoded as %+v", k, p, got)
		}
	})
}

// The names leave out everything that the legacy encoding merges: control characters with two
// names, shift with ctrl, alt with escape, modified keys without a sequence.
func TestUnambiguousLegacyReportDecodesToEncodedKey(t *testing.T) {
	names := strings.Fields("a A z Z 0 9 % [ ~ é É 你 space enter tab backspace esc shift+tab " +
		"alt+a alt+shift+a alt+5 alt+% alt+é alt+enter alt+backspace alt+space ctrl+a ctrl+z ctrl+\\ ctrl+] ctrl+^ ctrl+_ " +
		"ctrl+space ctrl+alt+b up ctrl+up alt+shift+left home end pgup pgdown insert delete shift+delete " +
		"f1 f2 f3 f4 shift+f1 ctrl+f3 f5 f12 f13 f20 f24 ctrl+alt+shift+f7 super+up")
	for _, m := range []Modes{{}, {AppCursor: true}, {AppCursor: true, AppKeypad: true}, {ModifyOther: 1}, {ModifyOther: 2}, {Kitty: 1}} {
		for _, name := range names {
			k, err := Parse(name)
			if err != nil {
				t.Fatal(err)
			}
			p := Encode(nil, k, m)
			events := decodeAll(p)
			if len(events) != 1 || events[0].Kind != EventKey || events[0].Key.Chord() != k.Chord() || events[0].Key.Text != k.Text {
				t.Errorf("%s in %+v is encoded as %q and decoded as %+v, want %+v", name, m, p, events, k)
			}
		}
	}
}

func TestDecoderReadsApplicationKeypad(t *testing.T) {
	for c := KP0; c <= KPSeparator; c++ {
		p := Encode(nil, Key{Code: c}, Modes{AppKeypad: true})
		events := decodeAll(p)
		if len(events) != 1 || events[0].Key.Code != c {
			t.Errorf("%v is encoded as %q and decoded as %+v", Key{Code: c}, p, events)
		}
	}
}

func TestMouseReportDecodesToEncodedEvent(t *testing.T) {
	seed.Check(t, func(t *rapid.T) {
		e := Mouse{
			X:      rapid.IntRange(0, 222).Draw(t, "x"),
			Y:      rapid.IntRange(0, 222).Draw(t, "y"),
			Button: Button(rapid.ByteRange(0, byte(ButtonForward)).Draw(t, "button")),
			Kind:   MouseKind(rapid.ByteRange(0, 2).Draw(t, "kind")),
			Mods:   Mod(rapid.ByteRange(0, 7).Draw(t, "mods")),
		}
		encoding := MouseEncoding(rapid.ByteRange(0, byte(MouseURXVT)).Draw(t, "encoding"))
		p := EncodeMouse(nil, e, Modes{Mouse: MouseMotion, MouseEncoding: encoding})
		if len(p) == 0 {
			return
		}
		d := Decoder{UTF8Mouse: encoding == MouseUTF8}
		var got Event
		d.Feed(p, func(e Event) { got = e })
		if e.Kind == MouseUp && encoding != MouseSGR {
			e.Button = ButtonNone
		}
		if got.Kind != EventMouse || got.Mouse != e || d.Pending() != 0 {
			t.Fatalf("%+v is encoded as %q and decoded as %+v", e, p, got)
		}
	})
}

// describeEvents formats events as words, joining the pieces of pastes and strings.
func describeEvents(events []Event) string {
	var words []string
	paste := ""
	for _, e := range events {
		switch e.Kind {
		case EventKey:
			words = append(words, e.Key.String())
		case EventMouse:
			words = append(words, fmt.Sprintf("mouse:%d,%d", e.Mouse.X, e.Mouse.Y))
		case EventPaste:
			paste += string(e.Paste)
			if e.Last {
				words = append(words, fmt.Sprintf("paste:%q", paste))
				paste = ""
			}
		case EventFocusIn:
			words = append(words, "focus")
		case EventFocusOut:
			words = append(words, "blur")
		default:
			if len(words) == 0 || words[len(words)-1] != "other" {
				words = append(words, "other")
			}
		}
	}
	return strings.Join(words, " ")
}

func TestDecoderReadsSequences(t *testing.T) {
	cases := []struct{ in, want string }{
		{"ab", "a b"},
		{"\x1b", "esc"},
		{"\x1b\x1b", "esc esc"},
		{"\x1b\x1b[A", "esc up"},
		{"\x1b[", "alt+["},
		{"\x1bO", "alt+shift+o"},
		{"\x1b]", "alt+]"},
		{"\x1bOx", "kp8"},
		{"\x1bO5P", "ctrl+f1"},
		{"\x1b]\r", "alt+] enter"},
		{"\x1b[\x03", "alt+[ ctrl+c"},
		{"\x1b[[A\x1b[[E", "f1 f5"},
		{"\x1b[1~\x1b[4~\x1b[7~\x1b[8~", "home end home end"},
		{"\x1b[a\x1bOd", "shift+up ctrl+left"},
		{"\x1b[E", "kp5"},
		{"\x1b[I\x1b[O", "focus blur"},
		{"\x1b[98;5u", "ctrl+b"},
		{"\x1b[98;133u", "ctrl+b"},
		{"\x1b[27;5;98~", "ctrl+b"},
		{"\x1b[1080::98;5u", "ctrl+и"},
		{"\x1b[57417u\x1b[57414u", "left kpenter"},
		{"\x1b[200~a\x02\x1b[A\x1b[201~b", "paste:\"a\\x02\\x1b[A\" b"},
		{"\x1b[200~\x1b[201~", "paste:\"\""},
		{"\x1b]11;rgb:0000/0000/0000\x07x", "other x"},
		{"\x1b]11;rgb:0000/0000/0000\x1b\\x", "other x"},
		{"\x1bP>|xterm\x1b\\\x02", "other ctrl+b"},
		{"\x1b]oops\x02d", "other ctrl+b d"},
		{"\x1b[?62;22cx", "other x"},
		{"\x1b[24;80R", "other"},
		{"\x1b[1;2R", "shift+f3"},
		{"\x1b[<0;5;3M\x1b[M %#\x1b[32;5;3M", "mouse:4,2 mouse:4,2 mouse:4,2"},
		{"\xff\xc3", "other"},
		{"\x1b[1;5", "other"},
		{"\x1b[5\x02", "other ctrl+b"},
		{"\x1b[999999999999999999999u", "other"},
	}
	for _, c := range cases {
		if got := describeEvents(decodeAll([]byte(c.in))); got != c.want {
			t.Errorf("%q is decoded as %s, want %s", c.in, got, c.want)
		}
	}
}

func TestEventRangeCoversOnlyItsKey(t *testing.T) {
	const before, key, after = "ls\x1b[A", "\x1b[98;5u", "d"
	for split := range len(before + key + after) {
		var d Decoder
		var start, end int64
		find := func(e Event) {
			if e.Kind == EventKey && e.Key.String() == "ctrl+b" {
				start, end = e.Start, e.End
			}
		}
		stream := []byte(before + key + after)
		d.Feed(stream[:split], find)
		d.Feed(stream[split:], find)
		if string(stream[start:end]) != key {
			t.Errorf("split at %d: the range is %q", split, stream[start:end])
		}
	}
}

func FuzzDecoder(f *testing.F) {
	for _, s := range []string{
		"a\x1b[A\x1bOP\x1b[98;5u", "\x1b[200~x\x1b[201~", "\x1b]0;x\x07", "\x1b[M abc", "\x1b[<0;1;1M",
		"\x1b[97:65;2:3;65:66u", "é\x1bé\xff", "\x1bP\x1bX\x1b\\", "\x1b[[A", "\x1bO5P",
	} {
		f.Add([]byte(s), uint8(3))
	}
	f.Fuzz(func(t *testing.T, p []byte, split uint8) {
		whole := decodeAll(p)
		var at int64
		for _, e := range whole {
			if e.Start != at || e.End < e.Start {
				t.Fatalf("%q: event %+v does not follow offset %d", p, e, at)
			}
			at = e.End
			if e.Kind == EventKey {
				Encode(nil, e.Key, Modes{Kitty: split & 31, ModifyOther: split % 3})
			}
		}
		if at != int64(len(p)) {
			t.Fatalf("%q: events hold %d of %d bytes", p, at, len(p))
		}
		var d Decoder
		var parts []Event
		keep := func(e Event) {
			e.Paste = bytes.Clone(e.Paste)
			parts = append(parts, e)
		}
		size := int(split)%7 + 1
		for rest := p; len(rest) > 0; rest = rest[min(size, len(rest)):] {
			d.Feed(rest[:min(size, len(rest))], keep)
			if d.Pending() > maxSequence+utf8Max {
				t.Fatalf("%q: %d bytes pending", p, d.Pending())
			}
		}
		d.Flush(keep)
		if a, b := describeEvents(whole), describeEvents(parts); a != b {
			t.Fatalf("%q is decoded as %s, in pieces of %d as %s", p, a, size, b)
		}
	})
}

const utf8Max = 4

func BenchmarkDecodeText(b *testing.B) {
	text := bytes.Repeat([]byte("some typed text, \x1b[A and keys\r"), 1000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		var d Decoder
		d.Feed(text, func(Event) {})
	}
}
