package shell

import (
	"bufio"
	"context"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// interruptKey is what ctrl+c sends.
const interruptKey = 0x03

// read asks for a line. It reads in a goroutine that ends with the line, since
// nothing else interrupts a read of a terminal.
func (s *Shell) read(ctx context.Context, interrupts <-chan os.Signal, input *bufio.Reader) (string, error) {
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
	for ask := s.Prompt; ; ask = "\n" + s.Prompt {
		if err := s.Out.Print(s.marked(ask)); err != nil {
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

// interruptsAsText has a terminal hand ctrl+c over as the end of a line instead
// of as a signal: a signal may overtake, or be overtaken by, what was typed
// around it, and would then end the wrong verb. Other keys that are signals say
// nothing at a prompt, as in every shell. It fails if fd is not a terminal.
func interruptsAsText(fd int) (restore func(), ok bool) {
	was, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return func() {}, false
	}
	now := *was
	now.Cc[unix.VEOL] = interruptKey
	now.Cc[unix.VINTR], now.Cc[unix.VQUIT], now.Cc[unix.VSUSP] = 0, 0, 0 // no key at all
	if err := unix.IoctlSetTermios(fd, unix.TCSETS, &now); err != nil {
		return func() {}, false
	}
	return func() { _ = unix.IoctlSetTermios(fd, unix.TCSETS, was) }, true
}

// readLine reads a line and what ends it: a newline or, where that ends lines
// too, the interrupt key.
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
