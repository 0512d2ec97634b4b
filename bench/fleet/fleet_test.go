package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/hosts/transport"
)

// quiet is how long it is looked at what a fleet costs in which nothing happens.
const quiet = 20 * time.Second

// BenchmarkFleet measures a fleet of -machines.
func BenchmarkFleet(b *testing.B) {
	for b.Loop() {
		r := newRig(b)
		empty := r.status().Memory
		r.look()
		began := time.Now()
		r.start(*machines)
		if *hold {
			r.held()
			return
		}
		want := *machines**processes - failing()
		r.until("all to be there", func() bool { c, p := r.there(); return c == *machines && p == want })
		b.ReportMetric(time.Since(began).Seconds(), "s-until-all-joined")
		r.joinReal()
		r.until("the real ones to be there", func() bool { c, p := r.there(); return c == *machines+reals && p == want+reals })
		time.Sleep(5 * time.Second) // all rows are written
		before, at := r.status(), time.Now()
		time.Sleep(quiet)
		after := r.status()
		seconds := time.Since(at).Seconds()
		n := float64(*machines + reals)
		b.ReportMetric(float64(after.InBytes-before.InBytes)/seconds/n, "B/s-in-per-machine")
		b.ReportMetric(float64(after.OutBytes-before.OutBytes)/seconds/n, "B/s-out-per-machine")
		b.ReportMetric(float64(after.Memory)/1e6, "MB-hub")
		b.ReportMetric(float64(after.Memory-empty)/n/1e3, "KB-hub-per-machine")
		r.changes()
		r.opens()
		r.floods()
		r.exec()
		r.shown()
		r.list()
		for _, wiped := range []bool{false, true} {
			r.restart(wiped)
		}
	}
}

// held waits with all machines for an interrupt.
func (r *rig) held() {
	r.Helper()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	line, _ := r.tandem("data", "hub", "invite", "person", "ann", "--role", "operate")
	fmt.Printf("%d machines; their hub has the data folder %s; a person joins with\n%s", *machines, filepath.Join(r.dir, "data"), line)
	<-ctx.Done()
}

// failing is how many processes of the fakes have failed.
func failing() int {
	if *processes <= 3 {
		return 0
	}
	return (*machines + 92) / 100
}

// changes measures how long it takes until a change of a process is known to who looks on.
func (r *rig) changes() {
	var took []time.Duration
	_, running := r.there()
	for i := range 50 {
		f := r.fakes[i*len(r.fakes)/50]
		began := time.Now()
		f.events <- api.Event{Type: api.EventProcess, Process: &api.Process{ID: fmt.Sprintf("new%d", i), State: api.StateRunning}}
		running++
		r.until("a change", func() bool { _, now := r.there(); return now >= running })
		took = append(took, time.Since(began))
	}
	r.median(took, "ms-change")
}

// opens measures connections to all machines with a call on each, 64 at a time.
func (r *rig) opens() {
	var all sync.WaitGroup
	free := make(chan struct{}, 64)
	began := time.Now()
	for i := range r.fakes {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			if err := r.call(fmt.Sprintf("m%05d", i)); err != nil {
				r.Error(err)
			}
		})
	}
	all.Wait()
	r.ReportMetric(time.Since(began).Seconds(), "s-call-all")
}

func (r *rig) call(machine string) error {
	conn, _, err := r.person.Open(context.Background(), machine, transport.Preface{Origin: "bench"})
	if err != nil {
		return err
	}
	c := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return conn, nil }, DisableKeepAlives: true}}
	resp, err := c.Post("http://tandem/v1/"+api.EngineInfo.Name, "application/json", strings.NewReader("{}"))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var info api.Info
	return json.NewDecoder(resp.Body).Decode(&info)
}

// floods measures what a machine that sends without end costs the hub and others, when
// nobody reads it.
func (r *rig) floods() {
	before := r.status().Memory
	var idle []net.Conn
	for range 20 {
		conn, _, err := r.person.Open(context.Background(), "m00000", transport.Preface{Origin: "flood"})
		if err != nil {
			r.Fatal(err)
		}
		idle = append(idle, conn)
	}
	var took []time.Duration
	for range 200 {
		began := time.Now()
		if err := r.call("m00001"); err != nil {
			r.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	r.median(took, "ms-call-beside-20-floods")
	r.ReportMetric(float64(int64(r.status().Memory)-int64(before))/1e6, "MB-hub-growth-by-20-floods")
	reading, _, err := r.person.Open(context.Background(), "m00002", transport.Preface{Origin: "flood"})
	if err != nil {
		r.Fatal(err)
	}
	go discard(reading)
	took = took[:0]
	for range 200 {
		began := time.Now()
		if err := r.call("m00001"); err != nil {
			r.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	r.median(took, "ms-call-beside-a-flood-that-is-read")
	for _, c := range append(idle, reading) {
		c.Close()
	}
}

// exec measures `tandem exec` and `tandem ps` on all machines by a real engine and program.
func (r *rig) exec() {
	r.joins("ann", "person", "ann2", "--role", "operate")
	r.tandem("ann", "fleet", "--json")
	out, took := r.tandem("ann", "exec", "--label", "bench=1", "--", "uname", "-r")
	if !strings.Contains(out, fmt.Sprintf("%d × ok", *machines+reals)) {
		r.Errorf("exec on all says at the end %.500s", out[max(0, len(out)-500):])
	}
	r.ReportMetric(took.Seconds(), "s-exec-all")
	r.ReportMetric(r.cpu.Seconds(), "cpu-s-exec-all-verb")
	for _, ps := range [][]string{{"ps-first-ever"}, {"ps"}, {"ps-json", "--json"}, {"ps-usage", "--usage"}} { // with the first the rows come
		_, took = r.tandem("ann", append([]string{"ps", "--label", "bench=1"}, ps[1:]...)...)
		r.ReportMetric(took.Seconds(), "s-verb-"+ps[0])
		r.ReportMetric(r.cpu.Seconds(), "cpu-s-verb-"+ps[0])
	}
	_, took = r.tandem("ann", "fleet", "--json")
	r.ReportMetric(float64(took.Milliseconds()), "ms-verb-fleet")
}

// list measures the dashboard's list of what runs in the fleet: a window of it is asked of a
// real engine, as the dashboard asks for it.
func (r *rig) list() {
	r.Helper()
	ctx := context.Background()
	c, err := client.Connect(ctx, client.Options{DataDir: filepath.Join(r.dir, "ann"), Version: "0.2.0", Name: "bench"})
	if err != nil {
		r.Fatal(err)
	}
	defer c.Close()
	ask := func(in api.FleetProcessesInput) (api.FleetProcessesOutput, time.Duration) {
		began := time.Now()
		in.Limit = 340
		out, err := api.FleetProcesses.Call(ctx, c, in)
		if err != nil {
			r.Fatal(err)
		}
		return out, time.Since(began)
	}
	want := *machines**processes + reals
	r.until("all rows", func() bool { out, _ := ask(api.FleetProcessesInput{}); return !out.Loading && out.All >= want })
	var opens, keys, changes []time.Duration
	for range 20 {
		_, took := ask(api.FleetProcessesInput{})
		opens = append(opens, took)
		for _, filter := range []string{"w", "wo", "wor", "work", "worker-1", "worker-17", "worker-17 host:m0001", "label:role=web 17"} {
			_, took := ask(api.FleetProcessesInput{Filter: filter})
			keys = append(keys, took)
		}
	}
	r.median(opens, "ms-list-open")
	r.median(keys, "ms-list-filter-key")
	for i := range 50 {
		f := r.fakes[i*len(r.fakes)/50]
		now, _ := ask(api.FleetProcessesInput{})
		began := time.Now()
		f.events <- api.Event{Type: api.EventProcess, Process: &api.Process{ID: fmt.Sprintf("changed%d", i), Name: "changed", State: api.StateFailed}}
		for {
			out, _ := ask(api.FleetProcessesInput{Filter: "changed", Since: now.Serial, WaitMS: 20_000})
			if now = out; out.Matching > i {
				break
			}
		}
		changes = append(changes, time.Since(began))
	}
	r.median(changes, "ms-list-change")
	var firsts, wholes []time.Duration
	for _, query := range []string{"", "w", "worker-1", "worker-17", "restart"} {
		in := api.FleetHistoryInput{Key: query, Search: api.HistorySearchInput{Query: query, Limit: 100, Unique: true}, WaitMS: 500}
		began := time.Now()
		for {
			out, err := api.FleetHistory.Call(ctx, c, in)
			if err != nil {
				r.Fatal(err)
			}
			if in.Since == 0 {
				firsts = append(firsts, time.Since(began))
			}
			if in.Since = out.Serial; !out.Asking {
				r.ReportMetric(float64(out.Answered), "machines-in-history")
				break
			}
		}
		wholes = append(wholes, time.Since(began))
	}
	r.median(firsts, "ms-history-first-rows")
	r.median(wholes, "ms-history-all")
	info, err := api.EngineInfo.Call(ctx, c, api.Empty{})
	if err != nil {
		r.Fatal(err)
	}
	if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", info.EnginePID)); err == nil {
		var size, pages int
		_, _ = fmt.Sscan(string(text), &size, &pages)
		r.ReportMetric(float64(pages*os.Getpagesize())/1e6, "MB-engine-of-the-person")
	}
}

// restart kills the hub, with its buckets or without, and measures until all are back.
func (r *rig) restart(wiped bool) {
	name := "killed"
	r.killHub()
	if wiped {
		name = "wiped"
		if err := os.RemoveAll(filepath.Join(r.folder(), "store")); err != nil {
			r.Fatal(err)
		}
	}
	time.Sleep(5 * time.Second) // the pauses of all have grown
	r.startHub(r.address)
	began, spent := time.Now(), own(r.Fatal)
	most := 0
	for last, at := 0, time.Now(); ; {
		connected := 0
		for _, f := range r.fakes {
			if f.State() == nil {
				connected++
			}
		}
		if time.Since(at) >= 250*time.Millisecond || connected == len(r.fakes) {
			most = max(most, connected-last)
			last, at = connected, time.Now()
		}
		if connected == len(r.fakes) {
			break
		}
		if time.Since(began) > time.Minute {
			r.Logf("%d of %d are back after a minute", connected, len(r.fakes)) // a failure would tell no figures
			r.ReportMetric(float64(len(r.fakes)-connected), "machines-missing-"+name)
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	r.ReportMetric(time.Since(began).Seconds(), "s-all-back-"+name)
	r.ReportMetric(own(r.Fatal).Seconds()-spent.Seconds(), "cpu-s-machines-all-back-"+name)
	r.ReportMetric(float64(most)/float64(len(r.fakes))*100, "%-at-most-within-250ms-"+name)
	r.until("the buckets to be right", func() bool {
		c, p := r.there()
		return c >= *machines+reals && p >= *machines**processes-failing()+reals
	})
	r.ReportMetric(time.Since(began).Seconds(), "s-buckets-right-"+name)
}

func (r *rig) median(took []time.Duration, name string) {
	slices.Sort(took)
	r.ReportMetric(float64(took[len(took)/2].Microseconds())/1e3, name+"-median")
	r.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1e3, name+"-p99")
}

// BenchmarkEcho measures from a key to its echo in an attachment: through the hub, over a
// bridge, and on this machine.
func BenchmarkEcho(b *testing.B) {
	for b.Loop() {
		r := newRig(b)
		r.joins("box", "machine", "box")
		r.joins("ann", "person", "ann", "--role", "operate")
		folder := filepath.Join(r.dir, "ann-config", "tandem")
		f, err := os.OpenFile(filepath.Join(folder, "config.toml"), os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			b.Fatal(err)
		}
		fmt.Fprintf(f, "\n[machines.bridged]\ntransport = [%q, \"bridge\"]\nenv = { TANDEM_DATA_DIR = %q }\n", r.program, filepath.Join(r.dir, "box"))
		f.Close()
		r.tandem("box", "new", "--name", "echo", "--size", "80x24", "--", "cat")
		for _, machine := range []string{"bridged", "box"} {
			var c *client.Client
			r.until("machine "+machine, func() bool {
				c, err = client.ConnectMachine(context.Background(), client.Options{DataDir: filepath.Join(r.dir, "ann"), Version: "0.2.0", Name: "bench", Command: []string{"keeper"}}, machine)
				return err == nil
			})
			r.median(echoes(b, c), "ms-echo-"+machine)
			c.Close()
		}
	}
}

// echoes types into a session and waits for each key to come back.
func echoes(b *testing.B, c *client.Client) (took []time.Duration) {
	b.Helper()
	a, err := c.Attach(context.Background(), api.AttachOptions{ID: "echo", Raw: true})
	if err != nil {
		b.Fatal(err)
	}
	defer a.Close()
	came := make(chan struct{}, 1000)
	go func() {
		for {
			if _, err := a.Receive(); err != nil {
				return
			}
			came <- struct{}{}
		}
	}()
	time.Sleep(time.Second)
	for len(came) > 0 {
		<-came
	}
	for i := range 400 {
		began := time.Now()
		if err := a.Send(api.Input{Bytes: []byte{byte('a' + i%26)}}); err != nil {
			b.Fatal(err)
		}
		<-came
		took = append(took, time.Since(began))
		time.Sleep(5 * time.Millisecond)
		for len(came) > 0 {
			<-came
		}
	}
	return took
}

// own is the processor time of this process, which is that of all machines without an engine.
func own(fatal func(...any)) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
