package server

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// StoreBuffer adds data as the newest buffer, replacing one called name. Without a name the buffer
// gets a generated one. Of the buffers with generated names only the newest stay, limit at most.
// Empty data is ignored.
func (s *State) StoreBuffer(name string, data []byte, limit int) {
	if len(data) == 0 {
		return
	}
	b := Buffer{Name: name, Data: data, Created: time.Now()}
	if name == "" {
		b.Name, b.Auto = fmt.Sprintf("buffer%d", s.Next.Buffer), true
		s.Next.Buffer++
	}
	s.RemoveBuffer(b.Name)
	s.Buffers = append([]Buffer{b}, s.Buffers...)
	// Buffers that were given a name are not counted, and stay until they are deleted.
	count := 0
	s.Buffers = slices.DeleteFunc(s.Buffers, func(o Buffer) bool {
		if o.Auto {
			count++
		}
		return o.Auto && count > max(limit, 1)
	})
}

// RemoveBuffer removes the buffer called name, if there is one.
func (s *State) RemoveBuffer(name string) {
	s.Buffers = slices.DeleteFunc(s.Buffers, func(b Buffer) bool { return b.Name == name })
}

// FindBuffer returns the buffer called name, or the newest one for "".
func (s *State) FindBuffer(name string) (*Buffer, error) {
	for i := range s.Buffers {
		if b := &s.Buffers[i]; b.Name == name || name == "" {
			return b, nil
		}
	}
	if name == "" {
		return nil, errors.New("no buffers")
	}
	return nil, fmt.Errorf("no buffer %s", name)
}

// RenameBuffer renames a buffer, replacing another one called name.
func (s *State) RenameBuffer(oldName, name string) {
	if oldName == name {
		return
	}
	s.RemoveBuffer(name)
	i := slices.IndexFunc(s.Buffers, func(b Buffer) bool { return b.Name == oldName })
	s.Buffers[i].Name, s.Buffers[i].Auto = name, false
}
