// Package sparse provides features of file systems used by logs: space allocated ahead, and holes,
// which free the start of a file without moving offsets.
package sparse

import (
	"errors"
	"io"
	"os"
)

// ErrDropped is wrapped by the error for reading bytes that were dropped to limit the size of a
// log.
var ErrDropped = errors.New("dropped from the log")

// ErrDiskFull is wrapped by the error for an allocation without enough space on the disk.
var ErrDiskFull = errors.New("disk full")

// Bounds of Excess.
const (
	MinDrop = 64 << 10
	maxDrop = 16 << 20
)

// Excess returns by how many bytes a log may exceed limit before its start is freed. It is an
// eighth of the limit, because each hole costs a system call and metadata.
func Excess(limit int64) int64 { return min(max(limit/8, MinDrop), maxDrop) }

// A Disk provides file operations not in package os. A method returns errors.ErrUnsupported if the
// system or the file system lacks the feature.
type Disk interface {
	// Size returns the length of f in bytes.
	Size(f *os.File) (int64, error)
	// Allocate reserves blocks for n bytes of f at off, and extends f if necessary. It returns
	// ErrDiskFull if there is not enough space.
	Allocate(f *os.File, off, n int64) error
	// MapRange maps n bytes of f at off, shared and writable.
	MapRange(f *os.File, off int64, n int) ([]byte, error)
	Unmap(b []byte) error
	// Punch frees the blocks of n bytes of f at off. The bytes are then read as NUL.
	Punch(f *os.File, off, n int64) error
	// NextData returns the first offset at or after off with data, and NextHole the first one
	// without. They return io.EOF if there is no more data.
	NextData(f *os.File, off int64) (int64, error)
	NextHole(f *os.File, off int64) (int64, error)
}

// A Span is a range of a file. It ends before the byte at to.
type Span struct{ From, to int64 }

// DataRanges returns the ranges of data within the first size bytes of f, in ascending order. If
// the file system does not report holes, it returns a single range.
func DataRanges(f *os.File, d Disk, size int64) ([]Span, error) {
	var data []Span
	for at := int64(0); at < size; {
		from, err := d.NextData(f, at)
		if errors.Is(err, errors.ErrUnsupported) {
			return []Span{{0, size}}, nil
		}
		if err == io.EOF || from >= size {
			break
		}
		if err != nil {
			return nil, err
		}
		to, err := d.NextHole(f, from)
		if err != nil {
			return nil, err
		}
		to = min(to, size)
		// Another process has truncated the file between the two calls.
		if to <= from {
			break
		}
		data = append(data, Span{from, to})
		at = to
	}
	return data, nil
}

// LastByte returns the offset after the last byte in data that is not NUL. If there is none, it
// returns the start of data, because everything before was dropped.
func LastByte(f *os.File, data []Span) (int64, error) {
	buf := make([]byte, 64<<10)
	// Begin at the end: usually only the last block has to be read.
	for i := len(data) - 1; i >= 0; i-- {
		for to := data[i].to; to > data[i].From; {
			from := max(to-int64(len(buf)), data[i].From)
			n, err := f.ReadAt(buf[:to-from], from)
			if err != nil && err != io.EOF {
				return 0, err
			}
			if used := lengthWithoutNULs(buf[:n]); used > 0 {
				return from + int64(used), nil
			}
			to = from
		}
	}
	if len(data) > 0 {
		return data[0].From, nil
	}
	return 0, nil
}

// lengthWithoutNULs returns the length of b without trailing NULs.
func lengthWithoutNULs(b []byte) int {
	n := len(b)
	for n > 0 && b[n-1] == 0 {
		n--
	}
	return n
}
