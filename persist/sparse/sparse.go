// Package sparse is what logs need of a file system: space that is allocated
// ahead, and holes where the head of a file was freed. Offsets stay.
package sparse

import (
	"errors"
	"io"
	"os"
)

// ErrDropped is in the error of a read before the start of a log: what was
// there has been dropped to keep the log within its limit.
var ErrDropped = errors.New("dropped from the log")

// ErrDiskFull is in the error of an allocation that failed for want of space.
var ErrDiskFull = errors.New("disk full")

// Bounds of Excess.
const (
	MinDrop = 64 << 10
	maxDrop = 16 << 20
)

// Excess is by how many bytes a log with a limit outgrows it before its head
// is freed: an eighth, so that this is not done for every few bytes.
func Excess(limit int64) int64 { return min(max(limit/8, MinDrop), maxDrop) }

// A Disk is what a log needs of the system beyond plain file operations. What
// a system or file system does not offer is errors.ErrUnsupported.
type Disk interface {
	// Size is the length of f.
	Size(f *os.File) (int64, error)
	// Allocate sees to it that n bytes of f from off on have blocks on disk,
	// and lengthens f to there; ErrDiskFull if there are none.
	Allocate(f *os.File, off, n int64) error
	// MapRange maps n bytes of f from off on, shared and writable.
	MapRange(f *os.File, off int64, n int) ([]byte, error)
	Unmap(b []byte) error
	// Punch gives the blocks of n bytes of f from off on back.
	Punch(f *os.File, off, n int64) error
	// NextData and NextHole are the first offsets from off on with and without
	// data; io.EOF if there is no data up to the end.
	NextData(f *os.File, off int64) (int64, error)
	NextHole(f *os.File, off int64) (int64, error)
}

// A Span is the part of a file from one offset up to, not including, another.
type Span struct{ From, to int64 }

// DataRanges are the parts of the first size bytes of f that are not holes,
// ascending.
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
		if to <= from {
			break // the file is being cut
		}
		data = append(data, Span{from, to})
		at = to
	}
	return data, nil
}

// LastByte is the offset behind the last byte in data that is not NUL. If all
// are, it is where data begins: the head was dropped up to there.
func LastByte(f *os.File, data []Span) (int64, error) {
	buf := make([]byte, 64<<10)
	for i := len(data) - 1; i >= 0; i-- {
		for to := data[i].to; to > data[i].From; {
			from := max(to-int64(len(buf)), data[i].From)
			n, err := f.ReadAt(buf[:to-from], from)
			if err != nil && err != io.EOF {
				return 0, err
			}
			if used := trimNUL(buf[:n]); used > 0 {
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

// trimNUL is the length of b without the NULs at its end.
func trimNUL(b []byte) int {
	n := len(b)
	for n > 0 && b[n-1] == 0 {
		n--
	}
	return n
}
