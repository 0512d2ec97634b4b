package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"tandem/engine/api"
	"tandem/engine/screen/styled"
	"tandem/keys"
	"tandem/tests/seed"
)

// sampleFrame looks like a screen of a coloured listing.
func sampleFrame(cols, rows int) *api.Frame {
	styles := []api.Style{{},
		{Rendition: api.Rendition{FG: styled.ColorIndexed | 4, Attrs: styled.Bold}},
		{Rendition: api.Rendition{FG: styled.ColorRGB | 0xff8800, Underline: styled.UnderlineCurly, UL: styled.ColorIndexed | 1}}}
	f := &api.Frame{Full: true, Cols: cols, Rows: rows, Oldest: 5, First: 1000, Title: "vim", Paste: true,
		Mouse: keys.MouseDrag, Cursor: api.Cursor{X: 3, Y: 4, Visible: true, Shape: styled.CursorBar}}
	for y := range rows {
		var l api.Line
		for x := 0; x+8 <= cols; x += 8 {
			l.Runs = append(l.Runs, api.Run{Style: styles[(x/8+y)%len(styles)], Text: "abcdefgh", Cells: 8})
		}
		f.Lines = append(f.Lines, api.NumberedLine{N: f.First + int64(y), Line: l})
	}
	return f
}

func TestFrameRoundTripsThroughItsBinaryForm(t *testing.T) {
	seed.Check(t, func(t *rapid.T) {
		want := drawFrame(t)
		got, err := DecodeFrame(AppendFrame(nil, want))
		if err != nil {
			t.Fatalf("DecodeFrame: %v", err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("frame differs (-want +got):\n%s", diff)
		}
	})
}

func drawFrame(t *rapid.T) *api.Frame {
	draw := rapid.Int64().Draw
	small := rapid.IntRange(math.MinInt32, math.MaxInt32).Draw
	flag := rapid.Bool().Draw
	f := &api.Frame{
		Full: flag(t, "full"), Alt: flag(t, "alt"), Paste: flag(t, "paste"),
		Cols: small(t, "cols"), Rows: small(t, "rows"), Oldest: draw(t, "oldest"), First: draw(t, "first"),
		Title: rapid.String().Draw(t, "title"), Mouse: keys.MouseMode(rapid.Byte().Draw(t, "mouse")),
		Bells: rapid.Uint32().Draw(t, "bells"),
		Cursor: api.Cursor{X: small(t, "x"), Y: small(t, "y"), Visible: flag(t, "visible"), Blink: flag(t, "blink"),
			Shape: styled.CursorShape(rapid.Byte().Draw(t, "shape")), Own: flag(t, "own"), Color: api.Color(rapid.Uint32().Draw(t, "color"))},
	}
	for range rapid.IntRange(0, api.MaxAnchors).Draw(t, "anchors") {
		f.Anchors = append(f.Anchors, api.Place{Line: draw(t, "line"), Cell: small(t, "cell")})
	}
	// There are up to 40 styles, so both ways of finding a style are used.
	styles := rapid.SliceOfN(rapid.Custom(drawStyle), 1, 40).Draw(t, "styles")
	for range rapid.IntRange(0, 6).Draw(t, "lines") {
		l := api.NumberedLine{N: draw(t, "n"), Line: api.Line{
			Wrapped: flag(t, "wrapped"), Prompt: flag(t, "prompt"), Output: flag(t, "output"),
			Size: api.LineSize(rapid.IntRange(0, 3).Draw(t, "size"))}}
		for range rapid.IntRange(0, 20).Draw(t, "runs") {
			l.Line.Runs = append(l.Line.Runs, api.Run{
				Style: rapid.SampledFrom(styles).Draw(t, "style"),
				Text:  rapid.String().Draw(t, "text"), Cells: rapid.IntRange(0, 1000).Draw(t, "cells")})
		}
		f.Lines = append(f.Lines, l)
	}
	return f
}

func drawStyle(t *rapid.T) api.Style {
	color := func(name string) api.Color { return api.Color(rapid.Uint32().Draw(t, name)) }
	return api.Style{Rendition: api.Rendition{
		FG: color("fg"), BG: color("bg"), UL: color("ul"),
		Attrs: api.Attr(rapid.Uint16().Draw(t, "attrs")), Underline: api.Underline(rapid.Byte().Draw(t, "underline")),
	}, Link: rapid.SampledFrom([]string{"", "https://example.org"}).Draw(t, "link")}
}

func TestTruncatedFrameIsAnError(t *testing.T) {
	whole := AppendFrame(nil, sampleFrame(40, 3))
	for n := range whole {
		if f, err := DecodeFrame(whole[:n]); err == nil {
			t.Fatalf("the first %d of %d bytes decode to %+v", n, len(whole), f)
		}
	}
	if _, err := DecodeFrame(append(whole, 0)); err == nil {
		t.Error("a frame with a byte too many decodes")
	}
}

// A message of a few bytes must not be able to announce gigabytes.
func TestCountsBeyondTheMessageAllocateNothing(t *testing.T) {
	head := AppendFrame(nil, &api.Frame{})
	head = head[:len(head)-1] // less the number of lines
	huge := binary.AppendUvarint(nil, 1<<40)
	line := []byte{1, 0} // one line, its number
	run := append(bytes.Clone(line), 2)
	for name, tail := range map[string][]byte{
		"lines": huge,
		"runs":  append(line, huge...),
		"style": append(bytes.Clone(run), huge...),
		"text":  append(append(run, 0, 1), huge...),
	} {
		msg := append(bytes.Clone(head), tail...)
		allocs := testing.AllocsPerRun(1, func() {
			if _, err := DecodeFrame(msg); err == nil {
				t.Errorf("%s: a frame that announces 2^40 of them decodes", name)
			}
		})
		if allocs > 8 {
			t.Errorf("%s: %v allocations for %d bytes", name, allocs, len(msg))
		}
	}
}

func TestFramesOfScreensAreCompact(t *testing.T) {
	f := sampleFrame(120, 40)
	if n := len(AppendFrame(nil, f)); n > 120*40*3/2 {
		t.Errorf("a screen of %d cells takes %d bytes", 120*40, n)
	}
	echo := &api.Frame{Cols: 80, Rows: 24, First: 100, Lines: []api.NumberedLine{{N: 110, Line: api.Line{Runs: []api.Run{{Text: "$ a", Cells: 3}}}}}}
	if n := len(AppendFrame(nil, echo)); n > 32 {
		t.Errorf("the echo of a key takes %d bytes", n)
	}
}

func FuzzDecodeFrame(f *testing.F) {
	f.Add(AppendFrame(nil, &api.Frame{}))
	f.Add(AppendFrame(nil, sampleFrame(24, 2)))
	f.Fuzz(func(t *testing.T, b []byte) {
		frame, err := DecodeFrame(b)
		if err != nil {
			return
		}
		again, err := DecodeFrame(AppendFrame(nil, frame))
		if err != nil {
			t.Fatalf("what was decoded cannot be encoded and decoded again: %v", err)
		}
		if diff := cmp.Diff(frame, again); diff != "" {
			t.Fatalf("frame differs (-first +again):\n%s", diff)
		}
	})
}

var inputs = []api.Input{
	{Bytes: []byte("ls\r\x00\xff")},
	{Bytes: []byte{}},
	{Key: &keys.Key{Code: 'c', Mods: keys.Ctrl, Shifted: 'C', Base: 'c', Text: "ç"}},
	{Key: &keys.Key{Code: keys.F24, Phase: keys.Release}},
	{Mouse: &keys.Mouse{X: -1, Y: 500, Button: keys.WheelDown, Kind: keys.MouseMove, Mods: keys.Alt}},
	{Paste: new("two\nlines\x1b[201~")},
	{Paste: new("")},
	{Focus: new(true)},
	{Focus: new(false)},
	{Resize: &api.Size{Cols: 80, Rows: 24}},
	{Lines: &api.LineRange{From: -5, Count: 100}},
	{Mark: new(uint64(1 << 40))},
	{Display: &api.Display{}}, {AskColors: true}, {Reset: true},
	{Display: &api.Display{CellWidth: 9, CellHeight: 18, Pixels: true, Colors: styled.Palette{Background: styled.ColorRGB | 0xFFFFFF, Colors: [16]styled.Color{15: styled.ColorRGB}}}},
	{Hand: &api.Hand{Back: true}}, {Hand: &api.Hand{NoClipboard: true}}, {Typed: []byte("ls\r")}, {Master: true},
}

func TestInputRoundTripsThroughItsBinaryForm(t *testing.T) {
	for _, want := range inputs {
		msg, err := AppendInput(nil, want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeInput(msg)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("input differs (-want +got), error %v:\n%s", err, diff)
		}
	}
	if _, err := AppendInput(nil, api.Input{}); err == nil {
		t.Error("input with nothing set is encoded")
	}
}

func TestOutputRoundTripsThroughItsBinaryForm(t *testing.T) {
	f := sampleFrame(16, 2)
	for _, want := range []api.Output{
		{Direct: &api.Direct{Offer: true, Extended: true}}, {Direct: &api.Direct{Keys: true, Colored: true}}, {Direct: &api.Direct{Kitty: true}}, {Direct: &api.Direct{Pixels: true, Sixel: true}},
		{Frame: f}, {Bytes: []byte("\x1b[H")}, {Bytes: []byte{}}, {Clip: []byte("a\x00b")}, {Clip: []byte{}}, {Lines: f.Lines}, {Lines: []api.NumberedLine{}},
		{Mark: &api.Mark{N: 300, Held: 50 * time.Millisecond}},
		{Accepted: new(uint64(0))}, {Accepted: new(uint64(5 << 20))},
		{Master: &api.Master{}}, {Master: &api.Master{Lent: true}}, {Master: &api.Master{Refused: true}},
		{Modes: &keys.Modes{}}, {Modes: &keys.Modes{AppCursor: true, AppKeypad: true, Newline: true, ModifyOther: 2, Kitty: 31}},
		{Keyboard: new(uint8(0))}, {Keyboard: new(uint8(31))},
		{Ended: &api.Process{ID: "a", ExitCode: new(7)}},
	} {
		msg, err := AppendOutput(nil, want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeOutput(msg)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("output differs (-want +got), error %v:\n%s", err, diff)
		}
	}
	if _, err := AppendOutput(nil, api.Output{}); err == nil {
		t.Error("output with nothing set is encoded")
	}
}

func FuzzDecodeInput(f *testing.F) {
	for _, in := range inputs {
		msg, _ := AppendInput(nil, in)
		f.Add(msg)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		in, err := DecodeInput(b)
		if err != nil {
			return
		}
		msg, err := AppendInput(nil, in)
		if err != nil {
			t.Fatalf("what was decoded cannot be encoded: %v", err)
		}
		again, err := DecodeInput(msg)
		if diff := cmp.Diff(in, again); err != nil || diff != "" {
			t.Fatalf("input differs (-first +again), error %v:\n%s", err, diff)
		}
	})
}

func FuzzDecodeOutput(f *testing.F) {
	frame := sampleFrame(16, 2)
	for _, out := range []api.Output{{Frame: frame}, {Lines: frame.Lines}, {Bytes: []byte("x")}, {Clip: []byte("x")}, {Ended: &api.Process{ID: "a"}}} {
		msg, _ := AppendOutput(nil, out)
		f.Add(msg)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if out, err := DecodeOutput(b); err == nil {
			if _, err := AppendOutput(nil, out); err != nil {
				t.Fatalf("what was decoded cannot be encoded: %v", err)
			}
		}
	})
}

func TestAttachOptionsRoundTripThroughTheirQuery(t *testing.T) {
	for _, want := range []api.AttachOptions{
		{ID: "a"},
		{ID: "b", Raw: true, Direct: true, Kinds: true}, {ID: "c", Raw: true, Direct: true}, {ID: "d", Master: true},
		{ID: "with space & more", Raw: true, ReadOnly: true, Clips: true, Cols: 80, Rows: 24, Client: "dash=board", Input: "a b&", Lines: api.LineRange{From: -3, Count: 500}},
	} {
		q, err := url.ParseQuery(AttachQuery(want))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ParseAttach(q, false); err != nil || got != want {
			t.Errorf("parseAttach(%s) = %+v, %v; want %+v", AttachQuery(want), got, err, want)
		}
	}
}

func TestMalformedAttachOptionsAreRejected(t *testing.T) {
	for query, says := range map[string]string{
		"":                `"id"`,
		"id=a&raw=maybe":  `"raw"`,
		"id=a&cols=-1":    `"cols"`,
		"id=a&rows=99999": `"rows"`,
		"id=a&lines=1":    `"lines"`,
		"id=a&lines=1,-2": `"lines"`,
		"id=a&colour=red": `unknown field "colour"`,
	} {
		q, _ := url.ParseQuery(query)
		if _, err := ParseAttach(q, false); err == nil || err.Code != api.CodeInvalid || !strings.Contains(err.Message, says) {
			t.Errorf("parseAttach(%s) = %v, want CodeInvalid with %s", query, err, says)
		}
	}
}

func TestUnknownKindsOfANewerReleaseAreSkipped(t *testing.T) {
	q := url.Values{"id": {"a"}, "colour": {"red"}}
	if o, err := ParseAttach(q, true); err != nil || o.ID != "a" {
		t.Errorf("ParseAttach of a newer client = %+v, %v", o, err)
	}
	if _, err := DecodeInput([]byte("Znew")); !errors.Is(err, ErrUnknownKind) {
		t.Errorf("input of an unknown kind is %v", err)
	}
	if _, err := DecodeOutput([]byte("Znew")); !errors.Is(err, ErrUnknownKind) {
		t.Errorf("output of an unknown kind is %v", err)
	}
}

// Messages that release 0.2.0 writes on an attachment keep their meaning.
func TestMessagesOfRelease020AreUnderstood(t *testing.T) {
	for text, want := range map[string]api.Input{
		"kc\x04\x00Ccc": {Key: &keys.Key{Code: 'c', Mods: keys.Ctrl, Shifted: 'C', Base: 'c', Text: "c"}},
		"r\xa0\x010":    {Resize: &api.Size{Cols: 80, Rows: 24}},
		"bls\r":         {Bytes: []byte("ls\r")},
		"f\x01":         {Focus: new(true)},
	} {
		got, err := DecodeInput([]byte(text))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q (-want +got), error %v:\n%s", text, err, diff)
		}
	}
}

func BenchmarkAppendFrame(b *testing.B) {
	f := sampleFrame(200, 60)
	buf := AppendFrame(nil, f)
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		buf = AppendFrame(buf[:0], f)
	}
}

func BenchmarkDecodeFrame(b *testing.B) {
	msg := AppendFrame(nil, sampleFrame(200, 60))
	b.SetBytes(int64(len(msg)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DecodeFrame(msg); err != nil {
			b.Fatal(err)
		}
	}
}

func TestKeyKeepsWhetherItsAltIsImplied(t *testing.T) {
	want := keys.Key{Code: ':', Mods: keys.Alt, Phase: keys.Repeat, Implied: true}
	msg, err := AppendInput(nil, api.Input{Key: &want})
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeInput(msg)
	if err != nil || got.Key == nil || *got.Key != want {
		t.Errorf("%+v became %+v, %v", want, got.Key, err)
	}
}
