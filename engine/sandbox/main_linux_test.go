//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"tandem/engine/keeper"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// The test binary is also the launch stage, what forks a confined child, and
// the program that is confined.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "launch":
			fmt.Fprintln(os.Stderr, Launch(os.Args[2:]))
			os.Exit(126)
		case "fork":
			status, err := forkConfined(os.Args[2:])
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
			os.Exit(status)
		case "probe":
			os.Exit(probe(os.Args[2:]))
		}
	}
	goleak.VerifyTestMain(m)
}

// forkConfined starts a program as a keeper does, and gives the program's status.
// args and environment are the launch stage's.
func forkConfined(args []string) (status int, err error) {
	l, err := LoadLayers(args[0])
	if err != nil {
		return 126, err
	}
	c, err := l.Confinement(os.Getenv(proxyVariable), guardedBy(args[0])...)
	if err != nil {
		return 126, err
	}
	defer c.Close()
	_, env := splitEnviron(os.Environ())
	p := keeper.Program{Path: args[2], Argv: args[2:], Env: env}
	if p.Dir, err = unix.Open(".", unix.O_PATH|unix.O_CLOEXEC, 0); err != nil {
		return 126, err
	}
	for i := range p.Files {
		if p.Files[i], err = unix.FcntlInt(uintptr(i), unix.F_DUPFD_CLOEXEC, 3); err != nil {
			return 126, err
		}
	}
	pid, err := c.ForkExec(p)
	if err != nil {
		return 126, err
	}
	var ended syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &ended, 0, nil); err != nil {
		return 126, err
	}
	return ended.ExitStatus(), nil
}
