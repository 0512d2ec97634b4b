package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/engine/api/outbox"
	"tandem/engine/api/server"
	"tandem/engine/api/wire"
	"tandem/keys"
)

// attachMux serves session.attach with f.
func attachMux(f func(ctx context.Context, o api.AttachOptions, v *server.Viewer) error) *server.Mux {
	m := infoMux("1")
	m.HandleAttach(f)
	return m
}

// echo answers each key with a frame that shows it, until the viewer disconnects.
func echo(_ context.Context, _ api.AttachOptions, v *server.Viewer) error {
	for {
		in, err := v.Receive()
		if err != nil {
			return err
		}
		out := api.Output{Bytes: in.Bytes}
		if in.Key != nil {
			out = api.Output{Frame: &api.Frame{Cols: 80, Rows: 24, First: 10, Cursor: api.Cursor{X: 1},
				Lines: []api.NumberedLine{{N: 12, Line: api.Line{Runs: []api.Run{{Text: in.Key.Text, Cells: 1}}}}}}}
		}
		if err := v.Send(out); err != nil {
			return err
		}
	}
}

func attach(t testing.TB, m *server.Mux, o api.AttachOptions) *Attachment {
	t.Helper()
	a, err := connect(t, serve(t, m)).Attach(t.Context(), o)
	if err != nil {
		t.Fatalf("Attach: %v", err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// A viewer may hand over its terminal as soon as its attachment is open, and the engine may be reading
// already when it makes its offer.
func TestTerminalHandedOverAtOnceArrives(t *testing.T) {
	passed := make(chan *os.File, 1)
	c := connect(t, serve(t, attachMux(func(_ context.Context, _ api.AttachOptions, v *server.Viewer) error {
		_, err := v.Receive()
		passed <- v.Passed()
		return err
	})))
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	for i := range 500 {
		a, err := c.Attach(t.Context(), api.AttachOptions{ID: "a", Raw: true, Direct: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.HandOver(int(w.Fd()), false); err != nil {
			t.Fatal(err)
		}
		f := <-passed
		if f == nil {
			t.Fatalf("the descriptor of attachment %d is lost", i)
		}
		f.Close()
		a.Close()
	}
}

func TestAttachDeliversInputInOrder(t *testing.T) {
	const n = 10_000
	got := make(chan api.Input, n)
	options := make(chan api.AttachOptions, 1)
	a := attach(t, attachMux(func(_ context.Context, o api.AttachOptions, v *server.Viewer) error {
		options <- o
		for range n {
			in, err := v.Receive()
			if err != nil {
				return err
			}
			got <- in
		}
		return v.Send(api.Output{Ended: &api.Process{ID: "a"}})
	}), api.AttachOptions{ID: "a", Cols: 80, Rows: 24})
	for i := range n {
		if err := a.Send(api.Input{Key: &keys.Key{Code: keys.Code(i)}}); err != nil {
			t.Fatalf("send %d: %v", i, err)
		}
	}
	for i := range n {
		if in := <-got; in.Key == nil || in.Key.Code != keys.Code(i) {
			t.Fatalf("input %d is %+v", i, in)
		}
	}
	if diff := cmp.Diff(api.AttachOptions{ID: "a", Cols: 80, Rows: 24, Client: "test"}, <-options); diff != "" {
		t.Errorf("options differ (-want +got):\n%s", diff)
	}
}

func TestReceiveEndsWithTheSession(t *testing.T) {
	a := attach(t, attachMux(func(_ context.Context, _ api.AttachOptions, v *server.Viewer) error {
		if err := v.Send(api.Output{Frame: smallFrame()}); err != nil {
			return err
		}
		return v.Send(api.Output{Ended: &api.Process{ID: "a", ExitCode: ptr(7)}})
	}), api.AttachOptions{ID: "a"})
	out, err := a.Receive()
	if diff := cmp.Diff(api.Output{Frame: smallFrame()}, out); err != nil || diff != "" {
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

func TestAttachReturnsTheHandlersError(t *testing.T) {
	// This is longer than the part of an answer that the websocket package keeps.
	long := api.Errorf(api.CodeAmbiguous, "find x: it could be %s", strings.Repeat("this or ", 1000)).WithHint("give more letters")
	for name, tc := range map[string]struct {
		give error
		want *api.Error
	}{
		"an error":        {long, long},
		"a foreign error": {errors.New("boom"), &api.Error{Code: api.CodeInternal, Message: "boom"}},
		"nothing":         {nil, &api.Error{Code: api.CodeUnavailable, Message: "the engine closed the attachment immediately"}},
	} {
		m := attachMux(func(context.Context, api.AttachOptions, *server.Viewer) error { return tc.give })
		_, err := connect(t, serve(t, m)).Attach(t.Context(), api.AttachOptions{ID: "x"})
		var got *api.Error
		if !errors.As(err, &got) {
			t.Fatalf("%s: Attach = %v, want an *Error", name, err)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: error differs (-want +got):\n%s", name, diff)
		}
	}
}

func TestReceiveReturnsALateError(t *testing.T) {
	a := attach(t, attachMux(func(_ context.Context, _ api.AttachOptions, v *server.Viewer) error {
		if err := v.Send(api.Output{Bytes: []byte("x")}); err != nil {
			return err
		}
		return api.Errorf(api.CodeUnavailable, "the viewer is too slow").WithHint("attach again")
	}), api.AttachOptions{ID: "a", Raw: true})
	if out, err := a.Receive(); err != nil || string(out.Bytes) != "x" {
		t.Fatalf("Receive = %+v, %v", out, err)
	}
	_, err := a.Receive()
	var e *api.Error
	if !errors.As(err, &e) || e.Message != "the viewer is too slow" || e.Hint != "attach again" {
		t.Errorf("Receive = %v, want the handler's error", err)
	}
	if err := a.Send(api.Input{Bytes: []byte("y")}); !errors.Is(err, api.CodeUnavailable) {
		t.Errorf("Send on a lost attachment = %v, want CodeUnavailable", err)
	}
}

func TestAttachmentEndsWithTheEngine(t *testing.T) {
	dir := shortDir(t)
	stop := serveAt(t, attachMux(echo), dir)
	a, err := connect(t, Options{DataDir: dir}).Attach(t.Context(), api.AttachOptions{ID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	stop()
	if _, err := a.Receive(); !errors.Is(err, api.CodeUnavailable) {
		t.Errorf("Receive = %v, want CodeUnavailable", err)
	}
}

func TestStuckViewerDoesNotBlockEngineStop(t *testing.T) {
	dir := shortDir(t)
	blocked := make(chan error, 1)
	stop := serveAt(t, attachMux(func(_ context.Context, _ api.AttachOptions, v *server.Viewer) error {
		var err error
		for err == nil {
			err = v.Send(api.Output{Bytes: make([]byte, 1<<20)})
		}
		blocked <- err
		return err
	}), dir)
	a, err := connect(t, Options{DataDir: dir}).Attach(t.Context(), api.AttachOptions{ID: "a", Raw: true})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	stop()
	if err := <-blocked; !errors.Is(err, api.CodeUnavailable) {
		t.Errorf("Send = %v, want CodeUnavailable", err)
	}
}

func TestSendDetectsALostAttachmentWithoutReceive(t *testing.T) {
	a := attach(t, attachMux(func(_ context.Context, _ api.AttachOptions, v *server.Viewer) error {
		return v.Send(api.Output{Bytes: []byte("x")})
	}), api.AttachOptions{ID: "a"})
	for {
		err := a.Send(api.Input{Bytes: []byte("y")})
		if errors.Is(err, outbox.ErrLost) {
			return
		}
		if err != nil {
			t.Fatalf("Send = %v, want %v", err, outbox.ErrLost)
		}
		runtime.Gosched()
	}
}

func TestCloseEndsReceiveOnBothSides(t *testing.T) {
	gone := make(chan struct{})
	a := attach(t, attachMux(func(ctx context.Context, o api.AttachOptions, v *server.Viewer) error {
		defer close(gone)
		err := echo(ctx, o, v)
		<-ctx.Done()
		return err
	}), api.AttachOptions{ID: "a"})
	received := make(chan error, 1)
	go func() {
		_, err := a.Receive()
		received <- err
	}()
	a.Close()
	if err := <-received; !errors.Is(err, net.ErrClosed) {
		t.Errorf("Receive = %v, want net.ErrClosed", err)
	}
	if err := a.Send(api.Input{Bytes: []byte("x")}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Send = %v, want net.ErrClosed", err)
	}
	<-gone
	a.Close()
}

func TestCloseDeliversQueuedInput(t *testing.T) {
	got := make(chan string, 1)
	a := attach(t, attachMux(func(_ context.Context, _ api.AttachOptions, v *server.Viewer) error {
		var all strings.Builder
		defer func() { got <- all.String() }()
		for {
			in, err := v.Receive()
			if err != nil {
				return err
			}
			all.Write(in.Bytes)
		}
	}), api.AttachOptions{ID: "a"})
	want := strings.Repeat("exit\r", 100_000)
	if err := a.Send(api.Input{Bytes: []byte(want)}); err != nil {
		t.Fatal(err)
	}
	a.Close()
	if s := <-got; s != want {
		t.Errorf("%d bytes arrived, want %d", len(s), len(want))
	}
}

func TestSendNeverBlocksAndFailsWhenTheQueueIsFull(t *testing.T) {
	release := make(chan struct{})
	a := attach(t, attachMux(func(ctx context.Context, _ api.AttachOptions, v *server.Viewer) error {
		if _, err := v.Receive(); err != nil { // opens, then reads no more
			return err
		}
		<-release
		return nil
	}), api.AttachOptions{ID: "a"})
	defer close(release)
	chunk := make([]byte, 1<<20)
	var err error
	sent := 0
	for err == nil && sent <= 64 {
		err = a.Send(api.Input{Bytes: chunk})
		sent++
	}
	if !errors.Is(err, api.CodeUnavailable) || sent < 16 {
		t.Errorf("after %d MiB Send = %v, want CodeUnavailable after at least 16", sent, err)
	}
}

func TestPasteStaysWholeUpToItsLimit(t *testing.T) {
	got := make(chan int, 1)
	a := attach(t, attachMux(func(_ context.Context, _ api.AttachOptions, v *server.Viewer) error {
		in, err := v.Receive()
		if err != nil {
			return err
		}
		got <- len(*in.Paste)
		return v.Send(api.Output{Ended: &api.Process{}})
	}), api.AttachOptions{ID: "a"})
	if err := a.Send(api.Input{Paste: ptr(strings.Repeat("x", wire.MaxPaste+1))}); !errors.Is(err, api.CodeInvalid) {
		t.Errorf("a larger paste: Send = %v, want CodeInvalid", err)
	}
	if err := a.Send(api.Input{Paste: ptr(strings.Repeat("x", wire.MaxPaste))}); err != nil {
		t.Fatal(err)
	}
	if n := <-got; n != wire.MaxPaste {
		t.Errorf("a paste of %d bytes arrives with %d", wire.MaxPaste, n)
	}
}

func TestMalformedInputEndsTheAttachment(t *testing.T) {
	ended := make(chan error, 1)
	a := attach(t, attachMux(func(ctx context.Context, o api.AttachOptions, v *server.Viewer) error {
		err := echo(ctx, o, v)
		ended <- err
		return err
	}), api.AttachOptions{ID: "a"})
	if err := a.conn.Write([]byte("?nonsense")); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, api.CodeInvalid) {
		t.Errorf("the engine's Receive = %v, want CodeInvalid", err)
	}
	if _, err := a.Receive(); !errors.Is(err, api.CodeUnavailable) {
		t.Errorf("the client's Receive = %v, want CodeUnavailable", err)
	}
}

func TestManyViewersAttachAndDetach(t *testing.T) {
	c := connect(t, serve(t, attachMux(echo)))
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			a, err := c.Attach(t.Context(), api.AttachOptions{ID: "a"})
			if err != nil {
				t.Errorf("Attach: %v", err)
				return
			}
			defer a.Close()
			if err := a.Send(api.Input{Key: &keys.Key{Code: 'x', Text: "x"}}); err != nil {
				t.Errorf("Send: %v", err)
			}
			if out, err := a.Receive(); err != nil || out.Frame == nil {
				t.Errorf("Receive = %+v, %v", out, err)
			}
		})
	}
	wg.Wait()
}

// echoKey types a key and waits for its echo.
func echoKey(t *testing.T, conn wire.MessageConn) {
	t.Helper()
	msg, err := wire.AppendInput(nil, api.Input{Key: &keys.Key{Code: 'x', Text: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Write(msg); err != nil {
		t.Fatal(err)
	}
	answer, err := conn.Read(nil)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := wire.DecodeOutput(answer); err != nil || out.Frame == nil {
		t.Errorf("answer %+v, %v; want a frame", out, err)
	}
}

func TestEngineAcceptsWebSocketsOfOlderClients(t *testing.T) {
	o := serve(t, attachMux(echo))
	conn, _, err := websocket.Dial(t.Context(), "http://tandem/v1/session.attach?id=a", &websocket.DialOptions{HTTPClient: rawClient(t, o.DataDir)})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	echoKey(t, wire.NewWebSocket(conn, wire.MaxOutputMessage))
}

func TestClientUsesAWebSocketWithOlderEngines(t *testing.T) {
	m := attachMux(echo)
	upgrades := make(chan string, 10)
	old := serveRaw(t, m, wire.AttachName, func(w http.ResponseWriter, r *http.Request) {
		upgrades <- r.Header.Get("Upgrade")
		if r.Header.Get("Upgrade") != "websocket" {
			w.WriteHeader(http.StatusUpgradeRequired)
			_, _ = io.WriteString(w, `{"code":"invalid","message":"call session.attach: the request must ask for a WebSocket"}`) // the client may be gone
			return
		}
		m.ServeHTTP(w, r)
	})
	for name, o := range map[string]api.AttachOptions{"plain": {ID: "a"}, "with descriptors": {ID: "a", Master: true}} {
		a, err := connect(t, old).Attach(t.Context(), o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := a.Send(api.Input{Key: &keys.Key{Code: 'x', Text: "x"}}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if out, err := a.Receive(); err != nil || out.Frame == nil {
			t.Errorf("%s: received %+v, %v; want a frame", name, out, err)
		}
		a.Close()
		if first, second := <-upgrades, <-upgrades; first != wire.MessageProtocol || second != "websocket" {
			t.Errorf("%s: asked for %s, then %s", name, first, second)
		}
	}
}

func TestAttachmentOnTheOwnSocketNeedsNoWebSocket(t *testing.T) {
	upgrade := make(chan string, 1)
	m := attachMux(echo)
	o := serveRaw(t, m, wire.AttachName, func(w http.ResponseWriter, r *http.Request) {
		upgrade <- r.Header.Get("Upgrade")
		m.ServeHTTP(w, r)
	})
	a, err := connect(t, o).Attach(t.Context(), api.AttachOptions{ID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	echoKey(t, a.conn)
	if got := <-upgrade; got != wire.MessageProtocol {
		t.Errorf("asked for %s", got)
	}
}

func TestAttachRequiresAWebsocket(t *testing.T) {
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

func TestPanicOfTheAttachHandlerReachesTheViewer(t *testing.T) {
	for name, open := range map[string]bool{"before it is open": false, "after": true} {
		m := attachMux(func(_ context.Context, _ api.AttachOptions, v *server.Viewer) error {
			if open {
				if err := v.Send(api.Output{Bytes: []byte("x")}); err != nil {
					return err
				}
			}
			panic("oh no")
		})
		a, err := connect(t, serve(t, m)).Attach(t.Context(), api.AttachOptions{ID: "a"})
		for err == nil {
			_, err = a.Receive()
		}
		if a != nil {
			a.Close()
		}
		var e *api.Error
		if !errors.As(err, &e) || e.Code != api.CodeInternal || !strings.Contains(e.Message, "oh no") {
			t.Errorf("%s: %v, want CodeInternal that says what happened", name, err)
		}
	}
}

// BenchmarkEcho measures the time from a key, to an engine that answers at once, to the frame that
// comes back.
func BenchmarkEcho(b *testing.B) {
	a := attach(b, attachMux(echo), api.AttachOptions{ID: "a"})
	key := &keys.Key{Code: 'x', Text: "x"}
	b.ReportAllocs()
	for b.Loop() {
		if err := a.Send(api.Input{Key: key}); err != nil {
			b.Fatal(err)
		}
		if _, err := a.Receive(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRawOutput measures how fast a session's output reaches `tandem attach`.
func BenchmarkRawOutput(b *testing.B) {
	chunk := make([]byte, 32<<10)
	a := attach(b, attachMux(func(_ context.Context, _ api.AttachOptions, v *server.Viewer) error {
		for {
			if err := v.Send(api.Output{Bytes: chunk}); err != nil {
				return err
			}
		}
	}), api.AttachOptions{ID: "a", Raw: true})
	b.SetBytes(int64(len(chunk)))
	for b.Loop() {
		if _, err := a.Receive(); err != nil {
			b.Fatal(err)
		}
	}
}

func TestNextAttachmentFirstSendsUndeliveredInput(t *testing.T) {
	got := make(chan string, 2)
	serveInput := func(_ context.Context, _ api.AttachOptions, v *server.Viewer) error {
		for {
			in, err := v.Receive()
			if err != nil {
				return err
			}
			got <- string(in.Bytes)
		}
	}
	lost := attach(t, attachMux(serveInput), api.AttachOptions{ID: "a"})
	next := attach(t, attachMux(serveInput), api.AttachOptions{ID: "a"})
	typed := new(outbox.Outbox)
	lost.SendFrom(typed)
	lost.conn.CloseNow()
	if err := lost.Send(api.Input{Bytes: []byte("typed before anybody noticed")}); err != nil {
		t.Fatal(err)
	}
	lost.Close()
	next.SendFrom(typed)
	if err := next.Send(api.Input{Bytes: []byte(", and after")}); err != nil {
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

// readingSome serves attachments that report messages as accepted while some is open. They do not
// remember the messages of earlier attachments.
func readingSome(some <-chan struct{}, got chan<- api.Input) *server.Mux {
	return attachMux(func(ctx context.Context, _ api.AttachOptions, v *server.Viewer) error {
		accepted := uint64(0)
		v.Resume(api.InputState{Counts: true})
		if err := v.Send(api.Output{Bytes: []byte("ready")}); err != nil {
			return err
		}
		for {
			in, err := v.Receive()
			if err != nil {
				return err
			}
			got <- in
			select {
			case <-some:
				continue
			default:
			}
			if in.Numbered() {
				accepted++
			}
			if err := v.Send(api.Output{Accepted: &accepted}); err != nil {
				return err
			}
		}
	})
}

// receiving attaches, sends from o, and receives until the attachment ends. loss is what SendFrom
// returns.
func receiving(t *testing.T, m *server.Mux, o *outbox.Outbox) (a *Attachment, loss outbox.Loss) {
	a = attach(t, m, api.AttachOptions{ID: "a", Input: "x"})
	loss = a.SendFrom(o)
	if _, err := a.Receive(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			if _, err := a.Receive(); err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		a.conn.CloseNow()
		<-done
	})
	return a, loss
}

// These are limits of an outbox: for text not accepted by the terminal, and for joining messages.
const (
	maxUnaccepted = 128 << 10
	maxJoined     = 32 << 10
)

func TestInterruptOvertakesUnreadText(t *testing.T) {
	stalled := make(chan struct{})
	close(stalled)
	got := make(chan api.Input, 1000)
	o := new(outbox.Outbox)
	a, _ := receiving(t, readingSome(stalled, got), o)
	const size = 5 << 20
	for range size / (4 << 10) {
		if err := a.Send(api.Input{Bytes: bytes.Repeat([]byte("x"), 4<<10)}); err != nil {
			t.Fatal(err)
		}
	}
	arrived := 0
	for arrived < maxUnaccepted {
		arrived += len((<-got).Bytes)
	}
	dropped := int(o.DiscardText())
	if again := o.DiscardText(); again != 0 {
		t.Errorf("%d more bytes are dropped", again)
	}
	if err := a.Send(api.Input{Bytes: []byte("\x03")}); err != nil {
		t.Fatal(err)
	}
	for in := range got {
		if string(in.Bytes) == "\x03" {
			break
		}
		arrived += len(in.Bytes)
	}
	if arrived > maxUnaccepted+maxJoined || arrived+dropped != size {
		t.Errorf("%d bytes arrived and %d were dropped, of %d", arrived, dropped, size)
	}
}

func TestTextContinuesAsTheTerminalAcceptsIt(t *testing.T) {
	got := make(chan api.Input, 1000)
	o := new(outbox.Outbox)
	a, _ := receiving(t, readingSome(nil, got), o)
	var want, all strings.Builder
	for i := range 500 {
		text := strings.Repeat(string(rune('a'+i%26)), 4<<10)
		want.WriteString(text)
		if err := a.Send(api.Input{Bytes: []byte(text)}); err != nil {
			t.Fatal(err)
		}
	}
	for all.Len() < want.Len() {
		all.Write((<-got).Bytes)
	}
	if all.String() != want.String() {
		t.Error("other text arrived")
	}
	if n := o.DiscardText(); n != 0 {
		t.Errorf("%d bytes of what was sent are dropped", n)
	}
}

func TestUnacceptedTextOfALostConnectionIsReported(t *testing.T) {
	stalled := make(chan struct{})
	close(stalled)
	got := make(chan api.Input, 1000)
	m := readingSome(stalled, got)
	o := new(outbox.Outbox)
	lost, _ := receiving(t, m, o)
	if err := lost.Send(api.Input{Bytes: bytes.Repeat([]byte("x"), 5000)}); err != nil {
		t.Fatal(err)
	}
	for arrived := 0; arrived < 5000; {
		arrived += len((<-got).Bytes)
	}
	lost.conn.CloseNow()
	for !errors.Is(lost.Send(api.Input{Resize: &api.Size{}}), outbox.ErrLost) {
		runtime.Gosched()
	}
	lost.Close()
	if _, loss := receiving(t, m, o); loss.Keys != 5000 {
		t.Errorf("%d keys may be lost, want 5000", loss.Keys)
	}
}

func smallFrame() *api.Frame {
	return &api.Frame{Cols: 80, Rows: 24, Lines: []api.NumberedLine{{N: 3, Line: api.Line{Runs: []api.Run{{Text: "hello", Cells: 5}}}}}}
}
