package fleet

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/creack/pty"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/screen/vt"
	"tandem/engine/screen/vt10x"
	"tandem/keys"
)

// A terminal is a user's terminal running the dashboard.
type terminal struct {
	*rig
	master *os.File

	mu      sync.Mutex
	screen  *vt.Terminal
	changed chan struct{} // closed at the next change, then replaced
}

// openDashboard opens a dashboard on a data folder.
func (r *rig) openDashboard(member string) *terminal {
	r.Helper()
	t := &terminal{rig: r, changed: make(chan struct{})}
	t.screen = vt.New(vt.Options{Cols: 140, Rows: 40, Grid: vt10x.New, Reply: func(p []byte) {
		answer := append([]byte(nil), p...)
		go t.master.Write(answer)
	}})
	cmd := exec.Command(r.program)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "TANDEM_DATA_DIR="+filepath.Join(r.dir, member), "XDG_CONFIG_HOME="+filepath.Join(r.dir, member+"-config"))
	master, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 140, Rows: 40})
	if err != nil {
		r.Fatal(err)
	}
	t.master = master
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		buf := make([]byte, 64<<10)
		for {
			n, err := master.Read(buf)
			t.mu.Lock()
			t.screen.Write(buf[:n])
			close(t.changed)
			t.changed = make(chan struct{})
			t.mu.Unlock()
			if err != nil {
				_ = cmd.Wait()
				return
			}
		}
	}()
	r.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		master.Close()
	})
	return t
}

// screenText returns the screen's text, and a channel closed at its next change.
func (t *terminal) screenText() (string, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, first, end := t.screen.Bounds()
	var b strings.Builder
	for _, line := range t.screen.Lines(first, int(end-first)) {
		for _, run := range line.Line.Runs {
			b.WriteString(run.Text)
		}
		b.WriteByte('\n')
	}
	return b.String(), t.changed
}

// awaitMatch waits until the screen matches, and returns the duration from since.
func (t *terminal) awaitMatch(expr string, since time.Time) time.Duration {
	t.Helper()
	re, late := regexp.MustCompile(expr), time.After(20*time.Second)
	for {
		text, changed := t.screenText()
		if re.MatchString(text) {
			return time.Since(since)
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("timed out waiting for %s on\n%s", expr, text)
		}
	}
}

// press types keys, given by name or as text after a colon, and returns the time before the
// first.
func (t *terminal) press(names ...string) time.Time {
	t.Helper()
	began := time.Now()
	for _, name := range names {
		text, plain := strings.CutPrefix(name, ":")
		p := []byte(text)
		if !plain {
			key, err := keys.Parse(name)
			if err != nil {
				t.Fatal(err)
			}
			t.mu.Lock()
			m := t.screen.Modes()
			t.mu.Unlock()
			p = keys.Encode(nil, key, keys.Modes{AppCursor: m.AppCursor, AppKeypad: m.AppKeypad, ModifyOther: m.ModifyOther, Kitty: m.Kitty})
		}
		if _, err := t.master.Write(p); err != nil {
			t.Fatal(err)
		}
	}
	return began
}

// measureScreen measures the delays seen by a user of the dashboard: opening the fleet's
// processes, typing into the filter, and changes on a machine.
func (r *rig) measureScreen() {
	r.Helper()
	t := r.openDashboard("ann")
	t.awaitMatch(fmt.Sprintf("%d machines|%s machines", *machines+realMachines, formatThousands(*machines+realMachines)), time.Now())
	t.press("ctrl+b")
	t.press("2")
	t.awaitMatch("F switches", time.Now())
	var opens, typed, changes, real []time.Duration
	const row = `worker-\d+ +m\d+ +(running|failed)`
	for range 20 {
		opens = append(opens, t.awaitMatch(row, t.press("F")))
		t.awaitMatch("F switches(?s:.*)", t.press("F"))
		t.awaitGone(row)
	}
	r.reportMedian(opens, "ms-screen-open")

	t.awaitMatch(row, t.press("F"))
	t.press("/", ":worker-")
	all := *machines * *processes
	counted := func(n int) string { return fmt.Sprintf(`/%d of \d`, n) }
	t.awaitMatch(counted(all), time.Now())
	few, one := 0, *machines // names beginning with worker-1, and worker-17
	for i := range *processes {
		if strings.HasPrefix(fmt.Sprint(i), "1") {
			few += *machines
		}
	}
	for range 10 {
		typed = append(typed, t.awaitMatch(counted(few), t.press(":1")), t.awaitMatch(counted(one), t.press(":7")),
			t.awaitMatch(counted(few), t.press("backspace")), t.awaitMatch(counted(all), t.press("backspace")))
	}
	r.reportMedian(typed, "ms-screen-filter-key")

	t.press("ctrl+u", ":seen-", "enter")
	t.awaitMatch(`seen- +0 of`, time.Now())
	for i := range 30 {
		f := r.fakes[i*len(r.fakes)/30]
		began := time.Now()
		f.events <- api.Event{Type: api.EventProcess, Process: &api.Process{ID: fmt.Sprintf("seen%d", i), Name: fmt.Sprintf("seen-%02d", i), Kind: api.KindProcess, State: api.StateFailed}}
		changes = append(changes, t.awaitMatch(fmt.Sprintf(`seen- +\d+/%d of`, i+1), began))
	}
	r.reportMedian(changes, "ms-screen-change")

	ctx := context.Background()
	c, err := client.Connect(ctx, client.Options{DataDir: filepath.Join(r.dir, "real-1"), Version: "0.2.0", Name: "bench"})
	if err != nil {
		r.Fatal(err)
	}
	defer c.Close()
	t.press("/", "ctrl+u", ":loop", "enter")
	t.awaitMatch(`loop +real-1 +running`, time.Now())
	for range 10 {
		began := time.Now()
		if _, err := api.ProcessStop.Call(ctx, c, api.ProcessStopInput{ID: "loop"}); err != nil {
			r.Fatal(err)
		}
		real = append(real, t.awaitMatch(`loop +real-1 +stopped`, began))
		if _, err := api.ProcessRestart.Call(ctx, c, api.ProcessRestartInput{ID: "loop"}); err != nil {
			r.Fatal(err)
		}
		t.awaitMatch(`loop +real-1 +running`, time.Now())
	}
	r.reportMedian(real, "ms-screen-real-stop")

	t.press("ctrl+b")
	t.press("3")
	began := t.press("F")
	r.ReportMetric(t.awaitMatch(`fleet [\d,]+ of [\d,]+ machines`, began).Seconds()*1e3, "ms-screen-history-first")
	r.ReportMetric(t.awaitMatch(fmt.Sprintf(`fleet (%d|%s) of `, *machines+realMachines, formatThousands(*machines+realMachines)), began).Seconds()*1e3, "ms-screen-history-all")
}

// awaitGone waits until nothing matches.
func (t *terminal) awaitGone(expr string) {
	t.Helper()
	re, late := regexp.MustCompile(expr), time.After(20*time.Second)
	for {
		text, changed := t.screenText()
		if !re.MatchString(text) {
			return
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("timed out waiting for %s to disappear from\n%s", expr, text)
		}
	}
}

// formatThousands formats a number like the dashboard.
func formatThousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
