package mcp

import (
	"context"
	"io"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/agent/mcp/toolkit"
)

// busy is a call answered only once the engine is reachable.
const busy = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"session_list"}}`

func TestOpenCallIsAnsweredAfterEndOfInput(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reach := make(chan struct{})
		k := newLineClientWith(t, toolkit.Options{CWD: "/", Connect: unreachableUntil(reach)})
		k.sendLine(hello)
		k.readReply()
		k.sendLine(busy)
		k.in.Close()
		time.Sleep(5 * time.Minute)
		close(reach)
		if got := k.readReply(); got.ID != 2.0 {
			t.Errorf("answer %+v", got)
		}
		if err := <-k.end; err != nil {
			t.Errorf("Serve = %v", err)
		}
	})
}

func TestCancelledCallEndsAtOnce(t *testing.T) {
	t.Parallel()
	k := newLineClientWith(t, toolkit.Options{CWD: "/", Connect: unreachableUntil(nil)})
	k.sendLine(hello)
	k.readReply()
	k.sendLine(busy)
	k.sendLine(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"other"}}`)
	k.sendLine(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}`)
	k.sendLine(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	if got := k.readReply(); got.ID != 2.0 {
		t.Errorf("answer %+v", got)
	}
	k.in.Close()
	if err := <-k.end; err != nil {
		t.Errorf("Serve = %v", err)
	}
}

func TestServerShutdownCancelsOpenCalls(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	defer inW.Close()
	end := make(chan error, 1)
	go func() {
		end <- Serve(ctx, toolkit.Options{CWD: "/", Connect: unreachableUntil(nil)}, inR, outW)
		outW.Close()
	}()
	go func() { _, _ = io.WriteString(inW, hello+"\n"+busy+"\n") }()
	if _, err := outR.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, outR) }()
	cancel()
	if err := <-end; err != nil {
		t.Errorf("Serve = %v", err)
	}
}

func TestReaderHangupStopsServer(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func() (r, w *os.File, err error){"pipe": os.Pipe, "socket": openSocketPair} {
		t.Run(name, func(t *testing.T) {
			r, w, err := open()
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			inR, inW := io.Pipe()
			defer inW.Close() // keeps the input open
			end := make(chan error, 1)
			go func() { end <- Serve(t.Context(), toolkit.Options{CWD: "/", Connect: unreachableUntil(nil)}, inR, w) }()
			for _, line := range []string{hello, busy} {
				if _, err := io.WriteString(inW, line+"\n"); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := r.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			r.Close()
			if err := <-end; err != nil {
				t.Errorf("Serve = %v", err)
			}
		})
	}
}

func openSocketPair() (r, w *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(fds[0]), "r"), os.NewFile(uintptr(fds[1]), "w"), nil
}

func TestRegularFileOutputIsNotWatched(t *testing.T) {
	t.Parallel()
	file, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, out := range []io.Writer{file, io.Discard} {
		unwatch := watchHangup(out, func() { t.Errorf("%T: its reader has gone", out) })
		unwatch()
	}
}
