// Package search searches the histories of many machines. It asks a limited number of them at a
// time, merges the best rows as they arrive, and bounds rows, bytes and time. How machines are
// reached is up to the caller.
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
	"tandem/engine/base/panics"
	"tandem/engine/base/sleep"
)

const (
	// MaxRows limits the rows of a search, over all machines.
	MaxRows = 1000
	// maxParallel is how many machines are asked at a time.
	maxParallel = 64
	// pageRows is how many rows to request at once. Few machines have more among the best.
	pageRows = 20
	// answerTimeout is how long a machine has to answer.
	answerTimeout = 3 * time.Second
	// maxAnswer and maxCommand limit an answer and a command, in bytes.
	maxAnswer, maxCommand = 512 << 10, 32 << 10
	// typingDelay is how long a search that replaces another one waits: the user is typing.
	typingDelay = 150 * time.Millisecond
	// batchTime is how long answers are collected before they are reported.
	batchTime = 100 * time.Millisecond
	// lingerAsking and lingerDone are how long an unused search goes on asking and keeps its rows.
	lingerAsking, lingerDone = 2 * time.Second, time.Minute
	// maxSearches limits the searches at a time, maxProblems the errors reported.
	maxSearches, maxProblems = 8, 3
	maxWait                  = 30 * time.Second
)

// A Question is a query, the machines to ask, and how to reach them.
type Question struct {
	api.FleetHistoryInput
	Machines []api.FleetMachine
	Open     func(ctx context.Context, machine string) (net.Conn, error)
}

// Searches are the searches in progress and those with rows still kept. Each belongs to the caller
// that chose its key.
type Searches struct {
	Log *slog.Logger // for panics; may be nil

	mu     sync.Mutex
	known  map[string]*search
	closed bool
	tasks  sync.WaitGroup
}

// Close stops all searches.
func (s *Searches) Close() {
	s.mu.Lock()
	s.closed = true
	for key, running := range s.known {
		running.stop()
		delete(s.known, key)
	}
	s.mu.Unlock()
	s.tasks.Wait()
}

// Ask starts a search or continues a known one, and returns the rows received so far.
func (s *Searches) Ask(ctx context.Context, q Question) (api.FleetHistoryOutput, error) {
	offset, limit := max(q.Search.Offset, 0), q.Search.Limit
	if limit <= 0 {
		limit = 50
	}
	running, err := s.searchFor(q, offset+limit)
	if err != nil {
		return api.FleetHistoryOutput{}, err
	}
	defer running.removeUser()
	running.waitChange(ctx, q.Since, min(time.Duration(q.WaitMS)*time.Millisecond, maxWait))
	return running.rowRange(offset, limit), ctx.Err()
}

// searchFor returns the search for a question, started if it is new, which collects at least the
// number of rows.
func (s *Searches) searchFor(q Question, rows int) (*search, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, api.Errorf(api.CodeUnavailable, "search the fleet: this engine is leaving it")
	}
	query := queryKey(q.FleetHistoryInput)
	old := s.known[q.Key]
	if old != nil && q.Since != 0 && old.query == query {
		old.addUser()
		old.requestRows(rows)
		return old, nil
	}
	if old != nil {
		old.stop()
	} else if len(s.known) >= maxSearches {
		s.dropOldest()
	}
	ctx, cancel := context.WithCancel(context.Background())
	running := &search{searches: s, key: q.Key, query: query, q: q, ctx: ctx, stop: cancel, began: time.Now(), changed: make(chan struct{}), hosts: map[string]*host{}, limit: min(rows, MaxRows), users: 1, first: 1}
	running.expiry = time.AfterFunc(time.Hour, running.expire)
	running.expiry.Stop()
	if s.known == nil {
		s.known = map[string]*search{}
	}
	s.known[q.Key] = running
	running.begin(old != nil)
	return running, nil
}

// queryKey returns a key for the query, equal for all windows of it.
func queryKey(in api.FleetHistoryInput) string {
	in.Since, in.WaitMS, in.Key, in.Search.Offset, in.Search.Limit = 0, 0, "", 0, 0
	text, _ := json.Marshal(in) // cannot fail for these types
	return string(text)
}

// dropOldest stops the oldest search. s.mu is held.
func (s *Searches) dropOldest() {
	var oldest *search
	for _, running := range s.known {
		if oldest == nil || running.began.Before(oldest.began) {
			oldest = running
		}
	}
	oldest.stop()
	delete(s.known, oldest.key)
}

// A search is a search in progress, or its result.
type search struct {
	searches *Searches
	key      string
	query    string
	q        Question
	ctx      context.Context
	stop     context.CancelFunc
	began    time.Time

	mu      sync.Mutex
	rows    []*api.FleetHistoryRow // best rows received so far, sorted
	hosts   map[string]*host       // machines that answered
	limit   int                    // number of rows requested
	asking  bool
	count   api.FleetHistoryOutput // only the counts are set
	serial  int64
	first   int64         // serial before the first answer
	changed chan struct{} // closed and replaced with each change
	users   int
	expiry  *time.Timer
}

// A host is the state of a machine that answered.
type host struct {
	received, available int // rows received, and rows available
	skipped             int // received but too long
	last                *api.FleetHistoryRow
}

func (o *search) addUser() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.users++
	o.expiry.Stop()
}

// removeUser ends a use of the search. Without users, it expires after a while.
func (o *search) removeUser() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.users--
	o.startExpiry()
}

// startExpiry starts the expiry if the search has no users. o.mu is held.
func (o *search) startExpiry() {
	if o.users > 0 {
		return
	}
	wait := lingerDone
	if o.asking {
		wait = lingerAsking
	}
	o.expiry.Reset(wait)
}

// expire removes a search without users.
func (o *search) expire() {
	// Lock order: Searches.mu before search.mu.
	o.searches.mu.Lock()
	defer o.searches.mu.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.users > 0 {
		return
	}
	o.stop()
	if o.searches.known[o.key] == o {
		delete(o.searches.known, o.key)
	}
}

// begin asks all connected machines, after a delay if the user is typing.
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
	o.searches.tasks.Go(func() {
		if typing {
			_ = sleep.For(o.ctx, typingDelay)
		}
		o.askMachines(names)
	})
}

// askMachines asks machines, and those with more rows to contribute again.
func (o *search) askMachines(names []string) {
	panicked := panics.Log(o.searches.Log, "fleet: search", func() {
		for more := true; more; more = len(names) > 0 && o.ctx.Err() == nil {
			o.askAll(names)
			names = o.machinesToAsk()
		}
	})
	// A caller may still be waiting.
	if panicked || o.ctx.Err() != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.asking = false
		o.wakeWaiters()
	}
}

func (o *search) askAll(names []string) {
	var all panics.Group
	defer all.Wait()
	slots := make(chan struct{}, maxParallel)
	for _, name := range names {
		select {
		case slots <- struct{}{}:
		case <-o.ctx.Done():
		}
		if o.ctx.Err() != nil {
			return
		}
		all.Start(func() {
			defer func() { <-slots }()
			o.askPage(name)
		})
	}
}

func (o *search) machinesToAsk() []string {
	o.mu.Lock()
	defer o.mu.Unlock() // also if incomplete panics
	return o.incomplete()
}

// incomplete returns the machines with more rows among the best. If there are none, the search is
// done. o.mu is held.
func (o *search) incomplete() (names []string) {
	for name, h := range o.hosts {
		if h.received < h.available && (len(o.rows) < o.limit || compareRows(h.last, o.rows[o.limit-1]) <= 0) {
			names = append(names, name)
		}
	}
	if o.asking = len(names) > 0; !o.asking {
		o.startExpiry()
		o.wakeWaiters()
	}
	return names
}

// requestRows raises the number of rows to collect.
func (o *search) requestRows(rows int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	rows = min(rows, MaxRows)
	if rows <= o.limit {
		return
	}
	o.limit = rows
	if o.asking {
		return
	}
	if names := o.incomplete(); len(names) > 0 {
		o.searches.tasks.Go(func() { o.askMachines(names) })
	}
}

// wakeWaiters wakes everything waiting for a change. o.mu is held.
func (o *search) wakeWaiters() {
	o.serial++
	close(o.changed)
	o.changed = make(chan struct{})
}

// waitChange waits until the serial differs from since, and briefly for further answers.
func (o *search) waitChange(ctx context.Context, since int64, limit time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, limit)
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
	// Return after a short time, or as soon as all machines have answered.
	enough := time.NewTimer(batchTime)
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

// rowRange returns a range of the rows received so far.
func (o *search) rowRange(offset, limit int) api.FleetHistoryOutput {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := o.count
	out.Rows, out.Serial, out.Asking = []api.FleetHistoryRow{}, o.serial, o.asking
	out.Problems = slices.Clone(o.count.Problems)
	for _, h := range o.hosts {
		out.Found += h.available
		out.Total += h.available - h.skipped
	}
	out.Total = min(out.Total, MaxRows)
	for _, r := range o.rows[min(offset, len(o.rows)):min(offset+limit, len(o.rows))] {
		out.Rows = append(out.Rows, *r)
	}
	return out
}

// askPage requests the next rows of a machine.
func (o *search) askPage(name string) {
	ctx, cancel := context.WithTimeout(o.ctx, answerTimeout)
	defer cancel()
	o.mu.Lock()
	in, h := o.q.Search, o.hosts[name]
	o.mu.Unlock()
	in.Offset, in.Limit = 0, pageRows
	if h != nil {
		in.Offset = h.received
	}
	var out api.HistorySearchOutput
	var err error
	panicked := panics.Log(o.searches.Log, "fleet: answer", func() {
		var conn net.Conn
		if conn, err = o.q.Open(ctx, name); err == nil {
			defer conn.Close()
			out, err = callSearch(ctx, conn, in)
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
	defer o.wakeWaiters()
	if err != nil {
		o.countFailure(name, err, late)
		return
	}
	if h == nil {
		h = &host{}
		o.hosts[name] = h
		o.count.Answered++
	}
	o.mergeRows(name, h, out)
}

// countFailure counts a machine without an answer. o.mu is held.
func (o *search) countFailure(name string, err error, late bool) {
	if h := o.hosts[name]; h != nil {
		h.available = h.received // give up on its remaining rows
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
	if o.count.Failed++; len(o.count.Problems) < maxProblems {
		o.count.Problems = append(o.count.Problems, name+": "+api.AsError(err).Message)
	}
}

// mergeRows merges rows of a machine. o.mu is held.
func (o *search) mergeRows(name string, h *host, out api.HistorySearchOutput) {
	rows := make([]*api.FleetHistoryRow, 0, len(out.Rows))
	for _, r := range out.Rows[:min(len(out.Rows), pageRows)] {
		if len(r.Command.Command) <= maxCommand {
			rows = append(rows, &api.FleetHistoryRow{Machine: name, HistoryRow: r})
		}
	}
	given := min(len(out.Rows), pageRows)
	h.received += given
	h.skipped += given - len(rows)
	h.available = max(out.Total, h.received)
	if len(rows) == 0 {
		h.available = h.received
		return
	}
	// A machine of another version, or a dishonest one, may send them in another order.
	slices.SortFunc(rows, compareRows)
	h.last = rows[len(rows)-1]
	merged := make([]*api.FleetHistoryRow, 0, min(len(o.rows)+len(rows), MaxRows))
	for a, b := o.rows, rows; len(merged) < MaxRows && len(a)+len(b) > 0; {
		if len(b) == 0 || len(a) > 0 && compareRows(a[0], b[0]) <= 0 {
			merged, a = append(merged, a[0]), a[1:]
		} else {
			merged, b = append(merged, b[0]), b[1:]
		}
	}
	o.rows = merged
}

// compareRows sorts by score and, for equal scores, newest first.
func compareRows(a, b *api.FleetHistoryRow) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), b.StartedAt.Compare(a.StartedAt), strings.Compare(a.Machine, b.Machine), cmp.Compare(b.ID, a.ID))
}

// callSearch calls history.search over a connection to a machine.
func callSearch(ctx context.Context, conn net.Conn, in api.HistorySearchInput) (out api.HistorySearchOutput, err error) {
	// Closing the connection is the only way to cancel blocked reads and writes.
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
	answer, err := http.ReadResponse(bufio.NewReader(io.LimitReader(conn, maxAnswer)), r)
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
