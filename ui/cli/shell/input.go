package shell

import (
	"bufio"
	"context"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// interruptKey is the character sent by ctrl+c.
const interruptKey = 0x03

// readInput prompts for a line. It reads in a goroutine that ends with the line, as a read from a
// terminal cannot be interrupted.
func (s *Shell) readInput(ctx context.Context, interrupts <-chan os.Signal, input *bufio.Reader) (string, error) {
	interruptible := false
	if f, ok := s.Stdin.(*os.File); ok {
		var restore func()
		restore, interruptible = interruptsAsText(int(f.Fd()))
		defer restore()
	}
	type typed struct {
		line string
		err  error
	}
	got := make(chan typed, 1)
	next := func() {
		line, err := readLine(input, interruptible)
		got <- typed{line, err}
	}
	go next()
	// After an interrupt, prompt again on a new line.
	for ask := s.Prompt; ; ask = "\n" + s.Prompt {
		if err := s.Out.Print(s.markPrompt(ask)); err != nil {
			return "", err
		}
		select {
		case t := <-got:
			if !strings.HasSuffix(t.line, string(rune(interruptKey))) || !interruptible {
				return strings.TrimSpace(t.line), t.err
			}
			go next()
		case <-interrupts:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// interruptsAsText makes a terminal deliver ctrl+c as the end of a line instead of a signal. A
// signal may arrive before or after the text typed around it, and would then interrupt the wrong
// command. Other signal keys do nothing at a prompt, as in every shell. ok is false if fd is not a
// terminal.
func interruptsAsText(fd int) (restore func(), ok bool) {
	old, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return func() {}, false
	}
	changed := *old
	changed.Cc[unix.VEOL] = interruptKey
	changed.Cc[unix.VINTR], changed.Cc[unix.VQUIT], changed.Cc[unix.VSUSP] = 0, 0, 0 // disabled
	if err := unix.IoctlSetTermios(fd, unix.TCSETS, &changed); err != nil {
		return func() {}, false
	}
	return func() { _ = unix.IoctlSetTermios(fd, unix.TCSETS, old) }, true
}

// readLine reads a line including its end: a newline or, if interruptible, the interrupt key.
func readLine(in io.ByteReader, interruptible bool) (string, error) {
	var line strings.Builder
	for {
		b, err := in.ReadByte()
		if err != nil {
			return line.String(), err
		}
		line.WriteByte(b)
		if b == '\n' || interruptible && b == interruptKey {
			return line.String(), nil
		}
	}
}
