package processes

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
)

// Exit statuses shared with shells, env(1) and timeout(1).
const (
	StatusExecFailed    = 125 // exec itself failed, not the command
	statusNotExecutable = 126
	statusNotFound      = 127
)

// startError gives the error of a failed start the exit status of a shell: 127 if the program or its
// interpreter is missing, 126 if it cannot be started.
func startError(err error) error {
	switch {
	case errors.Is(err, api.ReasonProgramNotFound):
		return &output.ExitError{Status: statusNotFound, Err: err}
	case errors.Is(err, api.ReasonNotStartable):
		return &output.ExitError{Status: statusNotExecutable, Err: err}
	}
	return err
}

// warnInput prints a note if standard input has data, because the command received an empty one.
func warnInput(f *factory.Factory) {
	file, ok := f.Stdin.(*os.File)
	if !ok || file == nil || !hasUnreadInput(file) {
		return
	}
	f.Out.Tell("tandem: exec: standard input was not passed on; the command reads an empty one")
	f.Out.Tell("hint: redirect in a shell instead, as in `tandem exec -- sh -c 'psql < dump.sql'`")
}

// hasUnreadInput reports whether f is a file at its beginning or a pipe with data. A file already
// read in part belongs to another reader, such as a shell's loop over its lines.
func hasUnreadInput(f *os.File) bool {
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
