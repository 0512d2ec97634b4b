package store

import (
	"errors"
	"io/fs"
)

// Cause strips the call and path off an error, for messages that name them.
func Cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
