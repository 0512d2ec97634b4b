//go:build !linux

package persist

import (
	"errors"
	"os"
)

func systemDisk() disk { return plainDisk{} }

// plainDisk is a system of which nothing beyond plain files is known.
type plainDisk struct{}

func (plainDisk) size(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (plainDisk) allocate(*os.File, int64, int64) error { return errors.ErrUnsupported }

func (plainDisk) mapRange(*os.File, int64, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func (plainDisk) unmap([]byte) error { return nil }

func (plainDisk) punch(*os.File, int64, int64) error { return errors.ErrUnsupported }

func (plainDisk) nextData(*os.File, int64) (int64, error) { return 0, errors.ErrUnsupported }

func (plainDisk) nextHole(*os.File, int64) (int64, error) { return 0, errors.ErrUnsupported }
