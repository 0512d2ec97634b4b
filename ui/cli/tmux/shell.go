package tmux

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"tandem/engine/api"
	"tandem/ui/cli/tmux/server"
)

// runUnlocked calls wait, which may take long, with the server unlocked for other calls. Pointers
// into the state are stale afterwards.
func (c *call) runUnlocked(wait func() error) error {
	if err := c.commitState(); err != nil {
		return err
	}
	err := wait()
	file, again := server.Open(c.path)
	if again != nil {
		return errors.Join(err, again)
	}
	c.file = file
	return errors.Join(err, c.refreshState())
}

// shellCommand returns a shell running line in the directory and environment of this call, with TMUX
// set.
func shellCommand(c *call, line string) *exec.Cmd {
	cmd := exec.CommandContext(c.ctx, "/bin/sh", "-c", line)
	cmd.Env = c.Environ
	if at, err := c.newFinder().FindTarget("", server.TargetPane); err == nil && c.lookupEnv("TMUX") == "" {
		// Limit the capacity: append must not write into the array of c.Environ.
		cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], "TMUX="+c.tmuxVariable(at.Session.ID))
	}
	return cmd
}

func runShell(c *call, cmd *command, _ server.Target) error {
	at, _ := c.findTarget(cmd, 't', server.TargetPane)
	if cmd.has('d') {
		seconds, err := strconv.ParseFloat(cmd.value('d'), 64)
		if err != nil {
			return fmt.Errorf("invalid delay time: %s", cmd.value('d'))
		}
		if err := c.runUnlocked(func() error { return sleepFor(c.ctx, time.Duration(seconds*float64(time.Second))) }); err != nil {
			return err
		}
	}
	line := c.scope(at).Expand(cmd.arg(0))
	switch {
	case line == "":
		return nil
	case cmd.has('C'):
		return c.runText(line)
	}
	shell := shellCommand(c, line)
	if cmd.has('b') {
		// In a session of its own, it survives the closing of this terminal.
		shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		return shell.Start()
	}
	// The command may call tmux, so it must run with the server unlocked.
	var out bytes.Buffer
	shell.Stdout, shell.Stderr = &out, &out
	var status error
	if err := c.runUnlocked(func() error { status = shell.Run(); return nil }); err != nil {
		return err
	}
	fmt.Fprint(c.out, out.String())
	var exit *exec.ExitError
	if errors.As(status, &exit) {
		return exitStatus(exit.ExitCode())
	}
	return status
}

func sleepFor(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// runText runs commands in the syntax of configuration files.
func (c *call) runText(text string) error {
	sequence, err := parseText(text, c.lookupEnv)
	if err != nil {
		return err
	}
	return c.runSequence(sequence)
}

func ifShell(c *call, cmd *command, _ server.Target) error {
	at, _ := c.findTarget(cmd, 't', server.TargetPane)
	condition := c.scope(at).Expand(cmd.args[0])
	holds := isTrue(condition)
	if !cmd.has('F') {
		shell := shellCommand(c, condition)
		if err := c.runUnlocked(func() error { holds = shell.Run() == nil; return nil }); err != nil {
			return err
		}
	}
	if holds {
		return c.runText(cmd.args[1])
	}
	return c.runText(cmd.arg(2))
}

func sourceFile(c *call, cmd *command, _ server.Target) error {
	for _, pattern := range cmd.args {
		if cmd.has('F') {
			pattern = c.scope(c.ownTarget).Expand(pattern)
		}
		paths, _ := filepath.Glob(pattern)
		if paths == nil { // read the pattern itself, for the error of a missing file
			paths = []string{pattern}
		}
		for _, path := range paths {
			text, err := readFile(c, path)
			if err != nil && cmd.has('q') {
				continue
			}
			if err != nil {
				return err
			}
			if err := runSource(c, cmd, path, string(text)); err != nil {
				return err
			}
		}
	}
	return nil
}

func runSource(c *call, cmd *command, path, text string) error {
	sequence, err := parseText(text, c.lookupEnv)
	if err == nil && !cmd.has('n') {
		err = c.runSequence(sequence)
	}
	var exit exitStatus
	if err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("%s: %w", path, err)
	}
	return err
}

// runConfig runs a configuration file at the start of a server. Errors are printed, and the remaining
// commands still run.
func (c *call) runConfig(path string) {
	text, err := readFile(c, path)
	if err != nil {
		fmt.Fprintln(c.Stderr, err)
		return
	}
	r := lexer{text: string(text), env: c.lookupEnv}
	lines, err := r.splitCommands()
	if err != nil {
		fmt.Fprintf(c.Stderr, "%s: %v\n", path, err)
	}
	for _, words := range lines {
		cmd, err := parseCommand(words)
		if err == nil {
			err = c.runSequence([]*command{cmd})
		}
		if err != nil {
			fmt.Fprintf(c.Stderr, "%s: %v\n", path, err)
		}
	}
}

func waitFor(c *call, cmd *command, _ server.Target) error {
	name := cmd.args[0]
	if c.file.Waits == nil {
		c.file.Waits = map[string]*server.Wait{}
	}
	w := c.file.Waits[name]
	if w == nil {
		w = &server.Wait{}
		c.file.Waits[name] = w
	}
	switch {
	case cmd.has('S'):
		w.Woken = len(w.Waiting) == 0
		for _, address := range w.Waiting {
			wakeWaiter(address)
		}
		w.Waiting = nil
	case cmd.has('U'):
		if !w.Locked {
			return fmt.Errorf("channel %s not locked", name)
		}
		// The lock passes to the first waiting call still alive; killed ones are skipped.
		w.Locked = false
		for len(w.Lockers) > 0 && !w.Locked {
			w.Locked = wakeWaiter(w.Lockers[0])
			w.Lockers = w.Lockers[1:]
		}
	case cmd.has('L') && w.Locked:
		return c.awaitWake(&w.Lockers)
	case cmd.has('L'):
		w.Locked = true
	case w.Woken:
		w.Woken = false
	default:
		return c.awaitWake(&w.Waiting)
	}
	if !w.Woken && !w.Locked && w.Waiting == nil {
		delete(c.file.Waits, name)
	}
	return nil
}

// wakeWaiter wakes a waiting call and reports whether it still existed.
func wakeWaiter(address string) bool {
	conn, err := net.Dial("unixgram", address)
	if err != nil {
		return false
	}
	defer conn.Close()
	_, err = conn.Write([]byte{1})
	return err == nil
}

// awaitWake appends this call to queue and returns when another call wakes it.
func (c *call) awaitWake(queue *[]string) error {
	dir, err := os.MkdirTemp("", "tandem-wait")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	address := filepath.Join(dir, "s")
	conn, err := net.ListenPacket("unixgram", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	// Listen before queueing: a waker may come as soon as the server is unlocked.
	*queue = append(*queue, address)
	return c.runUnlocked(func() error {
		stop := context.AfterFunc(c.ctx, func() { conn.Close() })
		defer stop()
		_, _, err := conn.ReadFrom(make([]byte, 1))
		return errors.Join(err, c.ctx.Err())
	})
}

// pipePane implements pipe-pane: a background process follows the pane's log and feeds it to a
// command.
func pipePane(c *call, cmd *command, at server.Target) error {
	wasPiped := at.Pane.Pipe != ""
	if wasPiped {
		if err := stopPipe(c, at.Pane); err != nil {
			return err
		}
	}
	if len(cmd.args) == 0 || cmd.args[0] == "" || wasPiped && cmd.has('o') {
		return nil
	}
	executable, err := os.Executable()
	if err != nil {
		return err
	}
	scope := c.scope(at)
	data, err := api.DataDir()
	if err != nil {
		return err
	}
	// Only output from now on is piped. The command must outlive this call, so the engine runs it.
	cursor := c.knownProcesses()[at.Pane.Terminal].Terminal.Bytes
	follow := fmt.Sprintf(`"$0" logs %s --follow --raw --since %d | (%s)`, at.Pane.Terminal, cursor, scope.Expand(scope.ExpandTime(cmd.args[0])))
	process, err := callEngine(c, api.ProcessStart, api.ProcessStartInput{
		ID: api.NewID(), Command: []string{"/bin/sh", "-c", follow, executable}, Name: "pipe of " + at.Pane.Terminal,
		CWD: startDirectory(c, "", at), Environ: c.environFor(nil), Umask: api.Umask(), Env: map[string]string{"TANDEM_DATA_DIR": data}, Transient: true,
	})
	if err != nil {
		return err
	}
	at.Pane.Pipe = process.ID
	return nil
}

func stopPipe(c *call, p *server.Pane) error {
	id := p.Pipe
	p.Pipe = ""
	_, err := callEngine(c, api.ProcessStop, api.ProcessStopInput{ID: id})
	if errors.Is(err, api.CodeNotFound) {
		return nil
	}
	return err
}

func listCommands(c *call, cmd *command, _ server.Target) error {
	for _, v := range verbs() {
		if handlers()[v.name].run == nil || len(cmd.args) > 0 && v.name != cmd.args[0] && v.alias != cmd.args[0] {
			continue
		}
		line := v.name
		if v.alias != "" {
			line += " (" + v.alias + ")"
		}
		if form := cmd.value('F'); cmd.has('F') {
			line = strings.NewReplacer("#{command_list_name}", v.name, "#{command_list_alias}", v.alias, "#{command_list_usage}", v.usage).Replace(form)
		} else {
			line += " " + v.usage
		}
		c.printLines(line)
	}
	return nil
}

// listKeys implements list-keys. The list is empty: the dashboard's keys run no commands of tmux.
func listKeys(c *call, _ *command, _ server.Target) error { return nil }
