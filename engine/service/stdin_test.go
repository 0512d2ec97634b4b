package service

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"tandem/engine/api"
)

// The FIFO of a process is its standard input.
func TestWriteReportsHowMuchInputWasRead(t *testing.T) {
	r := newRig(t)
	p := r.start(api.ProcessStartInput{Stdin: true})
	deaf := r.start(api.ProcessStartInput{})
	write := func(id, text string) error {
		_, err := api.ProcessWrite.Call(t.Context(), r, api.ProcessWriteInput{ID: id, Text: text})
		return err
	}
	wantError(t, r, api.ProcessWrite, api.ProcessWriteInput{ID: p.ID, Text: strings.Repeat("x", maxInput+1)}, api.CodeInvalid, "longer than 1048576 bytes")
	wantError(t, r, api.ProcessWrite, api.ProcessWriteInput{ID: deaf.ID, Text: "x"}, api.CodeConflict, "it was started without stdin")
	wantError(t, r, api.ProcessWrite, api.ProcessWriteInput{ID: "nobody\x1b", Text: "x"}, api.CodeNotFound, "nobody")
	wantError(t, r, api.ProcessWrite, api.ProcessWriteInput{ID: p.ID, Text: "x"}, api.CodeUnavailable, "no such file")
	confined := r.agent()
	confined.bounds = &api.Bounds{Sandbox: &api.Sandbox{}}
	wantError(t, confined, api.ProcessWrite, api.ProcessWriteInput{ID: p.ID, Text: "x"}, api.CodeForbidden, "outside the agents' sandbox")

	path := r.store.InputPath(p.ID)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	wantError(t, r, api.ProcessWrite, api.ProcessWriteInput{ID: p.ID, Text: "x"}, api.CodeEnded, "it has closed its standard input")
	in, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	text := bytes.Repeat([]byte("0123456789abcde\n"), maxInput/16)
	read := make(chan []byte)
	go func() {
		got := make([]byte, len(text))
		for n := 0; n < len(got); {
			more, err := in.Read(got[n:min(n+1000, len(got))])
			if err != nil {
				break
			}
			n += more
		}
		read <- got
	}()
	if err := write(p.ID, string(text)); err != nil {
		t.Error(err)
	}
	if got := <-read; !bytes.Equal(got, text) {
		t.Error("the text that was read differs")
	}
	// If the caller cancels, it does not have to wait for the reader.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := writeInput(ctx, path, "x", string(text), time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	// What fits into the pipe counts as written.
	err = writeInput(t.Context(), path, "x", strings.Repeat("x", 70_000), time.Millisecond)
	if e := api.AsError(err); !errors.Is(err, api.CodeConflict) || e.Message != "write to x: it is not reading; 65536 of 70000 bytes written" || e.Hint == "" {
		t.Errorf("not read: %v", err)
	}
	call(t, r, api.ProcessStop, api.ProcessStopInput{ID: p.ID})
	wantError(t, r, api.ProcessWrite, api.ProcessWriteInput{ID: p.ID, Text: "x"}, api.CodeEnded, "")
}
