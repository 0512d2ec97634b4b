package keeper

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// engineProgramOf is the main function of a tiny engine that obeys the test's commands. Its
// arguments are a mode, the keeper's socket and a journal, to which it adds a line with its pid
// each time it is ready.
func engineProgramOf(args []string) error {
	mode, socket, journal := args[0], args[1], args[2]
	switch mode {
	case "fail":
		note(journal, "failed")
		fmt.Println("some output")
		return fmt.Errorf("engine: no luck today")
	case "relapse": // fails twice after the first
		if lines, _ := os.ReadFile(journal); strings.Count(string(lines), "\n") == 1 || strings.Count(string(lines), "\n") == 2 {
			note(journal, "failed")
			return fmt.Errorf("engine: no luck today")
		}
	case "fds":
		return noteDescriptors(socket, journal)
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
	}
	c, err := Dial(context.Background(), socket)
	if err != nil {
		return err
	}
	os.Remove(controlOf(socket))
	l, err := net.Listen("unix", controlOf(socket))
	if err != nil {
		return err
	}
	if err := c.Ready(); err != nil {
		return err
	}
	note(journal, strconv.Itoa(os.Getpid()))
	e := &fakeEngine{c, args}
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		line, _ := bufio.NewReader(conn).ReadString('\n')
		fmt.Fprintln(conn, e.obey(strings.TrimSpace(line)))
		conn.Close()
	}
}

// noteDescriptors writes the descriptors that the engine has inherited to the journal. It leaves
// out close-on-exec ones, which the runtime has opened itself.
func noteDescriptors(socket, journal string) error {
	var inherited []int
	for fd := range 100 {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			inherited = append(inherited, fd)
		}
	}
	note(journal, fmt.Sprint(inherited))
	return engineProgramOf([]string{"run", socket, journal})
}

func controlOf(socket string) string { return filepath.Join(filepath.Dir(socket), "control") }

// A fakeEngine is the running engine program.
type fakeEngine struct {
	*Client
	args []string // its own
}

// restartKeeper starts a new keeper, as an engine does when its keeper has died.
func (e *fakeEngine) restartKeeper() string {
	exe, err := os.Executable()
	if err != nil {
		return err.Error()
	}
	in, out, err := os.Pipe()
	if err != nil {
		return err.Error()
	}
	socket := e.args[1]
	args := []string{"keeper", filepath.Dir(socket), socket, strconv.Itoa(os.Getpid()), "engine"}
	cmd := exec.Command(exe, append(args, e.args...)...)
	cmd.ExtraFiles = []*os.File{out}
	if err := cmd.Start(); err != nil {
		return err.Error()
	}
	out.Close()
	answer, _ := io.ReadAll(in)
	if e.Client, err = Dial(context.Background(), socket); err != nil {
		return err.Error()
	}
	if err := e.Ready(); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(answer))
}

// obey carries out one command of the test and returns the reply.
func (e *fakeEngine) obey(line string) string {
	c := e.Client
	ctx := context.Background()
	verb, rest, _ := strings.Cut(line, " ")
	var err error
	switch verb {
	case "exit":
		os.Exit(0)
	case "hangup":
		err = c.Close()
	case "pause":
		err = c.Pause(ctx)
	case "start":
		var child Child
		spec := Spec{ID: "helped", Dir: rest, Argv: []string{"sleep", "1000"}, Env: os.Environ(), CWD: "/", TTY: true}
		if child, _, err = c.Start(ctx, spec); err == nil {
			return strconv.Itoa(child.PID)
		}
	case "replace":
		var f *os.File
		if f, err = os.Open(rest); err == nil {
			err = c.Replace(ctx, f)
		}
	case "keeper":
		return e.restartKeeper()
	}
	if err != nil {
		return err.Error()
	}
	return "ok"
}

func note(journal, line string) {
	f, err := os.OpenFile(journal, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Fprintln(f, line)
}

// tell sends a command to the running engine and returns its reply, or "" if the engine exits
// instead of replying.
func (r *rig) tell(command string) string {
	r.t.Helper()
	conn, err := net.Dial("unix", controlOf(r.socket))
	if err != nil {
		r.t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintln(conn, command)
	answer, _ := bufio.NewReader(conn).ReadString('\n')
	return strings.TrimSpace(answer)
}

// must gives a command that must succeed.
func (r *rig) must(command string) {
	r.t.Helper()
	if got := r.tell(command); got != "ok" {
		r.t.Fatalf("%s: %s", command, got)
	}
}

// helped makes the engine start a child and returns the child's pid.
func (r *rig) helped() int {
	r.t.Helper()
	answer := r.tell("start " + r.spec("helped", "").Dir)
	pid, err := strconv.Atoi(answer)
	if err != nil {
		r.t.Fatal(answer)
	}
	r.t.Cleanup(func() { syscall.Kill(pid, syscall.SIGKILL) })
	return pid
}
