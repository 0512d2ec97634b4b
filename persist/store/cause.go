package store

import (
	"errors"
	"io/fs"
)

// Cause returns err without operation and path, for messages that already name them.
func Cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
