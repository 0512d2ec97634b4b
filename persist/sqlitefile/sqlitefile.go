// Package sqlitefile opens the SQLite databases of the data directory.
package sqlitefile

import (
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"

	_ "modernc.org/sqlite" // the driver

	"tandem/persist/store"
)

// A File is an open database. It has one connection: SQLite has only one writer, and a PRAGMA applies
// only to its connection.
type File struct {
	*sql.DB
	Path string
	Info fs.FileInfo // of the file, as it was before the database was opened
}

// Open opens the database at path, or creates it, closed to other users. Deleted content is
// overwritten. pragmas are more parameters of the connection, such as "&_pragma=auto_vacuum(full)".
func Open(path, pragmas string) (*File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) // SQLite would let others read it
	if err != nil {
		return nil, store.Cause(err)
	}
	info, err := f.Stat()
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, store.Cause(err)
	}
	// Escape the path, because it may contain characters with a meaning in a URI.
	uri := url.URL{Scheme: "file", Path: path, RawQuery: "_pragma=busy_timeout(2000)" + pragmas + "&_pragma=journal_mode(wal)" +
		"&_pragma=synchronous(normal)&_pragma=cache_size(-512)&_pragma=journal_size_limit(1048576)&_pragma=secure_delete(on)"}
	db, err := sql.Open("sqlite", uri.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return &File{db, path, info}, nil
}

// IsDeleted reports whether the file was deleted or replaced. Then writes to it are lost.
func (f *File) IsDeleted() bool {
	now, err := os.Stat(f.Path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return !os.SameFile(now, f.Info)
}

// SetAside renames the files of a closed database. aside is the new path.
func SetAside(path string) (aside string, err error) {
	if aside, err = store.SetAside(path); err != nil {
		return "", err
	}
	// These files may not exist. If they stayed, SQLite would apply them to the next database.
	for _, suffix := range [...]string{"-wal", "-shm"} {
		if err := os.Rename(path+suffix, aside+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return aside, nil
}
