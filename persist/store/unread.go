package store

import (
	"errors"
	"io/fs"
)

// An Unread is the error of a record that may be whole and could not be read: it is left
// as it is, and can be read later. ID is "" if the processes folder could not be read.
type Unread struct {
	ID  string
	Err error
}

func (u *Unread) Error() string { return u.Err.Error() }

func (u *Unread) Unwrap() error { return u.Err }

// LoadRecord reads one record as Load does; nil without an error if there is none.
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
