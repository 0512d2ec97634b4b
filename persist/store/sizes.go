package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"

	"tandem/persist/regular"
)

const (
	sizesName = "sizes"

	// maxSizes is the size in bytes at which the older half of the journal is dropped. A journal of
	// this size has about 60,000 resizes.
	maxSizes = 1 << 20

	// maxSide is the maximum number of columns and of rows. The kernel stores them in 16 bits.
	maxSide = 1<<16 - 1
)

// A Resize is one line of the journal of sizes: the size of the terminal from an offset of its log
// on.
type Resize struct {
	Offset                int64
	Cols, Rows            int
	CellWidth, CellHeight int // in pixels; 0 if unknown
}

func (r Resize) isValid() bool {
	return r.Offset >= 0 && r.Cols >= 1 && r.Cols <= maxSide && r.Rows >= 1 && r.Rows <= maxSide &&
		r.CellWidth >= 0 && r.CellWidth <= maxSide && r.CellHeight >= 0 && r.CellHeight <= maxSide
}

// AppendResize appends a line to a process's journal of sizes. It first removes a partial last
// line, which a crash may have left.
func (s *Store) AppendResize(id string, r Resize) error {
	path, err := s.pathOf(id, sizesName)
	if err != nil {
		return err
	}
	if !r.isValid() {
		return fmt.Errorf("append to %s: invalid resize %+v", path, r)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("append to %s: %w", path, Cause(err))
	}
	err = appendResize(f, r)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("append to %s: %w", path, err)
	}
	s.Flusher.Add(path)
	return trimSizes(path)
}

func appendResize(f *os.File, r Resize) error {
	end, err := endOfLines(f)
	if err != nil {
		return err
	}
	if _, err := f.WriteAt(r.formatLine(), end); err != nil {
		// A partial line must not be read as a size, because "8" may be what is left of "80".
		return errors.Join(err, f.Truncate(end))
	}
	return nil
}

func (r Resize) formatLine() []byte {
	line := fmt.Appendf(nil, "%d %d %d", r.Offset, r.Cols, r.Rows)
	if r.CellWidth != 0 || r.CellHeight != 0 {
		line = fmt.Appendf(line, " %d %d", r.CellWidth, r.CellHeight)
	}
	return append(line, '\n')
}

// endOfLines returns the offset after the last complete line of f. It truncates the rest.
func endOfLines(f *os.File) (int64, error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil || size == 0 {
		return 0, err
	}
	// Only the end matters: the journal may be large.
	tail := make([]byte, min(size, 128)) // no line is longer
	at := size - int64(len(tail))
	if _, err := f.ReadAt(tail, at); err != nil {
		return 0, err
	}
	end := at + int64(bytes.LastIndexByte(tail, '\n')) + 1
	if end < size {
		return end, f.Truncate(end)
	}
	return end, nil
}

// trimSizes drops the older half of a journal that is larger than maxSizes.
func trimSizes(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Size() <= maxSizes {
		return err
	}
	b, err := regular.ReadFile(path)
	if err != nil {
		return fmt.Errorf("trim %s: %w", path, err)
	}
	b = b[len(b)/2:]
	// Start at a line.
	b = b[bytes.IndexByte(b, '\n')+1:]
	if err := replaceFile(path, false, b); err != nil {
		return fmt.Errorf("trim %s: %w", path, err)
	}
	return nil
}

// ReadResizes reads a process's journal of sizes, in ascending order of Offset. It stops at a
// damaged line. A line replaces earlier ones with the same or a greater offset: they were written
// ahead of output that was lost.
func (s *Store) ReadResizes(id string) ([]Resize, error) {
	path, err := s.pathOf(id, sizesName)
	if err != nil {
		return nil, err
	}
	f, _, err := regular.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read sizes %s: %w", path, Cause(err))
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 2*maxSizes))
	if err != nil {
		return nil, fmt.Errorf("read sizes %s: %w", path, Cause(err))
	}
	return parseResizes(b), nil
}

func parseResizes(b []byte) []Resize {
	var all []Resize
	for {
		line, rest, ok := bytes.Cut(b, []byte{'\n'})
		if !ok {
			return all
		}
		r, ok := parseResize(line)
		if !ok {
			return all
		}
		// The output after this offset was lost, and so were the sizes written ahead of it.
		for len(all) > 0 && all[len(all)-1].Offset >= r.Offset {
			all = all[:len(all)-1]
		}
		all = append(all, r)
		b = rest
	}
}

// parseResize parses a line. It has three numbers, or five if it includes the size of a cell.
func parseResize(line []byte) (Resize, bool) {
	fields := bytes.Fields(line)
	var n [5]int64
	if len(fields) != 3 && len(fields) != len(n) {
		return Resize{}, false
	}
	for i, f := range fields {
		var err error
		if n[i], err = strconv.ParseInt(string(f), 10, 64); err != nil {
			return Resize{}, false
		}
	}
	r := Resize{n[0], int(n[1]), int(n[2]), int(n[3]), int(n[4])}
	return r, r.isValid()
}
