package files

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

// openFlags prevents an open from waiting for the other end of a pipe and from acquiring a
// controlling terminal. They have no effect on a regular file.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOCTTY

// readTimeout limits how long a read of a blocking file may take.
const readTimeout = time.Second

// openRegular opens a regular file for reading. It refuses everything else, as reading could block
// or have side effects.
func (p location) openRegular(verb string) (*os.File, fs.FileInfo, error) {
	f, info, err := openIn(p.root, p.rel)
	if err != nil {
		return nil, nil, fileError(verb, p.path, err)
	}
	if err := requireRegular(verb, p.path, info); err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// openIn opens the entry of dir called name. The type is checked before opening, as even opening a
// device can have an effect, and again afterwards.
func openIn(dir *openDir, name string) (*os.File, fs.FileInfo, error) {
	info, err := dir.Stat(name)
	if err != nil {
		return nil, nil, err
	}
	if info.Mode()&(fs.ModeDevice|fs.ModeSocket|fs.ModeNamedPipe) != 0 {
		return nil, nil, notRegular{info.Mode()}
	}
	f, err := dir.OpenFile(name, openFlags, 0)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err != nil {
		f.Close()
		return nil, nil, err
	}
	setReadTimeout(f)
	return f, info, nil
}

// setReadTimeout keeps reads from blocking forever. Some kernel files claim to be regular but block
// their readers, for example /proc/kmsg.
func setReadTimeout(f *os.File) {
	// Regular files do not support deadlines and need none.
	_ = f.SetReadDeadline(time.Now().Add(readTimeout))
}

// notRegular is the error for reading something other than a regular file.
type notRegular struct{ mode fs.FileMode }

func (e notRegular) Error() string { return "it is a " + describeMode(e.mode) + ", not a file" }

func (e notRegular) reason() Reason {
	if e.mode.IsDir() {
		return IsDir
	}
	return NotFile
}

// requireRegular returns an error unless info describes a regular file.
func requireRegular(verb, path string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	special := notRegular{info.Mode()}
	return errorf(special.reason(), "%s %s: %v", verb, path, special)
}

// describeMode names the type of a file for an error.
func describeMode(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "folder"
	case mode&fs.ModeSymlink != 0:
		return "link"
	case mode&fs.ModeNamedPipe != 0:
		return "pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}
