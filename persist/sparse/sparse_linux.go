package sparse

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

func System() Disk { return linuxDisk{} }

type linuxDisk struct{}

func (linuxDisk) Size(f *os.File) (int64, error) {
	var st unix.Stat_t
	err := unix.Fstat(int(f.Fd()), &st)
	return st.Size, err
}

func (linuxDisk) Allocate(f *os.File, off, n int64) error {
	err := fallocate(f, 0, off, n)
	switch err {
	case nil:
		return nil
	case unix.ENOSPC, unix.EDQUOT, unix.EFBIG:
		return fmt.Errorf("%w: %w", ErrDiskFull, err)
	case unix.ENOSYS, unix.EINVAL, unix.ENODEV:
		return fmt.Errorf("preallocate: %w", errors.ErrUnsupported)
	}
	return fmt.Errorf("preallocate: %w", err) // EOPNOTSUPP is errors.ErrUnsupported
}

func (linuxDisk) Punch(f *os.File, off, n int64) error {
	err := fallocate(f, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, off, n)
	switch err {
	case nil:
		return nil
	case unix.ENOSYS, unix.EINVAL, unix.ENODEV:
		return errors.ErrUnsupported
	}
	return fmt.Errorf("punch hole: %w", err)
}

// fallocate repeats fallocate(2) if a signal interrupts it. The Go runtime sends signals to preempt
// goroutines.
func fallocate(f *os.File, mode uint32, off, n int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), mode, off, n)
		if err != unix.EINTR {
			return err
		}
	}
}

// MapRange does not populate the mapping. Thus only pages that are written count as memory in use.
func (linuxDisk) MapRange(f *os.File, off int64, n int) ([]byte, error) {
	b, err := unix.Mmap(int(f.Fd()), off, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	switch err {
	case nil:
		return b, nil
	case unix.ENODEV, unix.EINVAL, unix.EACCES, unix.EPERM:
		return nil, fmt.Errorf("map: %w", errors.ErrUnsupported)
	}
	return nil, fmt.Errorf("map: %w", err)
}

func (linuxDisk) Unmap(b []byte) error { return unix.Munmap(b) }

func (linuxDisk) NextData(f *os.File, off int64) (int64, error) {
	return seek(f, off, unix.SEEK_DATA)
}

func (linuxDisk) NextHole(f *os.File, off int64) (int64, error) {
	return seek(f, off, unix.SEEK_HOLE)
}

// seek calls lseek(2) with SEEK_DATA or SEEK_HOLE. It moves the position of f, but nothing depends
// on it.
func seek(f *os.File, off int64, whence int) (int64, error) {
	at, err := unix.Seek(int(f.Fd()), off, whence)
	switch err {
	case unix.ENXIO:
		return 0, io.EOF
	case unix.EINVAL:
		return 0, errors.ErrUnsupported
	}
	return at, err
}
