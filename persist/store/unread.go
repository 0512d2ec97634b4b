package store

import (
	"errors"
	"io/fs"
)

// An Unread is the error for a record that could not be read, but may be intact. The record is left
// alone and can be read later. If the processes directory could not be read, ID is "".
type Unread struct {
	ID  string
	Err error
}

func (u *Unread) Error() string { return u.Err.Error() }

func (u *Unread) Unwrap() error { return u.Err }

// LoadRecord reads one record, as Load does. If there is none, it returns nil without an error.
func (s *Store) LoadRecord(id string) (*Record, error) {
	r, err := s.loadRecord(id)
	switch {
	case err == nil:
		return &r, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case !errors.Is(err, errDamaged):
		err = &Unread{ID: id, Err: err}
	}
	return nil, err
}
