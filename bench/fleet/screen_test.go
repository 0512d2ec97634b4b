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
	"tandem/engine/vt"
	"tandem/engine/vt10x"
	"tandem/keys"
)

// A terminal is a person's, with the dashboard in it.
type terminal struct {
	*rig
	master *os.File

	mu      sync.Mutex
	screen  *vt.Terminal
	changed chan struct{} // closed at the next change, then replaced
}

// dashboard opens a dashboard on a data folder.
func (r *rig) dashboard(who string) *terminal {
	r.Helper()
	t := &terminal{rig: r, changed: make(chan struct{})}
	t.screen = vt.New(vt.Options{Cols: 140, Rows: 40, Grid: vt10x.New, Reply: func(p []byte) {
		answer := append([]byte(nil), p...)
		go t.master.Write(answer)
	}})
	cmd := exec.Command(r.program)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "TANDEM_DATA_DIR="+filepath.Join(r.dir, who), "XDG_CONFIG_HOME="+filepath.Join(r.dir, who+"-config"))
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

// text is the screen, and what is closed with its next change.
func (t *terminal) text() (string, <-chan struct{}) {
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

// shows waits for what matches, and tells how long that took since a time.
func (t *terminal) shows(expr string, since time.Time) time.Duration {
	t.Helper()
	re, late := regexp.MustCompile(expr), time.After(20*time.Second)
	for {
		text, changed := t.text()
		if re.MatchString(text) {
			return time.Since(since)
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("waited in vain for %s on\n%s", expr, text)
		}
	}
}

// press types keys: names, or text after a colon. It tells when.
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

// shown measures what a person at the dashboard sees: from opening the processes of the fleet,
// a key in the filter and a change on a machine to the screen.
func (r *rig) shown() {
	r.Helper()
	t := r.dashboard("ann")
	t.shows(fmt.Sprintf("%d machines|%s machines", *machines+reals, thousands(*machines+reals)), time.Now())
	t.press("ctrl+b")
	t.press("2")
	t.shows("F switches", time.Now())
	var opens, typed, changes, real []time.Duration
	const row = `worker-\d+ +m\d+ +(running|failed)`
	for range 20 {
		opens = append(opens, t.shows(row, t.press("F")))
		t.shows("F switches(?s:.*)", t.press("F"))
		t.gone(row)
	}
	r.median(opens, "ms-screen-open")

	t.shows(row, t.press("F"))
	t.press("/", ":worker-")
	all := *machines * *processes
	counted := func(n int) string { return fmt.Sprintf(`/%d of \d`, n) }
	t.shows(counted(all), time.Now())
	few, one := 0, *machines // names with 1 in the beginning, and 17
	for i := range *processes {
		if strings.HasPrefix(fmt.Sprint(i), "1") {
			few += *machines
		}
	}
	for range 10 {
		typed = append(typed, t.shows(counted(few), t.press(":1")), t.shows(counted(one), t.press(":7")),
			t.shows(counted(few), t.press("backspace")), t.shows(counted(all), t.press("backspace")))
	}
	r.median(typed, "ms-screen-filter-key")

	t.press("ctrl+u", ":seen-", "enter")
	t.shows(`seen- +0 of`, time.Now())
	for i := range 30 {
		f := r.fakes[i*len(r.fakes)/30]
		began := time.Now()
		f.events <- api.Event{Type: api.EventProcess, Process: &api.Process{ID: fmt.Sprintf("seen%d", i), Name: fmt.Sprintf("seen-%02d", i), Kind: api.KindProcess, State: api.StateFailed}}
		changes = append(changes, t.shows(fmt.Sprintf(`seen- +\d+/%d of`, i+1), began))
	}
	r.median(changes, "ms-screen-change")

	ctx := context.Background()
	c, err := client.Connect(ctx, client.Options{DataDir: filepath.Join(r.dir, "real-1"), Version: "0.2.0", Name: "bench"})
	if err != nil {
		r.Fatal(err)
	}
	defer c.Close()
	t.press("/", "ctrl+u", ":loop", "enter")
	t.shows(`loop +real-1 +running`, time.Now())
	for range 10 {
		began := time.Now()
		if _, err := api.ProcessStop.Call(ctx, c, api.ProcessStopInput{ID: "loop"}); err != nil {
			r.Fatal(err)
		}
		real = append(real, t.shows(`loop +real-1 +stopped`, began))
		if _, err := api.ProcessRestart.Call(ctx, c, api.ProcessRestartInput{ID: "loop"}); err != nil {
			r.Fatal(err)
		}
		t.shows(`loop +real-1 +running`, time.Now())
	}
	r.median(real, "ms-screen-real-stop")

	t.press("ctrl+b")
	t.press("3")
	began := t.press("F")
	r.ReportMetric(t.shows(`fleet [\d,]+ of [\d,]+ machines`, began).Seconds()*1e3, "ms-screen-history-first")
	r.ReportMetric(t.shows(fmt.Sprintf(`fleet (%d|%s) of `, *machines+reals, thousands(*machines+reals)), began).Seconds()*1e3, "ms-screen-history-all")
}

// gone waits until nothing matches.
func (t *terminal) gone(expr string) {
	t.Helper()
	re, late := regexp.MustCompile(expr), time.After(20*time.Second)
	for {
		text, changed := t.text()
		if !re.MatchString(text) {
			return
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("waited in vain for %s to go from\n%s", expr, text)
		}
	}
}

// thousands is a number as the dashboard writes it.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
