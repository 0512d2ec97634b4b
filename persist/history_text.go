package persist

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"
)

// maxCommands bounds what is read of a file of commands.
const maxCommands = 256 << 20

// A TextCommand is a command of a text file.
type TextCommand struct {
	Line     string
	At       time.Time     // when it began; zero if the file does not tell
	Duration time.Duration // negative if the file does not tell
}

// SaveCommands writes commands to the text file at path, one a line, and makes
// the folders that lack. The file is whole at any moment, and as a new one
// readable by this user alone; one that was there keeps its permissions. Without
// overwrite the error is fs.ErrExist when there is something at path.
func SaveCommands(path string, commands []string, overwrite bool) (saved int, replaced bool, err error) {
	text, saved := encodeCommands(commands)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return 0, false, cause(err)
	}
	info, err := os.Lstat(path)
	switch {
	case err == nil && !overwrite:
		return 0, false, fs.ErrExist
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return 0, false, cause(err)
		}
		if info, err = os.Stat(path); err != nil {
			return 0, false, cause(err)
		}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return 0, false, cause(err)
	}
	if err == nil && !info.Mode().IsRegular() {
		return 0, false, errors.New("it is no regular file")
	}
	temp, tempErr := writeTemp(path, true, text)
	if tempErr != nil {
		return 0, false, cause(tempErr)
	}
	if replaced = err == nil; replaced {
		err = errors.Join(os.Chmod(temp, info.Mode().Perm()), os.Rename(temp, path))
	} else {
		err = renameNew(temp, path, overwrite)
	}
	if err != nil {
		return 0, false, cause(errors.Join(err, os.Remove(temp)))
	}
	return saved, replaced, syncDir(filepath.Dir(path))
}

// renameNew gives a file a name that nothing else had a moment ago. Unless
// overwrite is set it replaces nothing, where the file system can see to that.
func renameNew(temp, path string, overwrite bool) error {
	if overwrite {
		return os.Rename(temp, path)
	}
	err := os.Link(temp, path)
	switch {
	case err == nil:
		return os.Remove(temp)
	case errors.Is(err, fs.ErrExist):
		return fs.ErrExist
	}
	return os.Rename(temp, path) // the file system has no links
}

// encodeCommands writes commands one a line. A line break within a command has
// a backslash before it; backslashes at the end of one of its lines are doubled,
// so that they are not taken for that. A blank command is left out.
func encodeCommands(commands []string) (text []byte, n int) {
	var b bytes.Buffer
	for _, c := range commands {
		if strings.TrimSpace(c) == "" {
			continue
		}
		n++
		for more := true; more; {
			var line string
			line, c, more = strings.Cut(c, "\n")
			b.WriteString(line)
			b.WriteString(line[len(strings.TrimRight(line, `\`)):])
			if more {
				b.WriteByte('\\')
			}
			b.WriteByte('\n')
		}
	}
	return b.Bytes(), n
}

// LoadCommands reads a file that SaveCommands wrote, or any text file with a
// command a line; blank lines are skipped. With shells set, the history files
// of bash, zsh and fish are told from that and read as what they are. What is
// not UTF-8 is replaced.
func LoadCommands(path string, shells bool) ([]TextCommand, error) {
	text, err := readText(path)
	if err != nil {
		return nil, err
	}
	lines := splitLines(text)
	if !shells {
		return decodeLines(lines), nil
	}
	first := ""
	for _, l := range lines {
		if first = l; strings.TrimSpace(l) != "" {
			break
		}
	}
	_, isZsh := zshEntry(first)
	_, isBash := bashTime(first)
	switch {
	case strings.HasPrefix(first, fishCommand):
		return decodeFish(lines), nil
	case isZsh:
		return decodeZsh(lines), nil
	case isBash:
		return decodeBash(lines), nil
	}
	return decodeLines(lines), nil
}

// ErrNoText is in the error of a file of commands that is none.
var ErrNoText = errors.New("it is no text file")

// readText reads a whole file that must be a regular one: a pipe or a device
// could keep the reader waiting, or never end.
func readText(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, cause(err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, cause(err)
	case !info.Mode().IsRegular():
		return nil, ErrNoText
	case info.Size() > maxCommands:
		return nil, fmt.Errorf("it is larger than %d MiB", maxCommands>>20)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxCommands))
	if err != nil {
		return nil, cause(err)
	}
	if bytes.IndexByte(b, 0) >= 0 {
		return nil, ErrNoText
	}
	return b, nil
}

// splitLines takes a text apart. A carriage return before every line break is
// part of that.
func splitLines(text []byte) []string {
	s := strings.TrimPrefix(string(text), "\ufeff")
	if n := strings.Count(s, "\n"); n > 0 && strings.Count(s, "\r\n") == n {
		s = strings.ReplaceAll(s, "\r\n", "\n")
	}
	if s = strings.TrimSuffix(s, "\n"); s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

// trailing is the number of backslashes at the end of a line.
func trailing(line string) int { return len(line) - len(strings.TrimRight(line, `\`)) }

// decodeLines is the inverse of encodeCommands.
func decodeLines(lines []string) []TextCommand {
	var all []TextCommand
	for i := 0; i < len(lines); i++ {
		var b strings.Builder
		for ; i < len(lines); i++ {
			n := trailing(lines[i])
			b.WriteString(lines[i][:len(lines[i])-n])
			b.WriteString(strings.Repeat(`\`, n/2))
			if n%2 == 0 {
				break
			}
			if i == len(lines)-1 {
				b.WriteByte('\\') // nothing follows, so it is no line break
				break
			}
			b.WriteByte('\n')
		}
		all = appendCommand(all, TextCommand{Line: b.String(), Duration: -1})
	}
	return all
}

// appendCommand adds a command unless it is blank.
func appendCommand(all []TextCommand, c TextCommand) []TextCommand {
	if strings.TrimSpace(c.Line) == "" {
		return all
	}
	if !utf8.ValidString(c.Line) {
		c.Line = strings.ToValidUTF8(c.Line, "\ufffd")
	}
	return append(all, c)
}
