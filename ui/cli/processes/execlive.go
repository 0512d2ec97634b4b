package processes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client/retry"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
)

const (
	// logPage is how many bytes of a log one call requests, and logWait how long the call waits
	// for more.
	logPage = 1 << 20
	logWait = 30 * time.Second
	// firstStartPoll and maxStartPoll are the first and the longest pause between two polls for a
	// process that has not been started yet.
	firstStartPoll, maxStartPoll = 20 * time.Millisecond, time.Second
)

// A liveExec is a running call of exec. The output of a command too slow for a single answer is
// printed as it arrives, and a signal to this program stops it.
type liveExec struct {
	f       *factory.Factory
	conn    *retry.Conn
	in      api.ExecInput
	grace   time.Duration
	streams [2]liveStream
}

// An execAnswer is the result of a call of exec.
type execAnswer struct {
	out api.ExecOutput
	err error
}

// A liveStream copies one output stream of a process from its log.
type liveStream struct {
	name   string
	to     io.Writer
	cursor int64
	until  int64 // cursor to stop at; 0 means the end
}

// run runs the command, prints its output and returns its exit status as an error.
func (l *liveExec) run(ctx context.Context, signals <-chan os.Signal) error {
	calling, abandon := context.WithCancel(ctx)
	defer abandon()
	answers := make(chan execAnswer, 1)
	go func() { answers <- l.call(calling) }()
	// Most commands exit at once. Only the output of slower ones is read from the log.
	var slow <-chan time.Time
	if !l.f.Out.JSON {
		slow = time.After(execAtOnce)
	}
	reading, stopReading := context.WithCancel(ctx)
	defer stopReading()
	var read chan error // nil until the logs are read
	var stopped syscall.Signal
	for {
		select {
		case answer := <-answers:
			stopReading() // finish prints what has not been read
			if read != nil {
				if err := <-read; err != nil && !errors.Is(err, context.Canceled) {
					return err
				}
			}
			return l.finish(ctx, answer, read != nil, stopped)
		case <-slow:
			read = make(chan error, 1)
			go func() { read <- l.readWhileRunning(reading, abandon) }()
		case s := <-signals:
			signal.Reset(s) // a second signal kills this program at once
			stopped, _ = s.(syscall.Signal)
			err := l.stop(ctx, stopped)
			switch {
			case errors.Is(err, api.CodeEnded): // by itself
				stopped = 0
			case errors.Is(err, api.CodeNotFound): // it has not been started yet
				abandon()
			case err != nil:
				return err
			}
		}
	}
}

// call calls exec until it has an answer. On another machine it repeats a call whose link was lost,
// because the engine there keeps the command for a while.
func (l *liveExec) call(ctx context.Context) execAnswer {
	var lost time.Time
	var unsure error
	for {
		out, err := api.Exec.Call(ctx, l.conn, l.in)
		switch {
		case l.conn.Machine() == "" || ctx.Err() != nil:
			return execAnswer{out, err}
		case errors.Is(err, api.CodeUnsure):
			lost, unsure = time.Now(), err
		case unsure == nil || !errors.Is(err, api.CodeUnavailable):
			return execAnswer{out, err}
		case time.Since(lost) > l.grace:
			return execAnswer{out, unsure}
		}
	}
}

func (l *liveExec) stop(ctx context.Context, s syscall.Signal) error {
	_, err := factory.Call(ctx, l.f, api.ProcessStop, api.ProcessStopInput{ID: l.in.ID, Signal: strconv.Itoa(int(s))})
	return err
}

// finish prints the rest of the output and returns the command's exit status. read says that output
// has been printed from the logs. stopped is the signal to this program that stopped the command.
func (l *liveExec) finish(ctx context.Context, answer execAnswer, read bool, stopped syscall.Signal) error {
	status := &output.ExitError{Status: output.StatusSignal + int(stopped)}
	err := answer.err
	switch {
	case stopped != 0 && errors.Is(err, context.Canceled):
		return status
	case err != nil:
		return startError(err)
	case l.f.Out.JSON:
		err = l.f.Out.Answer(answer.out, nil)
	case read:
		err = l.read(ctx, false)
	default:
		err = printStreams(ctx, l.f, answer.out)
	}
	switch {
	case err != nil:
		return err
	case stopped != 0:
		return status
	}
	return statusOf(answer.out, l.in)
}

// readWhileRunning prints both streams until the process exits. If that fails, for example because
// nothing reads the output any more, it calls abandon.
func (l *liveExec) readWhileRunning(ctx context.Context, abandon func()) error {
	err := l.awaitStart(ctx)
	if err == nil {
		err = l.read(ctx, true)
	}
	if err != nil {
		abandon()
	}
	return err
}

// awaitStart waits until the process exists and so has a log. Its start may be delayed, for example
// until the user answers a request.
func (l *liveExec) awaitStart(ctx context.Context) error {
	for pause := firstStartPoll; ; pause = min(2*pause, maxStartPoll) {
		_, err := api.ProcessGet.Call(ctx, l.conn, api.IDInput{ID: l.in.ID})
		if !errors.Is(err, api.CodeNotFound) {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// read prints both streams. If wait is set, it continues until the process exits; otherwise it
// prints what is in the log now. It returns the first error.
func (l *liveExec) read(ctx context.Context, wait bool) error {
	var readers sync.WaitGroup
	var errs [len(l.streams)]error
	for i := range l.streams {
		readers.Go(func() { errs[i] = l.streams[i].read(ctx, l.f, l.in.ID, wait) })
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
			f.Out.Tell("%d earlier bytes of %s are gone: the log has a size limit", out.Start-s.cursor, s.name)
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
