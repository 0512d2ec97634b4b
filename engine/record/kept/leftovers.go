package kept

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tandem/persist/datadir"
)

// removeLeftovers deletes runs with a record, and files without a run.
func (o *Output) removeLeftovers() {
	o.changing.Lock()
	defer o.changing.Unlock()
	db, err := o.database(false)
	if err == nil && db != nil {
		err = o.removeRecorded(db)
	}
	var files []string
	if err == nil {
		files, err = names(o.dir)
	}
	for _, id := range files {
		var known [][]byte
		if db != nil && err == nil {
			known, err = db.facts(context.Background(), id, false)
		}
		if err == nil && len(known) == 0 && !strings.HasPrefix(id, databaseName) {
			err = removeFiles(o.dir, id)
		}
	}
	if err != nil {
		_ = o.failed("clean up", err)
	}
}

func (o *Output) removeRecorded(db *database) error {
	recorded, err := names(filepath.Join(filepath.Dir(o.dir), datadir.Processes))
	if err != nil {
		return err
	}
	return o.remove(db, recorded)
}

// names returns the names of the entries of a directory, which need not exist.
func names(dir string) (all []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all, err
}
