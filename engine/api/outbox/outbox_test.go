package outbox

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/engine/api/wire"
	"tandem/keys"
)

func ptr[T any](v T) *T { return &v }

// connect makes a sender that is not woken.
func connect(o *Outbox, st api.InputState) *Sender {
	s, _ := o.Connect(func() {}, st)
	return s
}

func take(s *Sender) [][]byte {
	batch, _ := s.Take()
	return batch
}

func TestOutboxJoinsQueuedInput(t *testing.T) {
	o := new(Outbox)
	s := connect(o, api.InputState{})
	for _, in := range []api.Input{
		{Resize: &api.Size{Cols: 80, Rows: 24}}, {Resize: &api.Size{Cols: 100, Rows: 30}}, {Bytes: []byte("a")}, {Bytes: []byte("b")},
		{Resize: &api.Size{Cols: 90, Rows: 20}}, {Focus: ptr(true)}, {Resize: &api.Size{Cols: 80, Rows: 24}},
	} {
		if err := o.Send(in); err != nil {
			t.Fatal(err)
		}
	}
	var got []api.Input
	size := 0
	for _, msg := range take(s) {
		in, err := wire.DecodeInput(msg)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, in)
		size += len(msg)
	}
	want := []api.Input{{Resize: &api.Size{Cols: 100, Rows: 30}}, {Bytes: []byte("ab")}, {Resize: &api.Size{Cols: 90, Rows: 20}}, {Focus: ptr(true)}, {Resize: &api.Size{Cols: 80, Rows: 24}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("queue differs (-want +got):\n%s", diff)
	}
	if o.size != size {
		t.Errorf("the outbox counts %d bytes, its messages have %d", o.size, size)
	}
}

func TestDiscardingTextKeepsTheEndOfAPasteThatHasBegun(t *testing.T) {
	for rest, want := range map[string]string{
		"more" + pasteEnd + "typed":                               pasteEnd,
		"more" + pasteEnd + pasteStart + "another" + pasteEnd:     pasteEnd,
		"typed" + pasteStart + "another" + pasteEnd + "and typed": "",
	} {
		o := new(Outbox)
		s := connect(o, api.InputState{Counts: true, Reports: true})
		long := strings.Repeat("x", maxUnaccepted)
		for _, text := range []string{long, strings.Repeat("y", joinBytes) + rest} {
			if err := o.Send(api.Input{Bytes: []byte(text)}); err != nil {
				t.Fatal(err)
			}
			if text == long {
				s.Take()
			}
		}
		o.DiscardText()
		var left string
		for _, msg := range o.queue {
			left += string(msg[1:])
		}
		if left != want {
			t.Errorf("of %q, %q is left", rest, left)
		}
	}
}

func TestInterruptIsSentAsASeparateMessage(t *testing.T) {
	o := new(Outbox)
	s := connect(o, api.InputState{})
	var want [][]byte
	for _, text := range []string{"typed", "\x03", "typed after it"} {
		if err := o.Send(api.Input{Bytes: []byte(text)}); err != nil {
			t.Fatal(err)
		}
		want = append(want, append([]byte{wire.InputBytes}, text...))
	}
	if diff := cmp.Diff(want, take(s)); diff != "" {
		t.Error(diff)
	}
}

func TestInputThatMayNotHaveArrivedIsKept(t *testing.T) {
	send := func(o *Outbox, s *Sender, texts ...string) {
		for _, text := range texts {
			if err := o.Send(api.Input{Paste: &text}); err != nil {
				t.Fatal(err)
			}
			for _, msg := range take(s) {
				s.Sent(msg)
			}
		}
	}
	o := new(Outbox)
	s := connect(o, api.InputState{Counts: true})
	send(o, s, "a", "b")
	if err := o.Send(api.Input{Resize: &api.Size{Cols: 1, Rows: 1}}); err != nil {
		t.Fatal(err)
	}
	send(o, s, "c", "d")
	s.Lose()
	if err := o.Send(api.Input{Paste: ptr("e")}); err != nil { // never sent
		t.Fatal(err)
	}
	next := connect(o, api.InputState{Counts: true, Known: true, Taken: 2})
	var got string
	for _, msg := range take(next) {
		in, err := wire.DecodeInput(msg)
		if err != nil {
			t.Fatal(err)
		}
		got += *in.Paste
		next.Sent(msg)
	}
	if rest := take(connect(o, api.InputState{Counts: true, Known: true, Taken: 5})); got != "cde" || len(rest) != 0 {
		t.Errorf("of five, behind the second: %q; then %d more", got, len(rest))
	}
	full := new(Outbox)
	send(full, connect(full, api.InputState{Counts: true}), "x", strings.Repeat("y", maxKept))
	if n := len(take(connect(full, api.InputState{Counts: true, Known: true}))); n != 1 {
		t.Errorf("%d kept beyond the bound", n)
	}
}

func TestInputIsSentAgainOrReportedAsLost(t *testing.T) {
	texts := []string{"one", "two", pasteStart + "three", "four\x1b[2", "01~five"}
	for name, c := range map[string]struct {
		accepted uint64
		st       api.InputState
		again    string
		loss     Loss
	}{
		"the same engine":                       {0, api.InputState{Known: true, Taken: 2}, pasteStart + "three|four\x1b[2|01~five|six", Loss{}},
		"the next engine":                       {1, api.InputState{Known: true, Taken: 2, Unsure: 1}, pasteStart + "three|four\x1b[2|01~five|six", Loss{Keys: 3}},
		"the next engine, of a paste":           {1, api.InputState{Known: true, Taken: 3, Unsure: 1, Cut: true}, "five|six", Loss{Keys: 11 + 7 + 3, Paste: true}},
		"an engine that knows nothing":          {2, api.InputState{}, "six", Loss{Keys: 11 + 7 + 7}},
		"an engine that has all, but not typed": {2, api.InputState{Known: true, Taken: 5}, "six", Loss{}},
	} {
		o := new(Outbox)
		s := connect(o, api.InputState{Counts: true, Reports: true})
		for _, text := range texts {
			if err := o.Send(api.Input{Bytes: []byte(text)}); err != nil {
				t.Fatal(err)
			}
			take(s)
		}
		s.Accepted(c.accepted)
		s.Lose()
		if err := o.Send(api.Input{Bytes: []byte("six")}); err != nil {
			t.Fatal(err)
		}
		c.st.Counts, c.st.Reports = true, true
		next, loss := o.Connect(func() {}, c.st)
		var again []string
		for _, msg := range take(next) {
			again = append(again, string(msg[1:]))
		}
		if got := strings.Join(again, "|"); got != c.again || loss != c.loss {
			t.Errorf("%s: %q is sent again, %+v", name, got, loss)
		}
	}
}

// Both ends count the same messages.
func TestClientAndEngineNumberTheSameMessages(t *testing.T) {
	for _, in := range []api.Input{
		{Bytes: []byte("x")}, {Key: &keys.Key{Code: 'x'}}, {Mouse: &keys.Mouse{}}, {Paste: ptr("x")}, {Focus: ptr(true)},
		{Resize: &api.Size{}}, {Lines: &api.LineRange{}}, {Anchors: []api.Place{}}, {Display: &api.Display{}}, {AskColors: true},
		{Hand: &api.Hand{}}, {Typed: []byte("x")}, {Master: true}, {Reset: true}, {Mark: ptr(uint64(1))},
	} {
		msg, err := wire.AppendInput(nil, in)
		if err != nil || isInput(msg) != in.Numbered() {
			t.Errorf("%+v: numbered %v by the engine, %v by the client; %v", in, in.Numbered(), isInput(msg), err)
		}
	}
}

// The engine of another machine may answer anything.
func TestImpossibleInputStatesLoseNoNewInput(t *testing.T) {
	for _, st := range []api.InputState{
		{Known: true, Taken: math.MaxUint64, Unsure: math.MaxUint64}, {Known: true, Unsure: math.MaxUint64}, {Known: true, Taken: 1, Unsure: 5, Cut: true},
	} {
		o := new(Outbox)
		s := connect(o, api.InputState{Counts: true, Reports: true})
		for _, text := range []string{"sent", "sent too"} {
			if err := o.Send(api.Input{Paste: &text}); err != nil {
				t.Fatal(err)
			}
			take(s)
		}
		s.Accepted(math.MaxUint64)
		st.Counts, st.Reports = true, true
		next := connect(o, st)
		next.Accepted(math.MaxUint64)
		if err := o.Send(api.Input{Paste: ptr("new")}); err != nil {
			t.Fatal(err)
		}
		if all := take(next); len(all) == 0 || string(all[len(all)-1]) != "pnew" {
			t.Errorf("after %+v, %q is sent", st, all)
		}
	}
}

// The end of a paste may still be on its way from the user's terminal after the engine has ended
// the paste.
func TestRestOfACutPasteIsDropped(t *testing.T) {
	o := new(Outbox)
	s := connect(o, api.InputState{Counts: true, Known: true, Cut: true})
	for _, text := range []string{"rm -r x\r", "rest\x1b\x1b[20", "1~", "typed"} {
		if err := o.Send(api.Input{Bytes: []byte(text)}); err != nil {
			t.Fatal(err)
		}
	}
	if got := string(bytes.Join(take(s), nil)); got != "btyped" {
		t.Errorf("%q is sent", got)
	}
}

func TestClosedOutboxOpensWithTheNextConnection(t *testing.T) {
	var o Outbox
	o.Connect(func() {}, api.InputState{})
	o.Close() // as the session could not be attached
	if err := o.Send(api.Input{Bytes: []byte("a")}); !errors.Is(err, ErrNotSent) {
		t.Errorf("a closed outbox answers %v", err)
	}
	s, _ := o.Connect(func() {}, api.InputState{})
	if err := o.Send(api.Input{Bytes: []byte("b")}); err != nil {
		t.Error(err)
	}
	if batch, _ := s.Take(); len(batch) != 1 || string(batch[0][1:]) != "b" {
		t.Errorf("sent %q", batch)
	}
}

// The engine has ended a paste that is a single message, because another client typed before the
// viewer was back. The paste is not sent again, and no rest of it is expected.
func TestCutPasteOfOneMessageIsNotSentAgain(t *testing.T) {
	paste, st := "pasted", api.InputState{Counts: true, Reports: true}
	for name, back := range map[string]api.InputState{
		"stopped engine": {Counts: true, Reports: true, Known: true, Cut: true},
		"killed engine":  {Counts: true, Reports: true, Known: true, Taken: 1, Unsure: 1, Cut: true},
	} {
		o := new(Outbox)
		s, _ := o.Connect(func() {}, st)
		if err := o.Send(api.Input{Paste: &paste}); err != nil {
			t.Fatal(err)
		}
		s.Take()
		s.Lose()
		s, loss := o.Connect(func() {}, back)
		if again, _ := s.Take(); len(again) > 0 || loss != (Loss{Keys: int64(len(paste)), Paste: true}) {
			t.Errorf("%s: sent again %q, lost %+v", name, again, loss)
		}
		if err := o.Send(api.Input{Bytes: []byte("typed")}); err != nil {
			t.Fatal(err)
		}
		if batch, _ := s.Take(); len(batch) != 1 {
			t.Errorf("%s: what is typed later is sent as %q", name, batch)
		}
	}
}
