package cast

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"tandem/engine/passthrough"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

const (
	// playLook is how often it is looked whether keys are still to be read.
	playLook = 100 * time.Millisecond
	// lateMost is how much of a delay is made good: a terminal that took
	// nothing for long does not get the rest at once.
	lateMost = time.Second
	// playFastest and playSlowest bound what + and - make of the speed.
	playFastest, playSlowest = 1024, 1.0 / 64
	// heldMost bounds an answer of the terminal.
	heldMost = 4 << 10
)

// errQuit says that the person has ended the playing.
var errQuit = errors.New("ended by the user")

// A player writes a recording's output when its time has come.
type player struct {
	out    io.Writer
	screen bool // out is a terminal
	speed  float64
	idle   time.Duration // longest pause; 0 for any

	paused bool
	at     time.Duration      // of the last event
	late   time.Duration      // how much later than it should the last event was shown
	replay passthrough.Replay // for a terminal
	show   *show              // that terminal; nil if it is not to be asked
}

// play plays to the end. Keys come from a channel, which may be nil.
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
		if err := p.write(ctx, e.Text, keys); err != nil {
			return err
		}
		p.late += time.Since(began)
	}
}

// write writes what was printed, to a terminal only what shows something.
func (p *player) write(ctx context.Context, text string, keys <-chan byte) (err error) {
	out := []byte(text)
	if p.screen {
		if out, err = p.onShow(ctx, out, keys); err != nil {
			return err
		}
	}
	if _, err := p.out.Write(out); err != nil {
		return fmt.Errorf("write to standard output: %w", err)
	}
	return nil
}

// wait lets the time before an event go by, at the speed there is, and obeys
// keys meanwhile. What the last event was late is made good.
func (p *player) wait(ctx context.Context, left time.Duration, keys <-chan byte) error {
	left -= time.Duration(float64(min(p.late, lateMost)) * p.speed)
	p.late = time.Duration(float64(max(-left, 0)) / p.speed)
	for left > 0 || p.paused {
		began, speed := time.Now(), p.speed
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
		if step, err := p.obey(key); step || err != nil {
			return err
		}
	}
	return ctx.Err()
}

// obey does what a key stands for; step is whether the next event is due.
func (p *player) obey(key byte) (step bool, err error) {
	switch key {
	case ' ':
		p.paused = !p.paused
	case '.':
		return p.paused, nil
	case '+':
		p.speed = min(p.speed*2, playFastest)
	case '-':
		p.speed = max(p.speed/2, playSlowest)
	case 'q', 0x03, 0x04: // ctrl+c, ctrl+d
		return false, errQuit
	}
	return false, nil
}

// restore brings the terminal back to what a shell expects. One that shows the
// alternate screen has to leave it, and one that does not must not.
func (p *player) restore() {
	if !p.screen {
		return
	}
	text := p.replay.Reset()
	if p.replay.InAltScreen() {
		if p.show != nil && p.show.converter != nil {
			text += string(p.show.converter.AppendForget(nil))
		}
		text += "\x1b[?1049l\x1b[?25h"
	} else { // margins that are set again take the cursor home
		text = "\x1b7" + text + "\x1b8\x1b[0m\x1b(B\x0f"
	}
	_, _ = io.WriteString(p.out, text+"\r\n") // a terminal that is gone needs none
}

// onTerminal plays with keys that are read from a terminal.
func (p *player) onTerminal(ctx context.Context, source source, in *os.File) error {
	state, err := term.MakeRaw(in.Fd())
	if err != nil {
		return fmt.Errorf("make terminal raw: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	keys, done := make(chan byte), make(chan struct{})
	go func() {
		defer close(done)
		readKeys(ctx, in, keys, p.show.answered)
	}()
	defer func() {
		cancel()
		<-done
		discardInput(in)
		p.show.leave(in)
		_ = term.Restore(in.Fd(), state) // a terminal that is gone needs no restoring
	}()
	return p.ended(p.play(ctx, source, keys))
}

// readKeys hands on what is typed, and what the terminal answers. What else begins with an
// escape is a longer key.
func readKeys(ctx context.Context, in *os.File, keys chan<- byte, answered func([]byte)) {
	buffer := make([]byte, 256)
	var held []byte // the beginning of a sequence
	for ctx.Err() == nil {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(in.Fd()), Events: unix.POLLIN}}, int(playLook.Milliseconds()))
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
			} else if state != ansi.NormalState && len(held) < heldMost {
				break // the rest is on its way, or it is an escape alone
			} else {
				answered(bytes.Clone(seq))
			}
			held = held[n:]
		}
	}
}
