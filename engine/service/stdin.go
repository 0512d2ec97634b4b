package service

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"tandem/engine/agent/access"
	"tandem/engine/api"
	"tandem/engine/base/names"
	"tandem/engine/control/supervise"
	"tandem/engine/system/pty"
	"tandem/persist/store"
)

const (
	// maxInput limits one call's input, in bytes.
	maxInput = 1 << 20
	// inputTimeout is how long a program may take to read some of the input.
	inputTimeout = 5 * time.Second
	// pipeChunk is the maximum size of one write to the pipe. The timeout restarts after each
	// chunk.
	pipeChunk = 32 << 10
)

// writeStdin writes to the standard input of a process. If the program does not read all of it in
// time, the error says how much it has read.
func (s *Processes) writeStdin(ctx context.Context, in api.ProcessWriteInput) (api.Empty, error) {
	if len(in.Text) > maxInput {
		return api.Empty{}, api.Errorf(api.CodeInvalid, "write to %s: the text is longer than %d bytes", names.Shown(in.ID), maxInput)
	}
	e, err := s.Control.FindEntry(ctx, in.ID)
	if err != nil {
		return api.Empty{}, err
	}
	rec := e.Rec
	switch {
	case !rec.Stdin:
		return api.Empty{}, api.Errorf(api.CodeConflict, "write to %s: it was started without stdin", rec.Name)
	case e.State.Ended():
		return api.Empty{}, supervise.ErrEnded(rec)
	case s.Guard.LeavesSandbox(ctx, rec.ID):
		return api.Empty{}, access.ErrOutside(rec.Name)
	}
	path := s.Store.InputPath(rec.ID)
	reader := pty.PipeReader(path, e.View.PID)
	if err := writeInput(ctx, path, rec.Name, in.Text, inputTimeout); err != nil {
		return api.Empty{}, err
	}
	s.Pipes.noteInput(rec.ID, e.View.PID, reader, in.Text)
	return api.Empty{}, nil
}

// writeInput writes text to the FIFO of a process. It gives up once the program has read nothing
// for timeout.
func writeInput(ctx context.Context, path, name, text string, timeout time.Duration) error {
	// Without O_NONBLOCK, open would block while no process reads the FIFO.
	f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ENXIO) {
		return api.Errorf(api.CodeEnded, "write to %s: it has closed its standard input", name)
	}
	if err != nil {
		return api.Errorf(api.CodeUnavailable, "write to %s: %v", name, store.Cause(err))
	}
	defer f.Close()
	stop := context.AfterFunc(ctx, func() { _ = f.SetWriteDeadline(time.Unix(1, 0)) })
	defer stop()
	for done := 0; done < len(text); {
		// This may have overwritten the deadline that the end of ctx has set, so ctx is checked
		// next.
		if err := f.SetWriteDeadline(time.Now().Add(timeout)); err != nil {
			return api.Errorf(api.CodeInternal, "write to %s: %v", name, store.Cause(err))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		n, err := f.WriteString(text[done:min(done+pipeChunk, len(text))])
		done += n
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, os.ErrDeadlineExceeded):
			return api.Errorf(api.CodeConflict, "write to %s: it is not reading; %d of %d bytes written", name, done, len(text)).
				WithHint("write the rest when it reads again")
		case errors.Is(err, syscall.EPIPE):
			return api.Errorf(api.CodeEnded, "write to %s: it has closed its standard input", name)
		default:
			return api.Errorf(api.CodeUnavailable, "write to %s: %v", name, store.Cause(err))
		}
	}
	return nil
}
