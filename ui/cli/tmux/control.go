package tmux

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/ui/cli/tmux/server"
)

// control is control mode: commands are read from standard input, and what they say and what
// happens is written in lines that begin with a percent sign.
type control struct {
	mu      sync.Mutex // held for one whole message, and while a command runs
	out     io.Writer
	number  int
	session int // the one that output is told of; -1 for none
	known   map[string]notice
	streams map[string]context.CancelFunc // by terminal
	began   time.Time
	done    sync.WaitGroup
}

// enter makes a session the one that is looked at.
func (x *control) enter(s *server.Session) { x.session = s.ID }

// controlMode implements `tmux -C`; with -CC its output is wrapped for a terminal.
func controlMode(c *call, wrapped bool, args []string) error {
	x := &control{out: c.out, session: -1, streams: map[string]context.CancelFunc{}, began: now()}
	c.control = x
	ctx, stop := context.WithCancel(c.ctx)
	c.ctx = ctx
	defer x.done.Wait()
	defer stop()
	if wrapped {
		fmt.Fprint(x.out, "\x1bP1000p")
		defer fmt.Fprint(x.out, "\x1b\\")
	}
	if len(args) == 0 {
		args = []string{"new-session"}
	}
	sequence, err := readArguments(args)
	if err := c.answer(0, func() error {
		if err != nil {
			return err
		}
		return c.all(sequence)
	}); err != nil {
		_, _ = io.WriteString(x.out, "%exit\n")
		return exitStatus(1)
	}
	c.watch(ctx)
	lines := bufio.NewScanner(c.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() && lines.Text() != "" {
		line := lines.Text()
		_ = c.answer(1, func() error { // it was written
			sequence, err := readText(line, c.env)
			if err != nil || len(sequence) == 0 {
				return err
			}
			return c.all(sequence)
		})
		if x.over() {
			break
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	_, _ = io.WriteString(x.out, "%exit\n")
	return nil
}

// over reports whether the session that is looked at has gone.
func (x *control) over() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.session == gone
}

const gone = -2

// answer runs commands and writes what they say between %begin and %end, or %error, and then what
// has changed.
func (c *call) answer(flags int, run func() error) error {
	x := c.control
	x.mu.Lock()
	defer x.mu.Unlock()
	var said strings.Builder
	c.out = &said
	err := run()
	c.out = x.out
	x.number++
	head := fmt.Sprintf("%d %d %d", now().Unix(), x.number, flags)
	end := "%end"
	if err != nil {
		end = "%error"
		var exit exitStatus
		if !errors.As(err, &exit) {
			said.WriteString(err.Error() + "\n")
		}
	}
	fmt.Fprintf(x.out, "%%begin %s\n%s%s %s\n", head, said.String(), end, head)
	c.tell()
	return err
}

// watch reports what others change, until ctx ends. It has its own connection.
func (c *call) watch(ctx context.Context) {
	x := c.control
	x.done.Go(func() {
		e, err := c.Connect(ctx)
		if err != nil {
			return
		}
		defer e.Close()
		for event, err := range e.Watch(ctx) {
			if err != nil {
				return
			}
			switch event.Type {
			case api.EventKept, api.EventLayout, api.EventProcess:
				x.mu.Lock()
				c.tell()
				x.mu.Unlock()
			}
		}
	})
}

// tell writes how sessions and windows differ from what was told before.
func (c *call) tell() {
	x := c.control
	file, err := server.Open(c.path)
	if err != nil {
		return
	}
	c.file = file
	if err := c.meet(); err == nil {
		x.compare(c)
	}
	_ = c.settle() // what cannot be kept now is kept by the next command
}

// A notice is what control mode tells of a thing: when it appears, changes and goes.
type notice struct{ added, changed, gone string }

// notices returns what there is to tell of, and the order in which it is told.
func (c *call) notices() (order []string, all map[string]notice) {
	all = map[string]notice{}
	add := func(key string, n notice) { order, all[key] = append(order, key), n }
	for _, s := range c.file.SessionsByName() {
		add(fmt.Sprintf("session $%d", s.ID), notice{"%sessions-changed", fmt.Sprintf("%%session-renamed $%d %s", s.ID, s.Name), "%sessions-changed"})
		entered, word := s.ID == c.control.session, "%unlinked-window"
		if entered {
			word = "%window"
		}
		for _, w := range s.Windows {
			id := fmt.Sprintf("@%d", w.ID)
			add(word+id, notice{word + "-add " + id, word + "-renamed " + id + " " + w.Name, word + "-close " + id})
			if entered {
				layout := c.scope(server.Target{Session: s, Window: w}).Expand("%layout-change #{window_id} #{window_layout} #{window_visible_layout} #{window_raw_flags}")
				add("layout "+id, notice{changed: layout})
				add("pane "+id, notice{changed: fmt.Sprintf("%%window-pane-changed %s %%%d", id, w.ActivePane().ID)})
			}
		}
		if entered {
			add("shown", notice{changed: fmt.Sprintf("%%session-window-changed $%d @%d", s.ID, s.CurrentWindow().ID)})
			name := fmt.Sprintf("%%session-changed $%d %s", s.ID, s.Name)
			add("entered", notice{added: name, changed: name})
		}
	}
	return order, all
}

// compare tells how the server differs from what was told before. The first time, that is the
// session alone.
func (x *control) compare(c *call) {
	order, now := c.notices()
	var lines []string
	for _, key := range order {
		was, known := x.known[key]
		switch {
		case !known && (len(x.known) > 0 || !strings.Contains(key, "window")):
			lines = append(lines, now[key].added)
		case known && was.changed != now[key].changed:
			lines = append(lines, now[key].changed)
		}
	}
	for key, was := range x.known {
		if _, still := now[key]; !still {
			lines = append(lines, was.gone)
		}
	}
	for i, line := range lines {
		if line != "" && !slices.Contains(lines[:i], line) {
			fmt.Fprintln(x.out, line)
		}
	}
	x.known = now
	x.follow(c)
}

// follow reports what the panes of the session print, until they are gone: those that were made in
// control mode from their start, others from now on.
func (x *control) follow(c *call) {
	panes := map[string]int{}
	for _, at := range c.file.ListPanes(func(at server.Target) bool { return at.Session.ID == x.session }) {
		panes[at.Pane.Terminal] = at.Pane.ID
	}
	if x.session >= 0 && len(panes) == 0 {
		x.session = gone
	}
	for terminal, stop := range x.streams {
		if _, still := panes[terminal]; !still {
			stop()
			delete(x.streams, terminal)
		}
	}
	for terminal, pane := range panes {
		process := c.known()[terminal]
		if x.streams[terminal] != nil || process.Terminal == nil {
			continue
		}
		var since int64
		if process.StartedAt.Before(x.began) {
			since = process.Terminal.Bytes
		}
		ctx, stop := context.WithCancel(c.ctx)
		x.streams[terminal] = stop
		e := c.engine
		x.done.Go(func() {
			x.stream(ctx, e, api.ProcessLogInput{ID: terminal, Since: &since, WaitMS: logWait, Exact: true}, pane)
		})
	}
}

// logWait is for how many milliseconds a call waits for output.
const logWait = 50_000

// stream reports what a pane prints, until its program has exited.
func (x *control) stream(ctx context.Context, e *client.Client, in api.ProcessLogInput, pane int) {
	for {
		out, err := api.ProcessLog.Call(ctx, e, in)
		if err != nil {
			return
		}
		data, err := out.Bytes()
		if err != nil || len(data) == 0 && out.State.Ended() {
			return
		}
		if len(data) > 0 {
			x.mu.Lock()
			fmt.Fprintf(x.out, "%%output %%%d %s\n", pane, octal(string(data)))
			x.mu.Unlock()
		}
		in.Since = &out.NextCursor
	}
}
