package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"tandem/engine/access"
	"tandem/engine/api"
	"tandem/engine/names"
	"tandem/engine/supervise"
	"tandem/persist/store"
)

const (
	stdinName = "stdin"
	// inputMost bounds what one call writes to a standard input.
	inputMost = 1 << 20
	// inputPatience is how long a program may take to read some of it.
	inputPatience = 5 * time.Second
	// pipeChunk is what one write takes at most, so that patience begins anew
	// whenever some of it was read.
	pipeChunk = 32 << 10
)

// makeInput makes the FIFO that is a process's standard input and gives its
// path; empty for a process that reads nothing. The child keeps it open in both
// directions, so that it outlives every process of ours.
func (h *host) makeInput(r store.Record) (string, error) {
	if !r.Stdin {
		return "", nil
	}
	path := filepath.Join(h.store.Dir(r.ID), stdinName)
	if err := syscall.Mkfifo(path, 0o600); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	return path, nil
}

// processWrite writes to the standard input of a process. Of a text that does
// not fit into the pipe and is not read, the answer says how much was written.
func (h *host) processWrite(ctx context.Context, in api.ProcessWriteInput) (api.Empty, error) {
	if len(in.Text) > inputMost {
		return api.Empty{}, api.Errorf(api.CodeInvalid, "write to %s: the text is longer than %d bytes", names.Shown(in.ID), inputMost)
	}
	e, err := h.control.Entry(ctx, in.ID)
	if err != nil {
		return api.Empty{}, err
	}
	rec := e.Rec
	switch {
	case !rec.Stdin:
		return api.Empty{}, api.Errorf(api.CodeConflict, "write to %s: it was started without stdin", rec.Name)
	case e.State.Ended():
		return api.Empty{}, supervise.ErrEnded(rec)
	case h.guard.LeavesSandbox(ctx, rec.ID):
		return api.Empty{}, access.ErrOutside(rec.Name)
	}
	return api.Empty{}, writeInput(ctx, filepath.Join(h.store.Dir(rec.ID), stdinName), rec.Name, in.Text)
}

// writeInput writes text into the FIFO of a process.
func writeInput(ctx context.Context, path, name, text string) error {
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
		if err := f.SetWriteDeadline(time.Now().Add(inputPatience)); err != nil {
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
			return api.Errorf(api.CodeConflict, "write to %s: it reads nothing; %d of %d bytes are written", name, done, len(text)).
				WithHint("write the rest when it reads again")
		case errors.Is(err, syscall.EPIPE):
			return api.Errorf(api.CodeEnded, "write to %s: it has closed its standard input", name)
		default:
			return api.Errorf(api.CodeUnavailable, "write to %s: %v", name, store.Cause(err))
		}
	}
	return nil
}

// endIdleInputs ends the sessions of agents that have no terminal but a
// standard input, and were neither written to nor have printed since a time.
func (h *host) endIdleInputs(ctx context.Context, since time.Time) {
	var recs []store.Record
	err := h.control.Visit(ctx, func(e supervise.Entry) {
		if r := e.Rec; r.Stdin && r.Transient && supervise.OfAgent(r) && r.Lease != string(api.LeaseForever) && e.State == api.StateRunning {
			recs = append(recs, r)
		}
	})
	if err != nil {
		return // the engine ends
	}
	for _, r := range recs {
		if !h.usedSince(r, since) {
			h.log.Info("end idle session", "id", r.ID)
			h.control.End(r.ID)
		}
	}
}

// usedSince reports whether a process was started, was written to or has printed
// since a time; its FIFO and its log tell.
func (h *host) usedSince(r store.Record, since time.Time) bool {
	if r.StartedAt.After(since) {
		return true
	}
	for _, path := range []string{h.logPath(r), h.errorLogPath(r), filepath.Join(h.store.Dir(r.ID), stdinName)} {
		if info, err := os.Stat(path); err == nil && info.ModTime().After(since) {
			return true
		}
	}
	return false
}
