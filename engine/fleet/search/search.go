// Package search searches the histories of many machines: so many at a time, the best of their
// rows merged as they come, bounded in rows, bytes and time. How machines are reached is told it.
package search

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"tandem/engine/api"
	"tandem/engine/panics"
	"tandem/engine/sleep"
)

const (
	// MostRows is how many rows of all machines can be had.
	MostRows = 1000
	// atOnce is how many machines are asked at a time.
	atOnce = 64
	// pageRows is how many rows a machine is asked for at once. Few machines have more among
	// the first of all.
	pageRows = 20
	// patience is how long a machine has to answer.
	patience = 3 * time.Second
	// mostAnswer and mostCommand bound what one may say.
	mostAnswer, mostCommand = 512 << 10, 32 << 10
	// quiet is how long a search that takes the place of another one waits before it asks:
	// somebody types.
	quiet = 150 * time.Millisecond
	// gathered is how long what comes is gathered before it is told.
	gathered = 100 * time.Millisecond
	// lingerAsking is how long machines are asked for nobody, and lingerDone how long rows are kept.
	lingerAsking, lingerDone = 2 * time.Second, time.Minute
	// mostSearches is how many there are at a time, and mostProblems how many are told.
	mostSearches, mostProblems = 8, 3
	mostWait                   = 30 * time.Second
)

// A Question is what is asked of which machines, and how they are reached.
type Question struct {
	api.FleetHistoryInput
	Machines []api.FleetMachine
	Open     func(ctx context.Context, machine string) (net.Conn, error)
}

// Searches are those under way, and those whose rows are kept for a while, each of whoever
// gave it its key.
type Searches struct {
	Log *slog.Logger // of panics; nil: none

	mu    sync.Mutex
	known map[string]*search
	ended bool
	tasks sync.WaitGroup
}

// Close ends all.
func (s *Searches) Close() {
	s.mu.Lock()
	s.ended = true
	for key, one := range s.known {
		one.stop()
		delete(s.known, key)
	}
	s.mu.Unlock()
	s.tasks.Wait()
}

// Ask begins a search, or goes on with one that is known, and tells what has come.
func (s *Searches) Ask(ctx context.Context, q Question) (api.FleetHistoryOutput, error) {
	one, err := s.of(q)
	if err != nil {
		return api.FleetHistoryOutput{}, err
	}
	defer one.leave()
	one.want(q.Search.Offset + cmp.Or(q.Search.Limit, 50))
	one.await(ctx, q.Since, min(time.Duration(q.WaitMS)*time.Millisecond, mostWait))
	return one.window(q.Search.Offset, cmp.Or(q.Search.Limit, 50)), ctx.Err()
}

// of is the search that a question is about.
func (s *Searches) of(q Question) (*search, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil, api.Errorf(api.CodeUnavailable, "search the fleet: this engine is leaving it")
	}
	about := aboutOf(q.FleetHistoryInput)
	was := s.known[q.Key]
	if was != nil && q.Since != 0 && was.about == about {
		was.enter()
		return was, nil
	}
	if was != nil {
		was.stop()
	} else if len(s.known) >= mostSearches {
		s.dropOldest()
	}
	ctx, cancel := context.WithCancel(context.Background())
	one := &search{of: s, key: q.Key, about: about, q: q, ctx: ctx, stop: cancel, began: time.Now(), changed: make(chan struct{}), hosts: map[string]*host{}, users: 1, first: 1}
	one.lingering = time.AfterFunc(time.Hour, one.expire)
	one.lingering.Stop()
	if s.known == nil {
		s.known = map[string]*search{}
	}
	s.known[q.Key] = one
	one.begin(was != nil)
	return one, nil
}

// aboutOf is what two questions about the same have in common.
func aboutOf(in api.FleetHistoryInput) string {
	in.Since, in.WaitMS, in.Key, in.Search.Offset, in.Search.Limit = 0, 0, "", 0, 0
	text, _ := json.Marshal(in) // texts, numbers and times
	return string(text)
}

// dropOldest makes room. The lock is held.
func (s *Searches) dropOldest() {
	var oldest *search
	for _, one := range s.known {
		if oldest == nil || one.began.Before(oldest.began) {
			oldest = one
		}
	}
	oldest.stop()
	delete(s.known, oldest.key)
}

// A search is one under way, or what is left of it.
type search struct {
	of    *Searches
	key   string
	about string
	q     Question
	ctx   context.Context
	stop  context.CancelFunc
	began time.Time

	mu        sync.Mutex
	rows      []*api.FleetHistoryRow // the best of all that have come, in order
	hosts     map[string]*host       // that were asked
	limit     int                    // rows that are wanted
	asking    bool
	count     api.FleetHistoryOutput // counts alone
	serial    int64
	first     int64         // the serial before anything has come
	changed   chan struct{} // closed with the next change
	users     int
	lingering *time.Timer
}

// A host is what is known of a machine that was asked.
type host struct {
	got, total int // rows that it has given, and has
	skipped    int // of those given: they are too long
	last       *api.FleetHistoryRow
}

func (o *search) enter() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.users++
	o.lingering.Stop()
}

// leave has the search end some time after the last who asked.
func (o *search) leave() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.users--
	o.linger()
}

// linger is leave without a user. The lock is held.
func (o *search) linger() {
	if o.users > 0 {
		return
	}
	wait := lingerDone
	if o.asking {
		wait = lingerAsking
	}
	o.lingering.Reset(wait)
}

// expire ends a search that nobody has asked for.
func (o *search) expire() {
	o.of.mu.Lock()
	defer o.of.mu.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.users > 0 {
		return
	}
	o.stop()
	if o.of.known[o.key] == o {
		delete(o.of.known, o.key)
	}
}

// begin asks all machines that are connected, after a while if another search was under way.
func (o *search) begin(typing bool) {
	var names []string
	for _, m := range o.q.Machines {
		o.count.Machines++
		if m.State == api.FleetAway {
			o.count.Away++
		} else {
			names = append(names, m.Name)
		}
	}
	o.serial, o.asking = o.first, true
	o.of.tasks.Go(func() {
		if typing {
			_ = sleep.For(o.ctx, quiet)
		}
		o.run(names)
	})
}

// run asks machines, and again those of which more may be wanted.
func (o *search) run(names []string) {
	panicked := panics.Log(o.of.Log, "fleet: search", func() {
		for more := true; more; more = len(names) > 0 && o.ctx.Err() == nil {
			o.askAll(names)
			o.mu.Lock()
			names = o.lacking()
			o.mu.Unlock()
		}
	})
	if panicked || o.ctx.Err() != nil { // somebody may still wait
		o.mu.Lock()
		defer o.mu.Unlock()
		o.asking = false
		o.tell()
	}
}

func (o *search) askAll(names []string) {
	var all panics.Group
	defer all.Wait()
	free := make(chan struct{}, atOnce)
	for _, name := range names {
		select {
		case free <- struct{}{}:
		case <-o.ctx.Done():
		}
		if o.ctx.Err() != nil {
			return
		}
		all.Start(func() {
			defer func() { <-free }()
			o.page(name)
		})
	}
}

// lacking are the machines that have more rows among those that are wanted; without any, nobody is
// asked any more. The lock is held.
func (o *search) lacking() (names []string) {
	for name, h := range o.hosts {
		if h.got < h.total && (len(o.rows) < o.limit || compare(h.last, o.rows[o.limit-1]) <= 0) {
			names = append(names, name)
		}
	}
	if o.asking = len(names) > 0; !o.asking {
		o.linger()
		o.tell()
	}
	return names
}

// want has so many rows be had.
func (o *search) want(rows int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	rows = min(rows, MostRows)
	if rows <= o.limit {
		return
	}
	o.limit = rows
	if o.asking {
		return
	}
	if names := o.lacking(); len(names) > 0 {
		o.of.tasks.Go(func() { o.run(names) })
	}
}

// tell wakes who waits. The lock is held.
func (o *search) tell() {
	o.serial++
	close(o.changed)
	o.changed = make(chan struct{})
}

// await waits until something has come since, and a moment for what comes with it.
func (o *search) await(ctx context.Context, since int64, most time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	since = max(since, o.first)
	o.mu.Lock()
	changed, asking, news := o.changed, o.asking, o.serial != since
	o.mu.Unlock()
	if !asking {
		return
	}
	if !news {
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
	enough := time.NewTimer(gathered)
	defer enough.Stop()
	for asking {
		o.mu.Lock()
		changed, asking = o.changed, o.asking
		o.mu.Unlock()
		if !asking {
			return
		}
		select {
		case <-changed:
		case <-enough.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// window is a part of what has come.
func (o *search) window(offset, limit int) api.FleetHistoryOutput {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := o.count
	out.Rows, out.Serial, out.Asking = []api.FleetHistoryRow{}, o.serial, o.asking
	out.Problems = slices.Clone(o.count.Problems)
	for _, h := range o.hosts {
		out.Found += h.total
		out.Total += h.total - h.skipped
	}
	out.Total = min(out.Total, MostRows)
	for _, r := range o.rows[min(offset, len(o.rows)):min(offset+limit, len(o.rows))] {
		out.Rows = append(out.Rows, *r)
	}
	return out
}

// page asks a machine for its next rows.
func (o *search) page(name string) {
	ctx, cancel := context.WithTimeout(o.ctx, patience)
	defer cancel()
	o.mu.Lock()
	in, h := o.q.Search, o.hosts[name]
	o.mu.Unlock()
	in.Offset, in.Limit = 0, pageRows
	if h != nil {
		in.Offset = h.got
	}
	var out api.HistorySearchOutput
	var err error
	panicked := panics.Log(o.of.Log, "fleet: answer", func() {
		var conn net.Conn
		if conn, err = o.q.Open(ctx, name); err == nil {
			defer conn.Close()
			out, err = ask(ctx, conn, in)
		}
	})
	if panicked {
		err = errors.New("its answer could not be read")
	}
	if o.ctx.Err() != nil {
		return
	}
	late := ctx.Err() != nil
	o.mu.Lock()
	defer o.mu.Unlock()
	defer o.tell()
	if err != nil {
		o.failed(name, err, late)
		return
	}
	if h == nil {
		h = &host{}
		o.hosts[name] = h
		o.count.Answered++
	}
	o.take(name, h, out)
}

// failed counts a machine that has not answered. The lock is held.
func (o *search) failed(name string, err error, late bool) {
	if h := o.hosts[name]; h != nil {
		h.total = h.got // more of it is not to be had
		return
	}
	switch {
	case late:
		o.count.Slow++
		return
	case errors.Is(err, api.CodeUnavailable):
		o.count.Away++
		return
	}
	if o.count.Failed++; len(o.count.Problems) < mostProblems {
		o.count.Problems = append(o.count.Problems, name+": "+api.AsError(err).Message)
	}
}

// take merges rows of a machine, which are in order if it is honest. The lock is held.
func (o *search) take(name string, h *host, out api.HistorySearchOutput) {
	rows := make([]*api.FleetHistoryRow, 0, len(out.Rows))
	for _, r := range out.Rows[:min(len(out.Rows), pageRows)] {
		if len(r.Command.Command) <= mostCommand {
			rows = append(rows, &api.FleetHistoryRow{Machine: name, HistoryRow: r})
		}
	}
	given := min(len(out.Rows), pageRows)
	h.got += given
	h.skipped += given - len(rows)
	h.total = max(out.Total, h.got)
	if len(rows) == 0 {
		h.total = h.got
		return
	}
	slices.SortFunc(rows, compare)
	h.last = rows[len(rows)-1]
	merged := make([]*api.FleetHistoryRow, 0, min(len(o.rows)+len(rows), MostRows))
	for a, b := o.rows, rows; len(merged) < MostRows && len(a)+len(b) > 0; {
		if len(b) == 0 || len(a) > 0 && compare(a[0], b[0]) <= 0 {
			merged, a = append(merged, a[0]), a[1:]
		} else {
			merged, b = append(merged, b[0]), b[1:]
		}
	}
	o.rows = merged
}

// compare puts the best match first, and the newer first among equals.
func compare(a, b *api.FleetHistoryRow) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), b.StartedAt.Compare(a.StartedAt), strings.Compare(a.Machine, b.Machine), cmp.Compare(b.ID, a.ID))
}

// ask makes the call on a machine.
func ask(ctx context.Context, conn net.Conn, in api.HistorySearchInput) (out api.HistorySearchOutput, err error) {
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	body, err := json.Marshal(in)
	if err != nil {
		return out, err
	}
	r, err := http.NewRequest(http.MethodPost, "http://tandem/v1/"+api.HistorySearch.Name, bytes.NewReader(body))
	if err == nil {
		err = r.Write(conn)
	}
	if err != nil {
		return out, fmt.Errorf("ask: %w", err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(io.LimitReader(conn, mostAnswer)), r)
	if err != nil {
		return out, fmt.Errorf("read answer: %w", err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return out, fmt.Errorf("read answer: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		var refused api.Error
		if json.Unmarshal(text, &refused) != nil || refused.Code == "" {
			return out, fmt.Errorf("it answered with status %d", answer.StatusCode)
		}
		return out, &refused
	}
	if err := json.Unmarshal(text, &out); err != nil {
		return out, fmt.Errorf("read answer: %w", err)
	}
	return out, nil
}
