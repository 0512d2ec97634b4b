package tmux

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"tandem/engine/api"
	"tandem/ui/cli/tmux/server"
)

// storeBuffer adds data as the newest buffer, replacing one called name. Without a name the buffer
// gets a generated one and counts towards buffer-limit. Empty data is ignored.
func storeBuffer(c *call, name string, data []byte) {
	if len(data) == 0 {
		return
	}
	b := server.Buffer{Name: name, Data: data, Created: now()}
	if name == "" {
		b.Name, b.Auto = fmt.Sprintf("buffer%d", c.file.Next.Buffer), true
		c.file.Next.Buffer++
	}
	c.removeBuffer(b.Name)
	c.file.Buffers = append([]server.Buffer{b}, c.file.Buffers...)
	// Buffers with a given name do not count, and stay until they are deleted.
	limit, count := c.optionValue(server.Target{}, "buffer-limit").Int(), 0
	c.file.Buffers = slices.DeleteFunc(c.file.Buffers, func(o server.Buffer) bool {
		if o.Auto {
			count++
		}
		return o.Auto && count > max(limit, 1)
	})
}

func (c *call) removeBuffer(name string) {
	c.file.Buffers = slices.DeleteFunc(c.file.Buffers, func(b server.Buffer) bool { return b.Name == name })
}

// findBuffer returns the buffer named by -b, or the newest one.
func findBuffer(c *call, cmd *command) (*server.Buffer, error) {
	name := cmd.value('b')
	for i := range c.file.Buffers {
		if b := &c.file.Buffers[i]; b.Name == name || name == "" {
			return b, nil
		}
	}
	if name == "" {
		return nil, errors.New("no buffers")
	}
	return nil, fmt.Errorf("no buffer %s", name)
}

// setBuffer implements set-buffer and load-buffer.
func setBuffer(c *call, cmd *command, _ server.Target) error {
	if cmd.has('n') {
		return renameBuffer(c, cmd)
	}
	data := []byte(cmd.arg(0))
	switch {
	case cmd.name == "load-buffer":
		var err error
		if data, err = readFile(c, cmd.args[0]); err != nil {
			return err
		}
	case len(cmd.args) == 0:
		return errors.New("no data specified")
	}
	name := cmd.value('b')
	if cmd.has('a') {
		if b, err := findBuffer(c, cmd); err == nil {
			data, name = append(slices.Clone(b.Data), data...), b.Name
		}
	}
	storeBuffer(c, name, data)
	return nil
}

func renameBuffer(c *call, cmd *command) error {
	b, err := findBuffer(c, cmd)
	if err != nil {
		return err
	}
	oldName, name := b.Name, cmd.value('n')
	if oldName == name {
		return nil
	}
	c.removeBuffer(name)
	// The deletion has shifted the buffers, so b is stale.
	b = &c.file.Buffers[slices.IndexFunc(c.file.Buffers, func(b server.Buffer) bool { return b.Name == oldName })]
	b.Name, b.Auto = name, false
	return nil
}

func readFile(c *call, path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(c.Stdin)
	}
	data, err := os.ReadFile(path)
	return data, fileError(path, err)
}

// fileError words the error of opening path as tmux does; nil stays nil.
func fileError(path string, err error) error {
	var failed *os.PathError
	if errors.As(err, &failed) {
		return fmt.Errorf("%s: %s", path, capitalize(failed.Err.Error()))
	}
	return err
}

// capitalize capitalizes a message of syscall.Errno as strerror(3) has it.
func capitalize(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// showBuffer implements show-buffer and save-buffer.
func showBuffer(c *call, cmd *command, _ server.Target) error {
	b, err := findBuffer(c, cmd)
	if err != nil {
		return err
	}
	if cmd.name == "show-buffer" || cmd.args[0] == "-" {
		_, err = c.out.Write(b.Data)
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
		return fileError(path, err)
	}
	_, err = f.Write(b.Data)
	return errors.Join(err, f.Close())
}

func bufferFacts(b server.Buffer) facts {
	sample := strings.NewReplacer("\n", `\n`, "\t", `\t`, "\r", `\r`).Replace(string(b.Data))
	if cut := ansi.Truncate(sample, 200, ""); cut != sample {
		sample = cut + "..."
	}
	return facts{"buffer_name": b.Name, "buffer_size": len(b.Data), "buffer_created": b.Created, "buffer_sample": sample}
}

func listBuffers(c *call, cmd *command, _ server.Target) error {
	form := `#{buffer_name}: #{buffer_size} bytes: "#{buffer_sample}"`
	for _, b := range c.file.Buffers {
		// Outside a list, buffer variables are those of the newest buffer.
		all := bufferFacts(b)
		scope := c.scope(server.Target{})
		scope.Lookup = func(name string) (string, bool) {
			if value, ok := all[name]; ok {
				return formatValue(value), true
			}
			return "", false
		}
		c.printFiltered(cmd, scope, form)
	}
	return nil
}

func deleteBuffer(c *call, cmd *command, _ server.Target) error {
	b, err := findBuffer(c, cmd)
	if err != nil {
		if cmd.has('b') {
			return fmt.Errorf("unknown buffer: %s", cmd.value('b'))
		}
		return errors.New("no buffer")
	}
	c.removeBuffer(b.Name)
	return nil
}

func pasteBuffer(c *call, cmd *command, at server.Target) error {
	b, err := findBuffer(c, cmd)
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
		if err := deleteBuffer(c, &command{flags: map[byte][]string{'b': {b.Name}}}, at); err != nil {
			return err
		}
	}
	return c.typeInto(at, []api.SessionWriteInput{in})
}
