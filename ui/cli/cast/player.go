package cast

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"tandem/engine/screen/passthrough"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

const (
	// keyPoll is how often to check whether keys are still needed.
	keyPoll = 100 * time.Millisecond
	// maxCatchUp is the maximum delay to make up for: after a terminal blocks for long, the rest
	// must not be played all at once.
	maxCatchUp = time.Second
	// maxSpeed and minSpeed limit the speed set with + and -.
	maxSpeed, minSpeed = 1024, 1.0 / 64
	// maxAnswer is the maximum length of an answer of the terminal.
	maxAnswer = 4 << 10
)

// errQuit means that the user ended the playback.
var errQuit = errors.New("ended by the user")

// A player writes a recording's output at the right times.
type player struct {
	out        io.Writer
	onTerminal bool // out is a terminal
	speed      float64
	idle       time.Duration // maximum pause; 0 means no limit

	paused   bool
	at       time.Duration      // time of the last event
	late     time.Duration      // how late the last event was
	replay   passthrough.Replay // filters the output for a terminal
	terminal *screen            // the terminal's pictures; nil if it must not be queried
}

// play plays a source to the end. keys receives what the user types, and may be nil.
func (p *player) play(ctx context.Context, source source, keys <-chan byte) error {
	for {
		e, err := source.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		gap := max(e.At-p.at, 0)
		if p.idle > 0 {
			gap = min(gap, p.idle)
		}
		p.at = e.At
		if err := p.wait(ctx, gap, keys); err != nil {
			return err
		}
		if e.Kind != Output {
			continue
		}
		began := time.Now()
		if err := p.writeOutput(ctx, e.Text, keys); err != nil {
			return err
		}
		p.late += time.Since(began)
	}
}

// writeOutput writes output. For a terminal it filters everything that shows nothing.
func (p *player) writeOutput(ctx context.Context, text string, keys <-chan byte) (err error) {
	out := []byte(text)
	if p.onTerminal {
		if out, err = p.convert(ctx, out, keys); err != nil {
			return err
		}
	}
	if _, err := p.out.Write(out); err != nil {
		return fmt.Errorf("write to standard output: %w", err)
	}
	return nil
}

// wait waits until the next event is due, and handles keys meanwhile. left is the recorded time
// until that event, which passes at the current speed. wait makes up for the delay of the previous
// event.
func (p *player) wait(ctx context.Context, left time.Duration, keys <-chan byte) error {
	left -= time.Duration(float64(min(p.late, maxCatchUp)) * p.speed)
	p.late = time.Duration(float64(max(-left, 0)) / p.speed)
	for left > 0 || p.paused {
		began, speed := time.Now(), p.speed
		// The speed may change during the wait, so left stays in the recording's time.
		wanted := time.Duration(float64(left) / speed)
		due := time.After(wanted)
		if p.paused {
			due = nil
		}
		var key byte
		select {
		case <-due:
			p.late = time.Since(began) - wanted
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case key = <-keys:
		}
		if !p.paused {
			left -= time.Duration(float64(time.Since(began)) * speed)
		}
		if step, err := p.handleKey(key); step || err != nil {
			return err
		}
	}
	return ctx.Err()
}

// handleKey carries out a key's command. step reports whether to show the next event now.
func (p *player) handleKey(key byte) (step bool, err error) {
	switch key {
	case ' ':
		p.paused = !p.paused
	case '.':
		return p.paused, nil
	case '+':
		p.speed = min(p.speed*2, maxSpeed)
	case '-':
		p.speed = max(p.speed/2, minSpeed)
	case 'q', 0x03, 0x04: // ctrl+c, ctrl+d
		return false, errQuit
	}
	return false, nil
}

// restore resets the terminal for a shell. It leaves the alternate screen only if the recording
// entered it.
func (p *player) restore() {
	if !p.onTerminal {
		return
	}
	text := p.replay.Reset()
	if p.replay.InAltScreen() {
		if p.terminal != nil && p.terminal.converter != nil {
			text += string(p.terminal.converter.AppendForget(nil))
		}
		text += "\x1b[?1049l\x1b[?25h"
	} else { // resetting margins moves the cursor home
		text = "\x1b7" + text + "\x1b8\x1b[0m\x1b(B\x0f"
	}
	_, _ = io.WriteString(p.out, text+"\r\n") // an error means that the terminal is gone
}

// playWithKeys plays a source with keys read from the terminal in.
func (p *player) playWithKeys(ctx context.Context, source source, in *os.File) error {
	state, err := term.MakeRaw(in.Fd())
	if err != nil {
		return fmt.Errorf("make terminal raw: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	keys, done := make(chan byte), make(chan struct{})
	go func() {
		defer close(done)
		readKeys(ctx, in, keys, p.terminal.addAnswer)
	}()
	defer func() {
		cancel()
		<-done
		// Unread keys and answers must not reach the shell.
		discardInput(in)
		p.terminal.awaitAnswer(in)
		_ = term.Restore(in.Fd(), state) // an error means that the terminal is gone
	}()
	return p.finish(p.play(ctx, source, keys))
}

// readKeys sends typed keys to keys and passes the terminal's answers to answered. Keys sent as
// several bytes, such as arrows, also begin with an escape and therefore have no effect.
func readKeys(ctx context.Context, in *os.File, keys chan<- byte, answered func([]byte)) {
	buffer := make([]byte, 256)
	var held []byte // an incomplete sequence
	for ctx.Err() == nil {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(in.Fd()), Events: unix.POLLIN}}, int(keyPoll.Milliseconds()))
		if n == 0 || err == unix.EINTR {
			held = nil
			continue
		}
		if n, err = unix.Read(int(in.Fd()), buffer); err != nil || n <= 0 {
			return
		}
		for held = append(held, buffer[:n]...); len(held) > 0; {
			seq, _, n, state := ansi.DecodeSequence(held, ansi.NormalState, nil)
			if held[0] != 0x1b {
				select {
				case keys <- held[0]:
				case <-ctx.Done():
					return
				}
				n = 1
			} else if state != ansi.NormalState && len(held) < maxAnswer {
				break // the rest is still to come, or it is a single escape
			} else {
				answered(bytes.Clone(seq))
			}
			held = held[n:]
		}
	}
}
