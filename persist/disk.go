package persist

import (
	"errors"
	"io"
	"os"
)

// errDiskFull is in the error of an allocation that failed for want of space.
var errDiskFull = errors.New("disk full")

// A disk is what a log needs of the system beyond plain file operations. What
// a system or file system does not offer is errors.ErrUnsupported.
type disk interface {
	// size is the length of f.
	size(f *os.File) (int64, error)
	// allocate sees to it that n bytes of f from off on have blocks on disk,
	// and lengthens f to there; errDiskFull if there are none.
	allocate(f *os.File, off, n int64) error
	// mapRange maps n bytes of f from off on, shared and writable.
	mapRange(f *os.File, off int64, n int) ([]byte, error)
	unmap(b []byte) error
	// punch gives the blocks of n bytes of f from off on back.
	punch(f *os.File, off, n int64) error
	// nextData and nextHole are the first offsets from off on with and without
	// data; io.EOF if there is no data up to the end.
	nextData(f *os.File, off int64) (int64, error)
	nextHole(f *os.File, off int64) (int64, error)
}

// A span is the part of a file from one offset up to, not including, another.
type span struct{ from, to int64 }

// dataRanges are the parts of the first size bytes of f that are no holes,
// ascending.
func dataRanges(f *os.File, d disk, size int64) ([]span, error) {
	var data []span
	for at := int64(0); at < size; {
		from, err := d.nextData(f, at)
		if errors.Is(err, errors.ErrUnsupported) {
			return []span{{0, size}}, nil
		}
		if err == io.EOF || from >= size {
			break
		}
		if err != nil {
			return nil, err
		}
		to, err := d.nextHole(f, from)
		if err != nil {
			return nil, err
		}
		to = min(to, size)
		if to <= from {
			break // the file is being cut
		}
		data = append(data, span{from, to})
		at = to
	}
	return data, nil
}

// lastByte is the offset behind the last byte in data that is not NUL. If all
// are, it is where data begins: the head was dropped up to there.
func lastByte(f *os.File, data []span) (int64, error) {
	buf := make([]byte, 64<<10)
	for i := len(data) - 1; i >= 0; i-- {
		for to := data[i].to; to > data[i].from; {
			from := max(to-int64(len(buf)), data[i].from)
			n, err := f.ReadAt(buf[:to-from], from)
			if err != nil && err != io.EOF {
				return 0, cause(err)
			}
			if used := trimNUL(buf[:n]); used > 0 {
				return from + int64(used), nil
			}
			to = from
		}
	}
	if len(data) > 0 {
		return data[0].from, nil
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
