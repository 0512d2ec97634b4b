package processes

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client/retry"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
)

const (
	// logPage is how much of a log is asked for at once, logWait how long one call waits for
	// more.
	logPage = 1 << 20
	logWait = 30 * time.Second
)

// A liveExec is a command too slow for a single answer. Its output is printed as it arrives, and a
// signal to this program stops it.
type liveExec struct {
	f       *factory.Factory
	process api.Process
	streams [2]liveStream
}

// A liveStream copies one output stream of a process from its log.
type liveStream struct {
	name   string
	to     io.Writer
	cursor int64
	until  int64 // cursor to stop at; 0 means the end
}

// follow prints a command's output until it exits. At the deadline the command keeps running, or is
// killed with in.Kill. A signal to this program stops it. The error carries the exit status.
func follow(ctx context.Context, f *factory.Factory, p api.Process, in api.ExecInput, deadline time.Time, signals <-chan os.Signal) error {
	l := &liveExec{f: f, process: p, streams: [2]liveStream{{name: "stdout", to: f.Stdout}, {name: "stderr", to: f.Stderr}}}
	limited, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	caught := make(chan os.Signal, 1)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case s := <-signals:
			signal.Reset(s) // a second signal kills this program at once
			caught <- s
			cancel()
		case <-limited.Done():
		}
	}()
	err := l.read(limited, true)
	late := err != nil && limited.Err() != nil && ctx.Err() == nil
	cancel()
	// Wait for the goroutine: it may have caught a signal just before cancel.
	<-watched
	if err != nil && !late {
		return err
	}
	var stopped os.Signal
	select {
	case stopped = <-caught:
	default:
	}
	return l.finish(ctx, in, late, stopped)
}

// finish stops the command if asked to, prints the rest of its output and returns its exit status.
// late means that it had not exited when reading stopped.
func (l *liveExec) finish(ctx context.Context, in api.ExecInput, late bool, stopped os.Signal) error {
	if late && (stopped != nil || in.Kill) {
		stop := api.ProcessStopInput{ID: l.process.ID, Signal: "SIGKILL"}
		if s, ok := stopped.(syscall.Signal); ok {
			stop.Signal = fmt.Sprint(int(s))
		}
		if _, err := factory.Call(ctx, l.f, api.ProcessStop, stop); err != nil {
			return err
		}
	}
	if late {
		if err := l.read(ctx, false); err != nil {
			return err
		}
	}
	if s, ok := stopped.(syscall.Signal); ok && late {
		return &output.ExitError{Status: output.StatusSignal + int(s)}
	}
	p, err := factory.Call(ctx, l.f, api.ProcessGet, api.IDInput{ID: l.process.ID})
	if err != nil {
		return err
	}
	return statusOf(api.ExecOutput{Process: p, TimedOut: late}, in)
}

// read prints both streams: until the process exits with wait, else what is in the log now. It
// returns the first error.
func (l *liveExec) read(ctx context.Context, wait bool) error {
	var readers sync.WaitGroup
	var errs [len(l.streams)]error
	for i := range l.streams {
		readers.Go(func() { errs[i] = l.streams[i].read(ctx, l.f, l.process.ID, wait) })
	}
	readers.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *liveStream) read(ctx context.Context, f *factory.Factory, id string, wait bool) error {
	p, err := retry.Connect(ctx, f.Dial)
	if err != nil {
		return err
	}
	defer p.Close()
	for {
		in := api.ProcessLogInput{ID: id, Stream: s.name, Since: &s.cursor, Max: logPage, Exact: true}
		if s.until > 0 {
			in.Max = int(min(logPage, s.until-s.cursor))
		}
		if wait {
			in.WaitMS = int(logWait.Milliseconds())
		}
		out, err := api.ProcessLog.Call(ctx, p, in)
		if err != nil {
			return err
		}
		if out.Start > s.cursor {
			f.Out.Tell("%d earlier bytes of %s are gone: the log is limited", out.Start-s.cursor, s.name)
		}
		page, err := out.Bytes()
		if err != nil {
			return err
		}
		if err := s.write(page); err != nil {
			return err
		}
		// A limited log may end before s.until; without progress nothing more can come.
		moved := out.NextCursor > s.cursor
		s.cursor = max(s.cursor, out.NextCursor)
		atEnd := s.cursor >= out.End || !moved || s.until > 0 && s.cursor >= s.until
		if atEnd && (!wait || out.State.Ended()) {
			return nil
		}
	}
}

func (s *liveStream) write(p []byte) error {
	if _, err := s.to.Write(p); err != nil {
		return fmt.Errorf("write to %s: %w", s.name, err)
	}
	return nil
}
