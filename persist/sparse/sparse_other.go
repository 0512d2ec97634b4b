//go:build !linux

package sparse

import (
	"errors"
	"os"
)

func System() Disk { return plainDisk{} }

// plainDisk is a system of which nothing beyond plain files is known.
type plainDisk struct{}

func (plainDisk) Size(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (plainDisk) Allocate(*os.File, int64, int64) error { return errors.ErrUnsupported }

func (plainDisk) MapRange(*os.File, int64, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func (plainDisk) Unmap([]byte) error { return nil }

func (plainDisk) Punch(*os.File, int64, int64) error { return errors.ErrUnsupported }

func (plainDisk) NextData(*os.File, int64) (int64, error) { return 0, errors.ErrUnsupported }

func (plainDisk) NextHole(*os.File, int64) (int64, error) { return 0, errors.ErrUnsupported }
