package tmux

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"tandem/engine/api"
	"tandem/ui/cli/tmux/format"
	"tandem/ui/cli/tmux/server"
)

// keepBuffer keeps a text, under a name or a number of its own.
func (c *call) keepBuffer(name string, data []byte) {
	if len(data) == 0 {
		return
	}
	b := server.Buffer{Name: name, Data: data, Created: now()}
	if name == "" {
		b.Name, b.Auto = fmt.Sprintf("buffer%d", c.file.Next.Buffer), true
		c.file.Next.Buffer++
	}
	c.file.Buffers = slices.DeleteFunc(c.file.Buffers, func(o server.Buffer) bool { return o.Name == b.Name })
	c.file.Buffers = append([]server.Buffer{b}, c.file.Buffers...)
	limit, count := c.file.Lookup(server.LevelServer, server.Place{}, "buffer-limit").Int(), 0
	c.file.Buffers = slices.DeleteFunc(c.file.Buffers, func(o server.Buffer) bool {
		if o.Auto {
			count++
		}
		return o.Auto && count > max(limit, 1)
	})
}

// buffer is the one that -b names, else the newest that was not named.
func (c *call) buffer(cmd *command) (*server.Buffer, error) {
	name := cmd.value('b')
	for i := range c.file.Buffers {
		if b := &c.file.Buffers[i]; b.Name == name || name == "" && b.Auto {
			return b, nil
		}
	}
	if name == "" {
		return nil, errors.New("no buffers")
	}
	return nil, fmt.Errorf("no buffer %s", name)
}

// setBuffer is set-buffer and load-buffer.
func (c *call) setBuffer(cmd *command) error {
	if cmd.has('n') {
		b, err := c.buffer(cmd)
		if err != nil {
			return err
		}
		name := cmd.value('n')
		c.file.Buffers = slices.DeleteFunc(c.file.Buffers, func(o server.Buffer) bool { return o.Name == name })
		if b, err = c.buffer(cmd); err == nil {
			b.Name, b.Auto = name, false
		}
		return err
	}
	var data []byte
	if cmd.name == "load-buffer" {
		var err error
		if data, err = c.readFile(cmd.args[0]); err != nil {
			return err
		}
	} else {
		if len(cmd.args) == 0 {
			return errors.New("no data specified")
		}
		data = []byte(cmd.args[0])
	}
	name := cmd.value('b')
	if cmd.has('a') {
		if b, err := c.buffer(cmd); err == nil {
			data, name = append(slices.Clone(b.Data), data...), b.Name
		}
	}
	c.keepBuffer(name, data)
	return nil
}

func (c *call) readFile(path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(c.Stdin)
	}
	data, err := os.ReadFile(path)
	var failed *os.PathError
	if errors.As(err, &failed) {
		return nil, fmt.Errorf("%s: %s", capital(failed.Err.Error()), path)
	}
	return data, err
}

// capital begins a message with a capital letter, as strerror(3) does.
func capital(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// showBuffer is show-buffer and save-buffer.
func (c *call) showBuffer(cmd *command) error {
	b, err := c.buffer(cmd)
	if err != nil {
		return err
	}
	if cmd.name == "show-buffer" || cmd.args[0] == "-" {
		_, err = c.out.Write(append(bytes.TrimSuffix(slices.Clone(b.Data), []byte("\n")), '\n'))
		return err
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if cmd.has('a') {
		flags = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	}
	path, err := filepath.Abs(cmd.args[0])
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b.Data)
	return errors.Join(err, f.Close())
}

func bufferVariable(b server.Buffer, name string) (string, bool) {
	switch name {
	case "buffer_name":
		return b.Name, true
	case "buffer_size":
		return strconv.Itoa(len(b.Data)), true
	case "buffer_created":
		return stamp(b.Created), true
	case "buffer_sample":
		sample := strings.NewReplacer("\n", `\n`, "\t", `\t`, "\r", `\r`).Replace(string(b.Data))
		if cut := ansi.Truncate(sample, 200, ""); cut != sample {
			return cut + "...", true
		}
		return sample, true
	}
	return "", false
}

// listBuffers is list-buffers.
func (c *call) listBuffers(cmd *command) error {
	form := `#{buffer_name}: #{buffer_size} bytes: "#{buffer_sample}"`
	if cmd.has('F') {
		form = cmd.value('F')
	}
	for _, b := range c.file.Buffers {
		scope := format.Scope{Now: now(), Lookup: func(name string) (string, bool) { return bufferVariable(b, name) }}
		if !cmd.has('f') || truth(scope.Expand(cmd.value('f'))) {
			c.print(scope.Expand(form))
		}
	}
	return nil
}

// deleteBuffer is delete-buffer.
func (c *call) deleteBuffer(cmd *command) error {
	b, err := c.buffer(cmd)
	if err != nil {
		if cmd.has('b') {
			return err
		}
		return errors.New("no buffer")
	}
	name := b.Name
	c.file.Buffers = slices.DeleteFunc(c.file.Buffers, func(o server.Buffer) bool { return o.Name == name })
	return nil
}

// pasteBuffer is paste-buffer.
func (c *call) pasteBuffer(cmd *command) error {
	at, err := c.target(cmd, 't', server.WantPane)
	if err != nil {
		return err
	}
	b, err := c.buffer(cmd)
	if err != nil {
		if cmd.has('b') {
			return err
		}
		return nil
	}
	text := string(b.Data)
	separator := "\r"
	if cmd.has('s') {
		separator = cmd.value('s')
	} else if cmd.has('r') {
		separator = "\n"
	}
	in := api.SessionWriteInput{Text: strings.ReplaceAll(text, "\n", separator)}
	if cmd.has('p') {
		in = api.SessionWriteInput{Paste: text}
	}
	if cmd.has('d') {
		if err := c.deleteBuffer(&command{flags: map[byte][]string{'b': {b.Name}}}); err != nil {
			return err
		}
	}
	return c.typeInto(at, []api.SessionWriteInput{in})
}
