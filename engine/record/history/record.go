package history

import (
	"time"

	"tandem/persist/histdb"
)

// RecordRun adds a run, which may still be running or have ended. It never blocks.
func (h *History) RecordRun(r histdb.Row) {
	h.box.Post(func() { h.recordRow(r) })
}

// RecordEnd sets the exit of the running rows of a process. It never blocks.
func (h *History) RecordEnd(e histdb.End) {
	h.box.Post(func() { h.recordEnd(e) })
}

// LastWritten returns when the previous engine last wrote to the history. It is zero if there is no
// history yet.
func (h *History) LastWritten() time.Time { return h.written }

// RecordMissed adds runs that a previous engine may not have written. Those of one process must be
// in order, the oldest first. A run with a row already only gets its exit. RecordMissed never
// blocks.
func (h *History) RecordMissed(runs []histdb.Row) {
	h.box.Post(func() {
		for _, r := range runs {
			if err := h.recordMissed(r); err != nil {
				h.log.Error("find a run that was not recorded", "error", h.handleDamage(err))
				return
			}
		}
	})
}

func (h *History) recordMissed(r histdb.Row) error {
	if err := h.openDatabase(); err != nil {
		return err
	}
	known, running, err := h.db.Has(r)
	switch {
	case err != nil:
		return err
	case running && !r.Running:
		// The end of this run is written before anything of a later run.
		h.recordEnd(r.End())
	case !known && r.StartedAt.After(h.written):
		h.recordRow(r)
	}
	return nil
}

func (h *History) recordEnd(e histdb.End) {
	h.queueChange(histdb.Change{End: &e})
	h.updateIndex(func(x *historyIndex) { x.endRuns(e) })
}
