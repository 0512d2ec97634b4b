package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/ui/cli/output"
)

// What shells, env(1) and timeout(1) exit with too.
const (
	statusOwn           = 125 // exec itself has failed, not the command
	statusNotExecutable = 126
	statusNotFound      = 127
)

// unstarted gives the error of a program that could not be started the exit
// status that a shell would have.
func unstarted(err error, program string) error {
	why, ok := strings.CutPrefix(err.Error(), fmt.Sprintf("start %q: ", program))
	if !ok || !errors.Is(err, api.CodeInvalid) {
		return err
	}
	status := statusNotExecutable
	for _, missing := range []string{"not found in PATH", syscall.ENOENT.Error(), "the interpreter that it names is not"} {
		if strings.HasSuffix(why, missing) {
			status = statusNotFound
		}
	}
	return &output.ExitError{Status: status, Message: err.Error()}
}

// tellInput says that a command got an empty standard input, if there is
// something in ours.
func (a *app) tellInput() {
	f, ok := a.Stdin.(*os.File)
	if !ok || f == nil || !holdsInput(f) {
		return
	}
	a.out.Tell("tandem: exec: standard input was not passed on; the command reads an empty one")
	a.out.Tell("hint: redirect in a shell instead, as in `tandem exec -- sh -c 'psql < dump.sql'`")
}

// holdsInput reports whether a file has a beginning that was not read, or a
// pipe bytes that wait. Of a file that is read already, as in a loop of a shell
// over its lines, somebody else has use.
func holdsInput(f *os.File) bool {
	info, err := f.Stat()
	switch {
	case err != nil:
		return false
	case info.Mode().IsRegular():
		at, err := f.Seek(0, io.SeekCurrent)
		return err == nil && at == 0 && info.Size() > 0
	case info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0:
		return false
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return false
	}
	waiting := 0
	err = raw.Control(func(fd uintptr) { waiting, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	return err == nil && waiting > 0
}
