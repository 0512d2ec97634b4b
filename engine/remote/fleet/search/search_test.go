package search

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
)

// A testFleet is a set of machines with histories: the ages of commands in seconds, newest first.
type testFleet struct {
	*Searches
	histories   map[string][]int
	wait        func(ctx context.Context, machine string) error // called before a machine is reached
	asked       atomic.Int64
	now, maxNow atomic.Int64 // connections at a time
	mu          sync.Mutex
	offsets     map[string]int // last offset requested from a machine
	began       time.Time
}

func newTestFleet(histories map[string][]int) *testFleet {
	return &testFleet{Searches: &Searches{}, histories: histories, wait: func(context.Context, string) error { return nil }, offsets: map[string]int{}, began: time.Now()}
}

func (w *testFleet) openMachine(ctx context.Context, machine string) (net.Conn, error) {
	w.asked.Add(1)
	w.maxNow.Store(max(w.maxNow.Load(), w.now.Add(1)))
	if err := w.wait(ctx, machine); err != nil {
		w.now.Add(-1)
		return nil, err
	}
	near, far := net.Pipe()
	go func() {
		defer far.Close()
		w.serveSearch(far, machine)
	}()
	return &countedConn{near, sync.OnceFunc(func() { w.now.Add(-1) })}, nil
}

// A countedConn is a connection counted in testFleet.now.
type countedConn struct {
	net.Conn
	closed func()
}

func (c *countedConn) Close() error { c.closed(); return c.Conn.Close() }

func (w *testFleet) serveSearch(c net.Conn, machine string) {
	r, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	var in api.HistorySearchInput
	if json.NewDecoder(r.Body).Decode(&in) != nil {
		return
	}
	w.mu.Lock()
	w.offsets[machine] = in.Offset
	w.mu.Unlock()
	all := w.histories[machine]
	out := api.HistorySearchOutput{Total: len(all), Rows: []api.HistoryRow{}}
	for i := in.Offset; i < min(in.Offset+in.Limit, len(all)); i++ {
		out.Rows = append(out.Rows, api.HistoryRow{Runs: 1, Command: api.Command{ID: int64(i), Command: fmt.Sprint(machine, "-", i), StartedAt: w.began.Add(-time.Duration(all[i]) * time.Second)}})
	}
	text, _ := json.Marshal(out)
	fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
}

func (w *testFleet) newQuestion(in api.FleetHistoryInput) Question {
	q := Question{FleetHistoryInput: in, Open: w.openMachine}
	for name := range w.histories {
		m := api.FleetMachine{Name: name, State: api.FleetConnected}
		if strings.HasPrefix(name, "away") {
			m.State = api.FleetAway
		}
		q.Machines = append(q.Machines, m)
	}
	return q
}

// askAll asks until the search is done.
func (w *testFleet) askAll(t *testing.T, in api.FleetHistoryInput) (out api.FleetHistoryOutput) {
	t.Helper()
	in.WaitMS = 10_000
	for {
		out, err := w.Ask(t.Context(), w.newQuestion(in))
		if err != nil {
			t.Fatal(err)
		}
		if !out.Asking {
			return out
		}
		in.Since = out.Serial
	}
}

func commands(out api.FleetHistoryOutput) string {
	var all []string
	for _, r := range out.Rows {
		all = append(all, r.Command.Command)
	}
	return strings.Join(all, " ")
}

func TestSearchMergesNewestOfManyMachines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		histories := map[string][]int{}
		for i := range 300 {
			histories[fmt.Sprintf("m%03d", i)] = []int{1000 + i, 5000 + i}
		}
		histories["away-1"] = []int{1}
		w := newTestFleet(histories)
		defer w.Close()
		out := w.askAll(t, api.FleetHistoryInput{Key: "k", Search: api.HistorySearchInput{Limit: 3}})
		if got := commands(out); got != "m000-0 m001-0 m002-0" {
			t.Errorf("found %q", got)
		}
		if out.Machines != 301 || out.Answered != 300 || out.Away != 1 || out.Found != 600 || out.Total != 600 {
			t.Errorf("counted %+v", out)
		}
		if w.maxNow.Load() > maxParallel || w.asked.Load() != 300 {
			t.Errorf("%d at a time, %d asked", w.maxNow.Load(), w.asked.Load())
		}
		window := api.FleetHistoryInput{Key: "k", Since: out.Serial, Search: api.HistorySearchInput{Offset: 299, Limit: 2}}
		if out := w.askAll(t, window); commands(out) != "m299-0 m000-1" || w.asked.Load() != 300 {
			t.Errorf("another window is %q, and %d were asked", commands(out), w.asked.Load())
		}
	})
}

func TestSearchFetchesMoreOnlyFromMachinesWithNewestRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		histories := map[string][]int{"busy": {}, "idle": {}}
		for i := range 200 {
			histories["busy"] = append(histories["busy"], i)
			histories["idle"] = append(histories["idle"], 100_000+i)
		}
		w := newTestFleet(histories)
		defer w.Close()
		out := w.askAll(t, api.FleetHistoryInput{Key: "k", Search: api.HistorySearchInput{Limit: 35}})
		if out.Rows[34].Command.Command != "busy-34" || w.offsets["busy"] != 20 || w.offsets["idle"] != 0 {
			t.Errorf("the last is %q; asked for %v", out.Rows[34].Command.Command, w.offsets)
		}
		out = w.askAll(t, api.FleetHistoryInput{Key: "k", Since: out.Serial, Search: api.HistorySearchInput{Offset: 190, Limit: 20}})
		if got := commands(out); !strings.HasPrefix(got, "busy-190 ") || !strings.HasSuffix(got, " idle-9") {
			t.Errorf("later rows are %q; offsets requested: %v", got, w.offsets)
		}
	})
}

// A machine may answer before the caller of Ask runs again: the number of rows to collect is
// known when the first machine is asked.
func TestRowsToCollectAreKnownBeforeMachinesAreAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestFleet(map[string][]int{"m": {1, 2}})
		defer w.Close()
		running, err := w.searchFor(w.newQuestion(api.FleetHistoryInput{Key: "k"}), 1)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if out := running.rowRange(0, 1); out.Asking || commands(out) != "m-0" {
			t.Errorf("found %q, asking: %v", commands(out), out.Asking)
		}
	})
}

func TestNegativeRangeIsTheDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestFleet(map[string][]int{"m": {1, 2}})
		defer w.Close()
		out := w.askAll(t, api.FleetHistoryInput{Key: "k", Search: api.HistorySearchInput{Offset: -7, Limit: -3}})
		if commands(out) != "m-0 m-1" {
			t.Errorf("found %q", commands(out))
		}
	})
}

func TestSlowMachineIsCountedNotAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestFleet(map[string][]int{"fast": {2}, "slow": {1}, "gone": {1}, "strict": {1}})
		defer w.Close()
		w.wait = func(ctx context.Context, machine string) error {
			switch machine {
			case "slow":
				<-ctx.Done()
				return ctx.Err()
			case "gone":
				return api.Errorf(api.CodeUnavailable, "it is offline")
			case "strict":
				return api.Errorf(api.CodeForbidden, "it refuses this")
			}
			return nil
		}
		began := time.Now()
		out, err := w.Ask(t.Context(), w.newQuestion(api.FleetHistoryInput{Key: "k", WaitMS: 10_000}))
		if err != nil || commands(out) != "fast-0" || !out.Asking || time.Since(began) > batchTime {
			t.Errorf("%v; %q after %v, asking: %v", err, commands(out), time.Since(began), out.Asking)
		}
		out = w.askAll(t, api.FleetHistoryInput{Key: "k", Since: out.Serial})
		if out.Answered != 1 || out.Slow != 1 || out.Away != 1 || out.Failed != 1 || strings.Join(out.Problems, "") != "strict: it refuses this" || time.Since(began) != answerTimeout {
			t.Errorf("after %v: %+v", time.Since(began), out)
		}
	})
}

// With every key typed, the calls for the previous query are cancelled; while the user is typing,
// no machine is asked.
func TestNewQueryCancelsCallsInProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		histories := map[string][]int{}
		for i := range 200 {
			histories[fmt.Sprintf("m%03d", i)] = []int{i}
		}
		w := newTestFleet(histories)
		defer w.Close()
		hang := true
		w.wait = func(ctx context.Context, _ string) error {
			if hang {
				<-ctx.Done()
			}
			return ctx.Err()
		}
		for _, query := range []string{"", "w", "wo", "wor"} {
			_, err := w.Ask(t.Context(), w.newQuestion(api.FleetHistoryInput{Key: "k", Search: api.HistorySearchInput{Query: query}}))
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if w.asked.Load() != maxParallel || w.now.Load() != 0 {
			t.Errorf("%d were asked, %d still are", w.asked.Load(), w.now.Load())
		}
		hang = false
		if out := w.askAll(t, api.FleetHistoryInput{Key: "k", Search: api.HistorySearchInput{Query: "work"}}); out.Answered != 200 || w.asked.Load() != maxParallel+200 {
			t.Errorf("%d have answered of %d asked", out.Answered, w.asked.Load())
		}
	})
}

func TestUnusedSearchExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestFleet(map[string][]int{"m": {1}})
		defer w.Close()
		if out := w.askAll(t, api.FleetHistoryInput{Key: "done"}); len(out.Rows) != 1 {
			t.Errorf("found %v", out.Rows)
		}
		w.wait = func(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() }
		if _, err := w.Ask(t.Context(), w.newQuestion(api.FleetHistoryInput{Key: "asking"})); err != nil {
			t.Fatal(err)
		}
		time.Sleep(lingerAsking)
		synctest.Wait()
		if w.now.Load() != 0 || len(w.known) != 1 {
			t.Errorf("%d machines are still asked, %d searches kept", w.now.Load(), len(w.known))
		}
		time.Sleep(lingerDone)
		synctest.Wait()
		if len(w.known) != 0 {
			t.Error("rows are kept")
		}
		for i := range 3 * maxSearches {
			if _, err := w.Ask(t.Context(), w.newQuestion(api.FleetHistoryInput{Key: fmt.Sprint(i)})); err != nil || len(w.known) > maxSearches {
				t.Fatalf("%v; %d are kept", err, len(w.known))
			}
		}
	})
}

// Whatever a machine answers, the result must stay bounded and sorted.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`HTTP/1.1 200 OK` + "\r\nContent-Length: 92\r\n\r\n" + `{"rows":[{"id":1,"command":"x","started_at":"2026-01-02T03:04:05Z","score":-7}],"total":9999}`))
	f.Add([]byte("HTTP/1.1 403 Forbidden\r\nContent-Length: 40\r\n\r\n" + `{"code":"forbidden","message":"not you!"}`))
	f.Add([]byte(`{"rows":[{},{},{}],"total":-5}`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		if len(answer) > 0 && answer[0] == '{' {
			answer = append(fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", len(answer)), answer...)
		}
		s := &Searches{}
		defer s.Close()
		open := func(context.Context, string) (net.Conn, error) {
			near, far := net.Pipe()
			go func() {
				defer far.Close()
				if _, err := http.ReadRequest(bufio.NewReader(far)); err == nil {
					_, _ = far.Write(answer)
				}
			}()
			return near, nil
		}
		q := Question{FleetHistoryInput: api.FleetHistoryInput{Key: "k", WaitMS: 30_000}, Open: open, Machines: []api.FleetMachine{{Name: "m", State: api.FleetConnected}}}
		for {
			out, err := s.Ask(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if len(out.Rows) > out.Total || out.Total > MaxRows || out.Total < 0 || out.Answered+out.Failed+out.Slow+out.Away > 1 {
				t.Fatalf("result %+v", out)
			}
			if !out.Asking {
				return
			}
			q.Since = out.Serial
		}
	})
}
