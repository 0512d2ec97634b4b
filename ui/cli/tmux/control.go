// Control mode is tmux for programs: it reads commands from standard input, one a line, and writes
// replies and notifications as lines beginning with a percent sign. Terminals such as iTerm2 drive a
// server this way.
//
// There is no server to send notifications. After each command, and on each relevant event of the
// engine, reportChanges compares the state with the one reported before and writes the difference.
// This covers changes by other calls and by the dashboard alike. Recording notifications in the
// commands would miss both.
//
// One goroutine reads commands, one watches the engine and one per pane copies output. A mutex keeps
// their messages whole.

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

// A lockedServer is a server that is locked while something uses it.
type lockedServer interface {
	lock() error
	refreshState() error
	runLocked(sequence []*command) error
	commitState() error
}

// A control is the state of control mode.
type control struct {
	server  lockedServer
	state   *server.State
	engine  *engine
	formats *formats
	print   *printer

	mu        sync.Mutex // held for one whole message, and while a command runs
	out       io.Writer
	number    int
	session   int // id of the attached session; -1 for none, or sessionGone
	reported  map[string]notification
	streams   map[string]context.CancelFunc // stops copying a pane's output; by id of its session in the engine
	startedAt time.Time
	done      sync.WaitGroup
}

// enterSession attaches control mode to s. The caller holds x.mu.
func (x *control) enterSession(s *server.Session) { x.session = s.ID }

// runControl implements `tmux -C`.
func (c *call) runControl(wrapped bool, args []string) error {
	x := &control{
		server: c, state: c.file.State, engine: c.engine, formats: c.formats, print: c.print,
		out: c.print.out, session: -1, streams: map[string]context.CancelFunc{}, startedAt: time.Now(),
	}
	c.commands.clients.control = x
	c.commands.printing.inControlMode = true
	return x.run(c.Options, wrapped, args)
}

// run runs args, then lines of standard input until an empty one, the end, or the loss of the attached
// session. With wrapped (-CC), the output is enclosed in the escape sequence by which terminals
// recognize control mode.
func (x *control) run(o Options, wrapped bool, args []string) error {
	ctx, stop := context.WithCancel(x.engine.ctx)
	x.engine.ctx = ctx
	// Deferred calls run in reverse: stop the goroutines, then wait for them.
	defer x.done.Wait()
	defer stop()
	if wrapped {
		fmt.Fprint(x.out, "\x1bP1000p")
		defer fmt.Fprint(x.out, "\x1b\\")
	}
	sequence, err := parseArguments(args)
	if err := x.answerCommand(0, func() error {
		if err != nil {
			return err
		}
		return x.server.runLocked(sequence)
	}); err != nil {
		_, _ = io.WriteString(x.out, "%exit\n")
		return exitStatus(1)
	}
	x.watchEngine(ctx, o.Connect)
	lines := bufio.NewScanner(o.Stdin)
	lines.Buffer(nil, 1<<20) // set-buffer may exceed the default of 64 KiB
	for lines.Scan() && lines.Text() != "" {
		line := lines.Text()
		_ = x.answerCommand(1, func() error { // the error is part of the reply
			sequence, err := parseText(line, x.formats.settings.lookupEnv)
			if err != nil || len(sequence) == 0 {
				return err
			}
			return x.server.runLocked(sequence)
		})
		if x.hasLostSession() {
			break
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	_, _ = io.WriteString(x.out, "%exit\n")
	return nil
}

// hasLostSession reports whether the attached session no longer exists.
func (x *control) hasLostSession() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.session == sessionGone
}

// sessionGone is the value of control.session after the attached session was removed.
const sessionGone = -2

// answerCommand calls run, writes its output between %begin and %end, or %error if it fails, and
// then reports changes. Flags is the third field of tmux's %begin: 1 for commands from standard
// input.
func (x *control) answerCommand(flags int, run func() error) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	// Whether the reply ends with %end or %error is known only after the command.
	var reply strings.Builder
	x.print.out = &reply
	err := run()
	x.print.out = x.out
	x.number++
	head := fmt.Sprintf("%d %d %d", time.Now().Unix(), x.number, flags)
	end := "%end"
	if err != nil {
		end = "%error"
		var exit exitStatus
		if !errors.As(err, &exit) {
			reply.WriteString(err.Error() + "\n")
		}
	}
	fmt.Fprintf(x.out, "%%begin %s\n%s%s %s\n", head, reply.String(), end, head)
	x.reportChanges()
	return err
}

// watchEngine reports changes made by others in the background, until ctx is cancelled. It uses its
// own connection, as the watch occupies it.
func (x *control) watchEngine(ctx context.Context, connect func(context.Context) (*client.Client, error)) {
	x.done.Go(func() {
		e, err := connect(ctx)
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
				x.reportChanges()
				x.mu.Unlock()
			}
		}
	})
}

// reportChanges reloads the server and writes notifications for its differences from the state
// reported before. The caller holds x.mu.
func (x *control) reportChanges() {
	if err := x.server.lock(); err != nil {
		return
	}
	if err := x.server.refreshState(); err == nil {
		x.writeChanges()
	}
	_ = x.server.commitState() // on failure the next command commits
}

// A notification holds the lines to write when a thing appears, changes and disappears. A thing has
// changed if its changed line has. Empty lines are not written.
type notification struct{ added, changed, removed string }

// collectNotifications returns the notifications for everything in the server by key, and the keys
// in the order of writing.
func (x *control) collectNotifications() (order []string, all map[string]notification) {
	all = map[string]notification{}
	add := func(key string, n notification) { order, all[key] = append(order, key), n }
	for _, s := range x.state.SessionsByName() {
		add(fmt.Sprintf("session $%d", s.ID), notification{"%sessions-changed", fmt.Sprintf("%%session-renamed $%d %s", s.ID, s.Name), "%sessions-changed"})
		entered, event := s.ID == x.session, "%unlinked-window"
		if entered {
			event = "%window"
		}
		for _, w := range s.Windows {
			id := fmt.Sprintf("@%d", w.ID)
			add(event+id, notification{event + "-add " + id, event + "-renamed " + id + " " + w.Name, event + "-close " + id})
			if entered {
				layout := x.formats.expand(server.Target{Session: s, Window: w}, "%layout-change #{window_id} #{window_layout} #{window_visible_layout} #{window_raw_flags}")
				add("layout "+id, notification{changed: layout})
				add("pane "+id, notification{changed: fmt.Sprintf("%%window-pane-changed %s %%%d", id, w.ActivePane().ID)})
			}
		}
		if entered {
			add("shown", notification{changed: fmt.Sprintf("%%session-window-changed $%d @%d", s.ID, s.CurrentWindow().ID)})
			name := fmt.Sprintf("%%session-changed $%d %s", s.ID, s.Name)
			add("entered", notification{added: name, changed: name})
		}
	}
	return order, all
}

// writeChanges writes the notifications for differences from the state reported before. The first
// time, it writes only those of sessions.
func (x *control) writeChanges() {
	order, current := x.collectNotifications()
	var lines []string
	for _, key := range order {
		old, known := x.reported[key]
		switch {
		case !known && (len(x.reported) > 0 || !strings.Contains(key, "window")):
			lines = append(lines, current[key].added)
		case known && old.changed != current[key].changed:
			lines = append(lines, current[key].changed)
		}
	}
	for key, old := range x.reported {
		if _, exists := current[key]; !exists {
			lines = append(lines, old.removed)
		}
	}
	// Several keys may give the same line, such as %sessions-changed.
	for i, line := range lines {
		if line != "" && !slices.Contains(lines[:i], line) {
			fmt.Fprintln(x.out, line)
		}
	}
	x.reported = current
	x.followPanes()
}

// followPanes starts copying the output of new panes of the attached session and stops for removed
// ones. Panes created since control mode began are copied from their start, others from now on.
func (x *control) followPanes() {
	panes := map[string]int{}
	for _, at := range x.state.ListPanes(func(at server.Target) bool { return at.Session.ID == x.session }) {
		panes[at.Pane.Terminal] = at.Pane.ID
	}
	if x.session >= 0 && len(panes) == 0 {
		x.session = sessionGone
	}
	for terminal, stop := range x.streams {
		if _, exists := panes[terminal]; !exists {
			stop()
			delete(x.streams, terminal)
		}
	}
	for terminal, pane := range panes {
		process := x.engine.knownProcesses()[terminal]
		if x.streams[terminal] != nil || process.Terminal == nil {
			continue
		}
		var since int64
		if process.StartedAt.Before(x.startedAt) {
			since = process.Terminal.Bytes
		}
		ctx, stop := context.WithCancel(x.engine.ctx)
		x.streams[terminal] = stop
		conn := x.engine.conn // read under x.mu, which the goroutine does not hold
		x.done.Go(func() {
			x.streamOutput(ctx, conn, api.ProcessLogInput{ID: terminal, Since: &since, WaitMS: maxLogWait, Exact: true}, pane)
		})
	}
}

// maxLogWait is how long one call waits for output, in milliseconds.
const maxLogWait = 50_000

// streamOutput writes the output of a pane as %output lines until its program exits or ctx is
// cancelled.
func (x *control) streamOutput(ctx context.Context, e *client.Client, in api.ProcessLogInput, pane int) {
	for {
		out, err := api.ProcessLog.Call(ctx, e, in)
		if err != nil {
			return
		}
		data, err := out.Bytes()
		// An exited program may have left unread output: stop only when none is left.
		if err != nil || len(data) == 0 && out.State.Ended() {
			return
		}
		if len(data) > 0 {
			x.mu.Lock()
			fmt.Fprintf(x.out, "%%output %%%d %s\n", pane, escapeOctal(string(data)))
			x.mu.Unlock()
		}
		in.Since = &out.NextCursor
	}
}
