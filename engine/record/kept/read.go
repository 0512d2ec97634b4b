package kept

import (
	"context"
	"errors"
	"io/fs"

	"tandem/engine/api"
	"tandem/engine/record/outputs"
)

// Find returns a run by its full id, or a unique prefix of at least api.MinIDPrefix characters. ok is
// false if there is none.
func (o *Output) Find(ctx context.Context, id string) (t outputs.Target, ok bool, err error) {
	err = o.read(func(db *database) error {
		found, err := db.facts(ctx, id, false)
		if err == nil && len(found) == 0 && len(id) >= api.MinIDPrefix {
			found, err = db.facts(ctx, id, true)
		}
		if err != nil || len(found) != 1 {
			return err
		}
		f, err := decodeFacts(found[0])
		if ok = err == nil; ok {
			t = o.target(f)
		}
		return err
	})
	return t, ok, err
}

// List implements outputs.Kept.
func (o *Output) List(ctx context.Context, f outputs.KeptFilter, from outputs.KeptCursor, n int) (all []outputs.Target, err error) {
	err = o.read(func(db *database) error {
		list, err := db.list(ctx, f, from, n)
		for _, r := range list {
			var facts facts
			if facts, err = decodeFacts(r.facts); err != nil {
				break
			}
			if r.bytes <= maxListed {
				facts.listed = &[2][]byte{r.first, r.second}
			}
			all = append(all, o.target(facts))
		}
		return err
	})
	return all, err
}

// Count implements outputs.Kept.
func (o *Output) Count(ctx context.Context, f outputs.KeptFilter, from outputs.KeptCursor) (n int, bytes int64, err error) {
	err = o.read(func(db *database) error {
		n, bytes, err = db.count(ctx, f, from)
		return err
	})
	return n, bytes, err
}

// readRow returns output that is in the database. The error is fs.ErrNotExist if it was deleted.
func (o *Output) readRow(id string, second bool) (data []byte, err error) {
	found := false
	err = o.read(func(db *database) error {
		data, found, err = db.output(id, second)
		return err
	})
	if err == nil && !found {
		err = fs.ErrNotExist
	}
	return data, err
}

// read calls f with the database, if there is one.
func (o *Output) read(f func(db *database) error) error {
	db, err := o.database(false)
	if db == nil || err != nil {
		return err
	}
	if err = f(db); errors.Is(err, errDamaged) {
		return o.failed("read", err)
	}
	return err
}
