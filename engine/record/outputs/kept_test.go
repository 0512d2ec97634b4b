package outputs

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/record/logs"
	"tandem/persist/linelog"
)

// keptRuns are the runs of a rig without a record. Their logs are files.
type keptRuns struct {
	runs  []Target
	asked []KeptFilter
}

// keptFiles implements logs.Kept.
type keptFiles struct{}

func (keptFiles) Open(path string) (logs.File, error) {
	l, err := linelog.Open(path, linelog.Options{})
	if err != nil {
		return nil, fs.ErrNotExist
	}
	return l, nil
}

func (keptFiles) Times(string) []api.LogTime            { return nil }
func (keptFiles) Extent(path string) (start, end int64) { return extentOf(path) }

func (k *keptRuns) List(_ context.Context, f KeptFilter, from KeptCursor, n int) (all []Target, err error) {
	k.asked = append(k.asked, f)
	slices.SortFunc(k.runs, compareRuns)
	first := Target{Process: api.Process{ID: from.ID, StartedAt: from.At}}
	for _, t := range k.runs {
		if order := compareRuns(t, first); len(all) < n && slices.Contains(f.Kinds, kindOf(t.Process)) && (from.ID == "" || order > 0 || order == 0 && !from.After) {
			all = append(all, t)
		}
	}
	return all, nil
}

func compareRuns(a, b Target) int {
	return cmp.Or(keptAt(b.Process).Compare(keptAt(a.Process)), cmp.Compare(a.Process.ID, b.Process.ID))
}

func (k *keptRuns) Count(_ context.Context, f KeptFilter, from KeptCursor) (n int, bytes int64, err error) {
	all, err := k.List(context.Background(), f, from, len(k.runs))
	for _, t := range all {
		for _, stream := range t.Source.Streams() {
			start, end := extentOf(t.Source.PathOf(stream))
			bytes += end - start
		}
	}
	return len(all), bytes, err
}

// keep moves the output of a process to where it is kept without a record.
func (r *rig) keep(n int) {
	if r.Kept == nil {
		r.Kept = new(keptRuns)
	}
	t := r.targets[n]
	t.Source.Kept = keptFiles{}
	k := r.Kept.(*keptRuns)
	k.runs = append(k.runs, t)
	r.targets = slices.Delete(r.targets, n, n+1)
}

func TestKeptOutputIsSearchedLastAndInPages(t *testing.T) {
	r := newRig(t)
	r.add("a", 60, "x1\n").exit(5, 0)
	now := time.Now()
	for i := range 7 {
		p := r.add(fmt.Sprint(i), 50, fmt.Sprintf("x\ny%d\n", i))
		p.exit(1, i%2)
		at := now.Add(-time.Duration(1+i%3) * time.Minute) // several at the same time
		p.Process.ExitedAt = &at
	}
	for range 7 {
		r.keep(1)
	}
	r.page = 2
	want := "a 0 x1, 0 0 x, 3 0 x, 6 0 x, 1 0 x, 4 0 x, 2 0 x, 5 0 x"
	for _, limit := range []int{1, 3, 100} {
		if got := strings.Join(found(r.searchAll(api.OutputSearchInput{Pattern: api.Pattern{Text: "x"}, Limit: limit}, nothing)), ", "); got != want {
			t.Errorf("limit %d: %s", limit, got)
		}
	}
	if got := found(r.searchAll(api.OutputSearchInput{Pattern: api.Pattern{Text: "y"}, Failed: true}, nothing)); len(got) != 3 {
		t.Errorf("of failed ones: %q", got)
	}
	if got := found(r.searchAll(api.OutputSearchInput{Pattern: api.Pattern{Text: "x"}, Running: true}, nothing)); len(got) != 0 {
		t.Errorf("of running ones: %q", got)
	}
}

// The log of a listed process may be gone because its record was trimmed after the list was made.
func TestOutputTrimmedDuringTheSearchIsFound(t *testing.T) {
	r := newRig(t)
	r.add("a", 60, "x1\n").exit(5, 0)
	r.add("b", 60, "x2\n").exit(6, 0)
	gone := r.targets[0]
	r.keep(0)
	gone.Source.Path += ".gone"
	kept := r.targets[0]
	r.keep(0)
	r.targets = []Target{gone, {kept.Process, logs.Source{Name: "b", Path: kept.Source.Path, State: kept.Source.State}}}
	if got := found(r.searchAll(api.OutputSearchInput{Pattern: api.Pattern{Text: "x"}}, nothing)); strings.Join(got, ", ") != "b 0 x2, a 0 x1" {
		t.Errorf("found %q", got)
	}
}

func TestKeptOutputIsListedAsFarAsTheCallerMayRead(t *testing.T) {
	r := newRig(t)
	r.add("p", 60, "x1\n").exit(5, 0)
	r.add("s", 60, "x2\n").exit(5, 0)
	r.targets[1].Process.Kind = api.KindSession
	r.keep(0)
	r.keep(0)
	q, err := NewQuery(api.OutputSearchInput{Pattern: api.Pattern{Text: "x"}, WaitMS: 1000})
	if err != nil {
		t.Fatal(err)
	}
	q.MayRead = func(k api.Kind) bool { return k == api.KindSession }
	out, err := r.Search(t.Context(), q, nil)
	if got := found(out.Hits); err != nil || len(got) != 1 || got[0] != "s 0 x2" {
		t.Errorf("found %q, %v", got, err)
	}
	if n := r.CountWithheld(t.Context(), q); n != 1 {
		t.Errorf("%d are withheld", n)
	}
}
