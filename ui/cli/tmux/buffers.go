package tmux

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"tandem/engine/api"
	"tandem/ui/cli/tmux/server"
)

// bufferCommands implements the commands for paste buffers and their contents.
type bufferCommands struct{ *parts }

// store adds data as the newest buffer. A buffer without a name is subject to buffer-limit.
func (c bufferCommands) store(name string, data []byte) {
	c.state.StoreBuffer(name, data, c.settings.optionValue(server.Target{}, "buffer-limit").Int())
}

// setBuffer implements set-buffer and load-buffer.
func (c bufferCommands) setBuffer(cmd *command, _ server.Target) error {
	if cmd.has('n') {
		b, err := c.state.FindBuffer(cmd.value('b'))
		if err == nil {
			c.state.RenameBuffer(b.Name, cmd.value('n'))
		}
		return err
	}
	data := []byte(cmd.arg(0))
	switch {
	case cmd.name == "load-buffer":
		var err error
		if data, err = readFile(c.Stdin, cmd.args[0]); err != nil {
			return err
		}
	case len(cmd.args) == 0:
		return errors.New("no data specified")
	}
	name := cmd.value('b')
	if cmd.has('a') {
		if b, err := c.state.FindBuffer(cmd.value('b')); err == nil {
			data, name = append(slices.Clone(b.Data), data...), b.Name
		}
	}
	c.store(name, data)
	return nil
}

// readFile reads a file, or stdin for -. Errors are worded as tmux words them.
func readFile(stdin io.Reader, path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(stdin)
	}
	data, err := os.ReadFile(path)
	var failed *os.PathError
	if errors.As(err, &failed) {
		return nil, fmt.Errorf("%s: %s", path, capitalize(failed.Err.Error()))
	}
	return data, err
}

// capitalize capitalizes a message of syscall.Errno as strerror(3) has it.
func capitalize(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

func (c bufferCommands) showBuffer(cmd *command, _ server.Target) error {
	b, err := c.state.FindBuffer(cmd.value('b'))
	if err != nil {
		return err
	}
	_, err = c.print.out.Write(b.Data)
	return err
}

func bufferFacts(b server.Buffer) facts {
	sample := strings.NewReplacer("\n", `\n`, "\t", `\t`, "\r", `\r`).Replace(string(b.Data))
	if cut := ansi.Truncate(sample, 200, ""); cut != sample {
		sample = cut + "..."
	}
	return facts{"buffer_name": b.Name, "buffer_size": len(b.Data), "buffer_created": b.Created, "buffer_sample": sample}
}

func (c bufferCommands) listBuffers(cmd *command, _ server.Target) error {
	form := `#{buffer_name}: #{buffer_size} bytes: "#{buffer_sample}"`
	for _, b := range c.state.Buffers {
		// Outside a list, buffer variables are those of the newest buffer.
		all := bufferFacts(b)
		scope := c.formats.scope(server.Target{})
		scope.Lookup = func(name string) (string, bool) {
			if value, ok := all[name]; ok {
				return formatValue(value), true
			}
			return "", false
		}
		c.print.filtered(cmd, scope, form)
	}
	return nil
}

func (c bufferCommands) deleteBuffer(cmd *command, _ server.Target) error {
	b, err := c.state.FindBuffer(cmd.value('b'))
	if err != nil {
		if cmd.has('b') {
			return fmt.Errorf("unknown buffer: %s", cmd.value('b'))
		}
		return errors.New("no buffer")
	}
	c.state.RemoveBuffer(b.Name)
	return nil
}

func (c bufferCommands) pasteBuffer(cmd *command, at server.Target) error {
	b, err := c.state.FindBuffer(cmd.value('b'))
	if err != nil {
		if cmd.has('b') {
			return err
		}
		return nil
	}
	// Enter sends a carriage return, so that is what ends a pasted line.
	separator := "\r"
	if cmd.has('s') {
		separator = cmd.value('s')
	} else if cmd.has('r') {
		separator = "\n"
	}
	text := strings.ReplaceAll(string(b.Data), "\n", separator)
	in := api.SessionWriteInput{Text: text}
	if cmd.has('p') {
		in = api.SessionWriteInput{Paste: text}
	}
	if cmd.has('d') {
		c.state.RemoveBuffer(b.Name)
	}
	return keyboard(c).typeInto(at, []api.SessionWriteInput{in})
}
