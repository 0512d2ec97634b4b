package store

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"

	"tandem/persist/regular"
)

// File names of the two generations of a checkpoint.
const (
	checkpointName    = "checkpoint"
	oldCheckpointName = "checkpoint.old"
)

// maxRepaint bounds a checkpoint's repaint in bytes.
const maxRepaint = 64 << 20

// checkpointHeader is the first line of a checkpoint: log offset, columns, rows, length of the
// repaint after it, and a CRC-32 (IEEE). The checksum covers the line before it, and the repaint.
const (
	checkpointHeader = "tandem-checkpoint-1 %d %d %d %d "
	checksumFormat   = "%08x\n"
)

// A Checkpoint is the state of a terminal at an offset of its log. Repaint are bytes that restore
// the state in a new terminal of the same size. A replay continues at Offset.
type Checkpoint struct {
	Offset     int64
	Cols, Rows int
	Repaint    []byte
}

func (c Checkpoint) isValid() bool {
	return Resize{Offset: c.Offset, Cols: c.Cols, Rows: c.Rows}.isValid() && len(c.Repaint) <= maxRepaint
}

// SaveCheckpoint saves c and keeps the previous checkpoint. Each is complete or absent. They
// survive a crash of this process, but are not synced to disk, because a terminal does not survive
// a power failure.
func (s *Store) SaveCheckpoint(id string, c Checkpoint) error {
	path, err := s.pathOf(id, checkpointName)
	if err != nil {
		return err
	}
	if !c.isValid() {
		return fmt.Errorf("save checkpoint %s: invalid (offset %d, %d×%d, %d bytes)", path, c.Offset, c.Cols, c.Rows, len(c.Repaint))
	}
	old, err := s.pathOf(id, oldCheckpointName)
	if err != nil {
		return err
	}
	// Write the new file before moving the old one. If the disk is full, both old files stay.
	temp, err := writeTemp(path, false, c.header(), c.Repaint)
	if err != nil {
		return fmt.Errorf("save checkpoint %s: %w", path, err)
	}
	if err := os.Rename(path, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("save checkpoint %s: %w", path, errors.Join(err, os.Remove(temp)))
	}
	if err := os.Rename(temp, path); err != nil {
		return fmt.Errorf("save checkpoint %s: %w", path, errors.Join(err, os.Remove(temp)))
	}
	return nil
}

func (c Checkpoint) header() []byte {
	h := fmt.Appendf(nil, checkpointHeader, c.Offset, c.Cols, c.Rows, len(c.Repaint))
	return fmt.Appendf(h, checksumFormat, checksum(h, c.Repaint))
}

func checksum(header, repaint []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE(header), crc32.IEEETable, repaint)
}

// errDamaged is wrapped by errors about a damaged checkpoint, and about a damaged record that was
// set aside.
var errDamaged = errors.New("damaged")

// ReadCheckpoints returns the undamaged checkpoints of a process, the newest first. The error is
// about files that could not be read; there may be checkpoints nevertheless.
func (s *Store) ReadCheckpoints(id string) ([]Checkpoint, error) {
	var all []Checkpoint
	var errs []error
	for _, name := range []string{checkpointName, oldCheckpointName} {
		path, err := s.pathOf(id, name)
		if err != nil {
			return nil, err
		}
		c, err := readCheckpoint(path)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, errDamaged):
		case err != nil:
			errs = append(errs, fmt.Errorf("read checkpoint %s: %w", path, Cause(err)))
		default:
			all = append(all, c)
		}
	}
	return all, errors.Join(errs...)
}

func readCheckpoint(path string) (Checkpoint, error) {
	f, _, err := regular.Open(path)
	if err != nil {
		return Checkpoint{}, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxRepaint+256))
	if err != nil {
		return Checkpoint{}, err
	}
	return DecodeCheckpoint(b)
}

// DecodeCheckpoint decodes the content of a checkpoint's file. It returns an error if that is damaged.
func DecodeCheckpoint(content []byte) (Checkpoint, error) {
	c, header, err := parseCheckpoint(content)
	if err == nil && !bytes.Equal(c.header(), header) {
		err = errDamaged
	}
	if err != nil {
		return Checkpoint{}, err
	}
	return c, nil
}

// parseCheckpoint is DecodeCheckpoint without the check of the sum. It also returns the header.
func parseCheckpoint(content []byte) (c Checkpoint, header []byte, err error) {
	line, repaint, ok := bytes.Cut(content, []byte{'\n'})
	if !ok || len(line) > 200 {
		return c, nil, errDamaged
	}
	var size int
	if _, err := fmt.Sscanf(string(line), checkpointHeader, &c.Offset, &c.Cols, &c.Rows, &size); err != nil {
		return c, nil, errDamaged
	}
	if c.Repaint = repaint; size != len(repaint) || !c.isValid() {
		return c, nil, errDamaged
	}
	return c, content[:len(line)+1], nil
}

// RewriteCheckpoint lets change overwrite the repaint in an open checkpoint, and corrects the checksum,
// even if an earlier call was interrupted in the middle.
func RewriteCheckpoint(f *os.File, change func(repaint []byte)) error {
	content, err := io.ReadAll(io.LimitReader(f, maxRepaint+256))
	if err != nil {
		return err
	}
	c, header, err := parseCheckpoint(content)
	if err != nil {
		return err
	}
	change(c.Repaint)
	now := c.header()
	if len(now) != len(header) {
		return errDamaged
	}
	copy(header, now)
	_, err = f.WriteAt(content, 0)
	return err
}
