package service

import (
	"context"
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/remote/copy"
	"tandem/persist/store"
)

// An engine may be killed during a transfer. The state of transfers is therefore on disk. The next
// engine reports what became of them and removes the hidden incomplete copies, on other machines
// too. A copy is recorded before it is made. The file stays small: it has the transfers of the last
// minutes, and only the first finished items of each.

const (
	maxSavedItems = 200 // finished items saved of one transfer
	// savePause is the minimum time between two saves that only record finished items.
	savePause = 100 * time.Millisecond
	// maxTempAge is for how long engines try to remove an incomplete copy.
	maxTempAge = 7 * 24 * time.Hour
)

// A TransferStore is the part of store.Store that keeps the state of transfers.
type TransferStore interface {
	SaveTransfers([]store.Transfer) error
	LoadTransfers() ([]store.Transfer, error)
}

// Resume loads the transfers of earlier engines and removes their incomplete copies. From now on,
// transfers are saved in saved. Call Resume after Handle and before the first transfer.
func (s *Files) Resume(saved TransferStore) error {
	all, err := saved.LoadTransfers()
	js := &s.transfers
	js.store, js.jobs = saved, map[string]*transfer{}
	if err != nil {
		return err
	}
	cleaner := &copy.Transfer{Open: s.openEngine, Start: js.startTask}
	for _, one := range all {
		if !isKept(one) {
			continue
		}
		j := js.restore(one)
		for _, temp := range one.Temps {
			js.startTask(func(context.Context) { cleaner.Discard(temp, func() { j.dropTemp(temp) }) })
		}
	}
	if len(all) > 0 {
		js.save()
	}
	return nil
}

// isKept reports whether clients may ask about a transfer, or it has incomplete copies to remove.
func isKept(one store.Transfer) bool {
	age := time.Since(one.Ended)
	return one.Ended.IsZero() || age < transferTTL || len(one.Temps) > 0 && age < maxTempAge
}

// restore adds a transfer of an earlier engine.
func (js *transfers) restore(one store.Transfer) *transfer {
	j := &transfer{owner: one.Owner, cancel: func() {}, ended: make(chan struct{}), save: js.save, temps: one.Temps, over: one.Ended}
	close(j.ended)
	j.job = api.FileJob{
		ID: one.ID, Kind: one.Kind, State: one.State, Error: one.Error, Bytes: one.Bytes, Total: one.Total,
		Handled: one.Handled, Skipped: one.Skipped,
	}
	for _, d := range one.Done {
		j.job.Done = append(j.job.Done, api.FileMoved(d))
	}
	if one.State == api.JobRunning {
		j.job.State, j.over = api.JobFailed, time.Now()
		j.job.Error = one.Kind + " files: interrupted, because the engine exited"
	}
	js.jobs[one.ID] = j
	js.forgetLater(one.ID)
	return j
}

// save saves the state of all transfers. It only logs errors, because a transfer may be just what
// frees space on a full disk.
func (js *transfers) save() {
	if js.store == nil {
		return
	}
	js.saving.Lock()
	defer js.saving.Unlock()
	js.mu.Lock()
	jobs := make([]*transfer, 0, len(js.jobs))
	for _, j := range js.jobs {
		jobs = append(jobs, j)
	}
	js.mu.Unlock()
	var all []store.Transfer
	for _, j := range jobs {
		if one := j.state(); isKept(one) {
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b store.Transfer) int { return a.Ended.Compare(b.Ended) })
	if err := js.store.SaveTransfers(all); err != nil {
		js.log.Warn("save transfers", "error", err)
	}
}

// forgetLater forgets a transfer some time after it has ended, but not while incomplete copies of
// it exist.
func (js *transfers) forgetLater(id string) {
	time.AfterFunc(transferTTL, func() {
		js.mu.Lock()
		defer js.mu.Unlock()
		if j := js.jobs[id]; j != nil && isKept(j.state()) {
			js.forgetLater(id)
			return
		}
		delete(js.jobs, id)
	})
}

func (j *transfer) recordMoved(moved api.FileMoved, err error) {
	if err != nil {
		return
	}
	j.update(func(job *api.FileJob) { job.Done = append(job.Done, moved) })
	if now := time.Now(); now.Sub(j.saved) >= savePause {
		j.saved = now
		j.save()
	}
}

// state returns the state to be saved.
func (j *transfer) state() store.Transfer {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := store.Transfer{
		ID: j.job.ID, Kind: j.job.Kind, Owner: j.owner, State: j.job.State, Error: j.job.Error, Bytes: j.job.Bytes + j.bytes.Load(),
		Total: j.job.Total, Handled: max(j.job.Handled, len(j.job.Done)+j.job.Skipped), Skipped: j.job.Skipped,
		Temps: slices.Clone(j.temps), Ended: j.over,
	}
	for _, d := range j.job.Done[:min(len(j.job.Done), maxSavedItems)] {
		out.Done = append(out.Done, store.MovedFile(d))
	}
	return out
}

// noteTemp saves the path of an incomplete copy that is about to be made. gone must be called when
// the copy no longer exists.
func (j *transfer) noteTemp(path string) (gone func()) {
	j.mu.Lock()
	j.temps = append(j.temps, path)
	j.mu.Unlock()
	j.save()
	// Not saved: a name that is gone harms nobody.
	return func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.temps = slices.DeleteFunc(j.temps, func(p string) bool { return p == path })
	}
}

// dropTemp saves that an incomplete copy made by an earlier engine is gone.
func (j *transfer) dropTemp(path string) {
	j.mu.Lock()
	j.temps = slices.DeleteFunc(j.temps, func(p string) bool { return p == path })
	j.mu.Unlock()
	j.save()
}
