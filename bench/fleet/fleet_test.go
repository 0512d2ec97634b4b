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
	"tandem/engine/remote/hosts/transport"
)

// idleTime is the duration of the measurement of an idle fleet.
const idleTime = 20 * time.Second

// BenchmarkFleet measures a fleet of -machines.
func BenchmarkFleet(b *testing.B) {
	for b.Loop() {
		r := newRig(b)
		empty := r.status().Memory
		r.startPerson()
		began := time.Now()
		r.startFakes(*machines)
		if *hold {
			r.waitForInterrupt()
			return
		}
		want := *machines**processes - countFailed()
		r.await("all machines to connect", func() bool { c, p := r.countConnected(); return c == *machines && p == want })
		b.ReportMetric(time.Since(began).Seconds(), "s-until-all-joined")
		r.joinReal()
		r.await("the real machines to connect", func() bool { c, p := r.countConnected(); return c == *machines+realMachines && p == want+realMachines })
		time.Sleep(5 * time.Second) // until all rows are written
		before, at := r.status(), time.Now()
		time.Sleep(idleTime)
		after := r.status()
		seconds := time.Since(at).Seconds()
		n := float64(*machines + realMachines)
		b.ReportMetric(float64(after.InBytes-before.InBytes)/seconds/n, "B/s-in-per-machine")
		b.ReportMetric(float64(after.OutBytes-before.OutBytes)/seconds/n, "B/s-out-per-machine")
		b.ReportMetric(float64(after.Memory)/1e6, "MB-hub")
		b.ReportMetric(float64(after.Memory-empty)/n/1e3, "KB-hub-per-machine")
		r.measureChanges()
		r.measureOpens()
		r.measureFloods()
		r.measureExec()
		for _, wiped := range []bool{false, true} {
			r.measureRestart(wiped)
		}
	}
}

// waitForInterrupt keeps all machines running until an interrupt.
func (r *rig) waitForInterrupt() {
	r.Helper()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	line, _ := r.tandem("data", "hub", "invite", "person", "ann", "--role", "operate")
	fmt.Printf("%d machines; their hub has the data folder %s; a person joins with\n%s", *machines, filepath.Join(r.dir, "data"), line)
	<-ctx.Done()
}

// countFailed returns the number of failed processes on the fakes.
func countFailed() int {
	if *processes <= 3 {
		return 0
	}
	return (*machines + 92) / 100
}

// measureChanges measures the time until an observer knows of a changed process.
func (r *rig) measureChanges() {
	var took []time.Duration
	_, running := r.countConnected()
	for i := range 50 {
		f := r.fakes[i*len(r.fakes)/50]
		began := time.Now()
		f.events <- api.Event{Type: api.EventProcess, Process: &api.Process{ID: fmt.Sprintf("new%d", i), State: api.StateRunning}}
		running++
		r.await("a change", func() bool { _, now := r.countConnected(); return now >= running })
		took = append(took, time.Since(began))
	}
	r.reportMedian(took, "ms-change")
}

// measureOpens measures connecting to all machines with a call on each, 64 at a time.
func (r *rig) measureOpens() {
	var all sync.WaitGroup
	slots := make(chan struct{}, 64)
	began := time.Now()
	for i := range r.fakes {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			if err := r.callMachine(fmt.Sprintf("m%05d", i)); err != nil {
				r.Error(err)
			}
		})
	}
	all.Wait()
	r.ReportMetric(time.Since(began).Seconds(), "s-call-all")
}

func (r *rig) callMachine(machine string) error {
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

// measureFloods measures the cost of machines that send without pause, for the hub and for calls
// to other machines: first with no reader, then with one.
func (r *rig) measureFloods() {
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
		if err := r.callMachine("m00001"); err != nil {
			r.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	r.reportMedian(took, "ms-call-beside-20-floods")
	r.ReportMetric(float64(int64(r.status().Memory)-int64(before))/1e6, "MB-hub-growth-by-20-floods")
	reading, _, err := r.person.Open(context.Background(), "m00002", transport.Preface{Origin: "flood"})
	if err != nil {
		r.Fatal(err)
	}
	go discardInput(reading)
	took = took[:0]
	for range 200 {
		began := time.Now()
		if err := r.callMachine("m00001"); err != nil {
			r.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	r.reportMedian(took, "ms-call-beside-a-flood-that-is-read")
	for _, c := range append(idle, reading) {
		c.Close()
	}
}

// measureExec measures `tandem exec` and `tandem ps` on all machines, with a real engine and
// program.
func (r *rig) measureExec() {
	r.joinFleet("ann", "person", "ann2", "--role", "operate")
	r.tandem("ann", "fleet", "--json")
	out, took := r.tandem("ann", "exec", "--label", "bench=1", "--", "uname", "-r")
	if !strings.Contains(out, fmt.Sprintf("%d × ok", *machines+realMachines)) {
		r.Errorf("exec on all machines ends with %.500s", out[max(0, len(out)-500):])
	}
	r.ReportMetric(took.Seconds(), "s-exec-all")
	r.ReportMetric(r.cpu.Seconds(), "cpu-s-exec-all-verb")
	for _, ps := range [][]string{{"ps-first-ever"}, {"ps"}, {"ps-json", "--json"}, {"ps-usage", "--usage"}} { // the first one fetches the rows
		_, took = r.tandem("ann", append([]string{"ps", "--label", "bench=1"}, ps[1:]...)...)
		r.ReportMetric(took.Seconds(), "s-verb-"+ps[0])
		r.ReportMetric(r.cpu.Seconds(), "cpu-s-verb-"+ps[0])
	}
	_, took = r.tandem("ann", "fleet", "--json")
	r.ReportMetric(float64(took.Milliseconds()), "ms-verb-fleet")
}

// measureRestart kills the hub, deletes its buckets if wiped is set, and measures the time until
// all machines are back.
func (r *rig) measureRestart(wiped bool) {
	name := "killed"
	r.killHub()
	if wiped {
		name = "wiped"
		if err := os.RemoveAll(filepath.Join(r.hubFolder(), "store")); err != nil {
			r.Fatal(err)
		}
	}
	time.Sleep(5 * time.Second) // lets every machine's retry interval grow
	r.startHub(r.address)
	began, spent := time.Now(), ownCPUTime(r.Fatal)
	maxReturned := 0
	for last, at := 0, time.Now(); ; {
		connected := 0
		for _, f := range r.fakes {
			if f.State() == nil {
				connected++
			}
		}
		if time.Since(at) >= 250*time.Millisecond || connected == len(r.fakes) {
			maxReturned = max(maxReturned, connected-last)
			last, at = connected, time.Now()
		}
		if connected == len(r.fakes) {
			break
		}
		if time.Since(began) > time.Minute {
			r.Logf("%d of %d are back after a minute", connected, len(r.fakes)) // not a failure, because that would hide the figures
			r.ReportMetric(float64(len(r.fakes)-connected), "machines-missing-"+name)
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	r.ReportMetric(time.Since(began).Seconds(), "s-all-back-"+name)
	r.ReportMetric(ownCPUTime(r.Fatal).Seconds()-spent.Seconds(), "cpu-s-machines-all-back-"+name)
	r.ReportMetric(float64(maxReturned)/float64(len(r.fakes))*100, "%-at-most-within-250ms-"+name)
	r.await("complete buckets", func() bool {
		c, p := r.countConnected()
		return c >= *machines+realMachines && p >= *machines**processes-countFailed()+realMachines
	})
	r.ReportMetric(time.Since(began).Seconds(), "s-buckets-right-"+name)
}

func (r *rig) reportMedian(took []time.Duration, name string) {
	slices.Sort(took)
	r.ReportMetric(float64(took[len(took)/2].Microseconds())/1e3, name+"-median")
	r.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1e3, name+"-p99")
}

// BenchmarkEcho measures the time from a key to its echo in an attachment: through the hub, over
// a bridge, and on this machine.
func BenchmarkEcho(b *testing.B) {
	for b.Loop() {
		r := newRig(b)
		r.joinFleet("box", "machine", "box")
		r.joinFleet("ann", "person", "ann", "--role", "operate")
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
			r.await("machine "+machine, func() bool {
				c, err = client.ConnectMachine(context.Background(), client.Options{DataDir: filepath.Join(r.dir, "ann"), Version: "0.2.0", Name: "bench", Command: []string{"keeper"}}, machine)
				return err == nil
			})
			r.reportMedian(measureEcho(b, c), "ms-echo-"+machine)
			c.Close()
		}
	}
}

// measureEcho types into a session and waits for each key's echo.
func measureEcho(b *testing.B, c *client.Client) (took []time.Duration) {
	b.Helper()
	a, err := c.Attach(context.Background(), api.AttachOptions{ID: "echo", Raw: true})
	if err != nil {
		b.Fatal(err)
	}
	defer a.Close()
	received := make(chan struct{}, 1000)
	go func() {
		for {
			if _, err := a.Receive(); err != nil {
				return
			}
			received <- struct{}{}
		}
	}()
	time.Sleep(time.Second)
	for len(received) > 0 {
		<-received
	}
	for i := range 400 {
		began := time.Now()
		if err := a.Send(api.Input{Bytes: []byte{byte('a' + i%26)}}); err != nil {
			b.Fatal(err)
		}
		<-received
		took = append(took, time.Since(began))
		time.Sleep(5 * time.Millisecond)
		for len(received) > 0 {
			<-received
		}
	}
	return took
}

// ownCPUTime returns the CPU time of this process, which runs all machines without an engine.
func ownCPUTime(fatal func(...any)) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
