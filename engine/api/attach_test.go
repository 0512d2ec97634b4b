package api

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/keys"
)

// attachMux serves session.attach with f.
func attachMux(f func(ctx context.Context, o AttachOptions, v *Viewer) error) *Mux {
	m := infoMux("1")
	m.HandleAttach(f)
	return m
}

// echo answers each key with a frame that shows it, until the viewer goes.
func echo(_ context.Context, _ AttachOptions, v *Viewer) error {
	for {
		in, err := v.Receive()
		if err != nil {
			return err
		}
		out := Output{Bytes: in.Bytes}
		if in.Key != nil {
			out = Output{Frame: &Frame{Cols: 80, Rows: 24, First: 10, Cursor: Cursor{X: 1},
				Lines: []NumberedLine{{N: 12, Line: Line{Runs: []Run{{Text: in.Key.Text, Cells: 1}}}}}}}
		}
		if err := v.Send(out); err != nil {
			return err
		}
	}
}

func attach(t testing.TB, m *Mux, o AttachOptions) *Attachment {
	t.Helper()
	a, err := connect(t, serve(t, m)).Attach(t.Context(), o)
	if err != nil {
		t.Fatalf("Attach: %v", err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

func TestAttachDeliversInputInOrder(t *testing.T) {
	const n = 10_000
	got := make(chan Input, n)
	options := make(chan AttachOptions, 1)
	a := attach(t, attachMux(func(_ context.Context, o AttachOptions, v *Viewer) error {
		options <- o
		for range n {
			in, err := v.Receive()
			if err != nil {
				return err
			}
			got <- in
		}
		return v.Send(Output{Ended: &Process{ID: "a"}})
	}), AttachOptions{ID: "a", Cols: 80, Rows: 24})
	for i := range n {
		if err := a.Send(Input{Key: &keys.Key{Code: keys.Code(i)}}); err != nil {
			t.Fatalf("send %d: %v", i, err)
		}
	}
	for i := range n {
		if in := <-got; in.Key == nil || in.Key.Code != keys.Code(i) {
			t.Fatalf("input %d is %+v", i, in)
		}
	}
	if diff := cmp.Diff(AttachOptions{ID: "a", Cols: 80, Rows: 24, Client: "test"}, <-options); diff != "" {
		t.Errorf("options differ (-want +got):\n%s", diff)
	}
}

func TestReceiveEndsWithTheSession(t *testing.T) {
	a := attach(t, attachMux(func(_ context.Context, _ AttachOptions, v *Viewer) error {
		if err := v.Send(Output{Frame: sampleFrame(80, 24)}); err != nil {
			return err
		}
		return v.Send(Output{Ended: &Process{ID: "a", ExitCode: ptr(7)}})
	}), AttachOptions{ID: "a"})
	out, err := a.Receive()
	if diff := cmp.Diff(Output{Frame: sampleFrame(80, 24)}, out); err != nil || diff != "" {
		t.Errorf("first message: error %v, differs (-want +got):\n%s", err, diff)
	}
	if out, err = a.Receive(); err != nil || out.Ended == nil || *out.Ended.ExitCode != 7 {
		t.Errorf("second message = %+v, %v; want the end with exit code 7", out, err)
	}
	for range 2 {
		if _, err = a.Receive(); err != io.EOF {
			t.Errorf("after the end, Receive = %v, want io.EOF", err)
		}
	}
}

func TestARefusedAttachReachesTheCaller(t *testing.T) {
	// Longer than what the websocket package keeps of an answer.
	long := Errorf(CodeAmbiguous, "find x: it could be %s", strings.Repeat("this or ", 1000)).WithHint("give more letters")
	for name, tc := range map[string]struct {
		give error
		want *Error
	}{
		"an error":        {long, long},
		"a foreign error": {errors.New("boom"), &Error{Code: CodeInternal, Message: "boom"}},
		"nothing":         {nil, &Error{Code: CodeUnavailable, Message: "the engine ended the attachment at once"}},
	} {
		m := attachMux(func(context.Context, AttachOptions, *Viewer) error { return tc.give })
		_, err := connect(t, serve(t, m)).Attach(t.Context(), AttachOptions{ID: "x"})
		var got *Error
		if !errors.As(err, &got) {
			t.Fatalf("%s: Attach = %v, want an *Error", name, err)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: error differs (-want +got):\n%s", name, diff)
		}
	}
}

func TestALateErrorReachesReceive(t *testing.T) {
	a := attach(t, attachMux(func(_ context.Context, _ AttachOptions, v *Viewer) error {
		if err := v.Send(Output{Bytes: []byte("x")}); err != nil {
			return err
		}
		return Errorf(CodeUnavailable, "the viewer is too slow").WithHint("attach again")
	}), AttachOptions{ID: "a", Raw: true})
	if out, err := a.Receive(); err != nil || string(out.Bytes) != "x" {
		t.Fatalf("Receive = %+v, %v", out, err)
	}
	_, err := a.Receive()
	var e *Error
	if !errors.As(err, &e) || e.Message != "the viewer is too slow" || e.Hint != "attach again" {
		t.Errorf("Receive = %v, want the handler's error", err)
	}
	if err := a.Send(Input{Bytes: []byte("y")}); !errors.Is(err, CodeUnavailable) {
		t.Errorf("Send on a lost attachment = %v, want CodeUnavailable", err)
	}
}

func TestAnAttachmentEndsWithTheEngine(t *testing.T) {
	dir := shortDir(t)
	stop := serveAt(t, attachMux(echo), dir)
	a, err := connect(t, ConnectOptions{DataDir: dir}).Attach(t.Context(), AttachOptions{ID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	stop()
	if _, err := a.Receive(); !errors.Is(err, CodeUnavailable) {
		t.Errorf("Receive = %v, want CodeUnavailable", err)
	}
}

func TestAStuckViewerDoesNotKeepTheEngineFromStopping(t *testing.T) {
	dir := shortDir(t)
	blocked := make(chan error, 1)
	stop := serveAt(t, attachMux(func(_ context.Context, _ AttachOptions, v *Viewer) error {
		var err error
		for err == nil {
			err = v.Send(Output{Bytes: make([]byte, 1<<20)})
		}
		blocked <- err
		return err
	}), dir)
	a, err := connect(t, ConnectOptions{DataDir: dir}).Attach(t.Context(), AttachOptions{ID: "a", Raw: true})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	stop()
	if err := <-blocked; !errors.Is(err, CodeUnavailable) {
		t.Errorf("Send = %v, want CodeUnavailable", err)
	}
}

func TestSendNoticesTheLossOfAnAttachmentThatNobodyReceivesFrom(t *testing.T) {
	a := attach(t, attachMux(func(_ context.Context, _ AttachOptions, v *Viewer) error {
		return v.Send(Output{Bytes: []byte("x")})
	}), AttachOptions{ID: "a"})
	for {
		err := a.Send(Input{Bytes: []byte("y")})
		if errors.Is(err, errLost) {
			return
		}
		if err != nil {
			t.Fatalf("Send = %v, want %v", err, errLost)
		}
		runtime.Gosched()
	}
}

func TestCloseEndsReceiveOnBothSides(t *testing.T) {
	gone := make(chan struct{})
	a := attach(t, attachMux(func(ctx context.Context, o AttachOptions, v *Viewer) error {
		defer close(gone)
		err := echo(ctx, o, v)
		<-ctx.Done()
		return err
	}), AttachOptions{ID: "a"})
	received := make(chan error, 1)
	go func() {
		_, err := a.Receive()
		received <- err
	}()
	a.Close()
	if err := <-received; !errors.Is(err, net.ErrClosed) {
		t.Errorf("Receive = %v, want net.ErrClosed", err)
	}
	if err := a.Send(Input{Bytes: []byte("x")}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Send = %v, want net.ErrClosed", err)
	}
	<-gone
	a.Close()
}

func TestCloseDeliversWhatWasSent(t *testing.T) {
	got := make(chan string, 1)
	a := attach(t, attachMux(func(_ context.Context, _ AttachOptions, v *Viewer) error {
		var all strings.Builder
		defer func() { got <- all.String() }()
		for {
			in, err := v.Receive()
			if err != nil {
				return err
			}
			all.Write(in.Bytes)
		}
	}), AttachOptions{ID: "a"})
	want := strings.Repeat("exit\r", 100_000)
	if err := a.Send(Input{Bytes: []byte(want)}); err != nil {
		t.Fatal(err)
	}
	a.Close()
	if s := <-got; s != want {
		t.Errorf("%d bytes arrived, want %d", len(s), len(want))
	}
}

func TestSendNeverBlocksAndSaysWhenTooMuchWaits(t *testing.T) {
	release := make(chan struct{})
	a := attach(t, attachMux(func(ctx context.Context, _ AttachOptions, v *Viewer) error {
		if _, err := v.Receive(); err != nil { // opens, then reads no more
			return err
		}
		<-release
		return nil
	}), AttachOptions{ID: "a"})
	defer close(release)
	chunk := make([]byte, 1<<20)
	var err error
	sent := 0
	for err == nil && sent <= 64 {
		err = a.Send(Input{Bytes: chunk})
		sent++
	}
	if !errors.Is(err, CodeUnavailable) || sent < 16 {
		t.Errorf("after %d MiB Send = %v, want CodeUnavailable after at least 16", sent, err)
	}
}

func TestAPasteStaysWholeUpToItsLimit(t *testing.T) {
	got := make(chan int, 1)
	a := attach(t, attachMux(func(_ context.Context, _ AttachOptions, v *Viewer) error {
		in, err := v.Receive()
		if err != nil {
			return err
		}
		got <- len(*in.Paste)
		return v.Send(Output{Ended: &Process{}})
	}), AttachOptions{ID: "a"})
	if err := a.Send(Input{Paste: ptr(strings.Repeat("x", maxPaste+1))}); !errors.Is(err, CodeInvalid) {
		t.Errorf("a larger paste: Send = %v, want CodeInvalid", err)
	}
	if err := a.Send(Input{Paste: ptr(strings.Repeat("x", maxPaste))}); err != nil {
		t.Fatal(err)
	}
	if n := <-got; n != maxPaste {
		t.Errorf("a paste of %d bytes arrives with %d", maxPaste, n)
	}
}

func TestTheOutboxJoinsWhatWaits(t *testing.T) {
	o := newOutbox()
	for _, in := range []Input{
		{Resize: &Size{80, 24}}, {Resize: &Size{100, 30}}, {Bytes: []byte("a")}, {Bytes: []byte("b")},
		{Resize: &Size{90, 20}}, {Focus: ptr(true)}, {Resize: &Size{80, 24}},
	} {
		if err := o.add(in); err != nil {
			t.Fatal(err)
		}
	}
	var got []Input
	size := 0
	for _, msg := range o.take() {
		in, err := decodeInput(msg)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, in)
		size += len(msg)
	}
	want := []Input{{Resize: &Size{100, 30}}, {Bytes: []byte("ab")}, {Resize: &Size{90, 20}}, {Focus: ptr(true)}, {Resize: &Size{80, 24}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("queue differs (-want +got):\n%s", diff)
	}
	if o.size != size {
		t.Errorf("the outbox counts %d bytes, its messages have %d", o.size, size)
	}
}

func TestMalformedInputEndsTheAttachment(t *testing.T) {
	ended := make(chan error, 1)
	a := attach(t, attachMux(func(ctx context.Context, o AttachOptions, v *Viewer) error {
		err := echo(ctx, o, v)
		ended <- err
		return err
	}), AttachOptions{ID: "a"})
	a.out.mu.Lock()
	a.out.push([]byte("?nonsense"))
	a.out.mu.Unlock()
	a.out.signal()
	if err := <-ended; !errors.Is(err, CodeInvalid) {
		t.Errorf("the engine's Receive = %v, want CodeInvalid", err)
	}
	if _, err := a.Receive(); !errors.Is(err, CodeUnavailable) {
		t.Errorf("the client's Receive = %v, want CodeUnavailable", err)
	}
}

func TestManyViewersComeAndGo(t *testing.T) {
	c := connect(t, serve(t, attachMux(echo)))
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			a, err := c.Attach(t.Context(), AttachOptions{ID: "a"})
			if err != nil {
				t.Errorf("Attach: %v", err)
				return
			}
			defer a.Close()
			if err := a.Send(Input{Key: &keys.Key{Code: 'x', Text: "x"}}); err != nil {
				t.Errorf("Send: %v", err)
			}
			if out, err := a.Receive(); err != nil || out.Frame == nil {
				t.Errorf("Receive = %+v, %v", out, err)
			}
		})
	}
	wg.Wait()
}

func TestAttachAsksForAWebsocket(t *testing.T) {
	o := serve(t, attachMux(echo))
	resp, err := rawClient(t, o.DataDir).Get("http://tandem/v1/session.attach?id=a")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusUpgradeRequired {
		t.Errorf("a plain GET answers %d, want %d", resp.StatusCode, http.StatusUpgradeRequired)
	}
}

func TestAPanicOfTheAttachHandlerReachesTheViewer(t *testing.T) {
	for name, open := range map[string]bool{"before it is open": false, "after": true} {
		m := attachMux(func(_ context.Context, _ AttachOptions, v *Viewer) error {
			if open {
				if err := v.Send(Output{Bytes: []byte("x")}); err != nil {
					return err
				}
			}
			panic("oh no")
		})
		a, err := connect(t, serve(t, m)).Attach(t.Context(), AttachOptions{ID: "a"})
		for err == nil {
			_, err = a.Receive()
		}
		if a != nil {
			a.Close()
		}
		var e *Error
		if !errors.As(err, &e) || e.Code != CodeInternal || !strings.Contains(e.Message, "oh no") {
			t.Errorf("%s: %v, want CodeInternal that says what happened", name, err)
		}
	}
}

// BenchmarkEcho is the way of a key to an engine that answers at once, and of
// the frame back.
func BenchmarkEcho(b *testing.B) {
	a := attach(b, attachMux(echo), AttachOptions{ID: "a"})
	key := &keys.Key{Code: 'x', Text: "x"}
	b.ReportAllocs()
	for b.Loop() {
		if err := a.Send(Input{Key: key}); err != nil {
			b.Fatal(err)
		}
		if _, err := a.Receive(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRawOutput is how fast a session's bytes reach `tandem attach`.
func BenchmarkRawOutput(b *testing.B) {
	chunk := make([]byte, 32<<10)
	a := attach(b, attachMux(func(_ context.Context, _ AttachOptions, v *Viewer) error {
		for {
			if err := v.Send(Output{Bytes: chunk}); err != nil {
				return err
			}
		}
	}), AttachOptions{ID: "a", Raw: true})
	b.SetBytes(int64(len(chunk)))
	for b.Loop() {
		if _, err := a.Receive(); err != nil {
			b.Fatal(err)
		}
	}
}

func TestWhatALostAttachmentCouldNotDeliverGoesFirstThroughTheNext(t *testing.T) {
	got := make(chan string, 2)
	m := attachMux(func(_ context.Context, _ AttachOptions, v *Viewer) error {
		for {
			in, err := v.Receive()
			if err != nil {
				return err
			}
			got <- string(in.Bytes)
		}
	})
	lost, next := attach(t, m, AttachOptions{ID: "a"}), attach(t, m, AttachOptions{ID: "a"})
	lost.conn.CloseNow()
	if err := lost.Send(Input{Bytes: []byte("typed before anybody noticed")}); err != nil {
		t.Fatal(err)
	}
	next.Inherit(lost)
	if err := next.Send(Input{Bytes: []byte(", and after")}); err != nil {
		t.Fatal(err)
	}
	want := "typed before anybody noticed, and after"
	for text := ""; text != want; {
		text += <-got
		if !strings.HasPrefix(want, text) {
			t.Fatalf("arrived: %q", text)
		}
	}
}
