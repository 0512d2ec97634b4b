package files

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

// openFlags keep an open from waiting for the other end of a pipe or from
// making a terminal ours; on a regular file they mean nothing.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOCTTY

// readPatience is how long reading a file that makes its readers wait may take.
const readPatience = time.Second

// open opens a regular file for reading and refuses everything else, which
// reading could wait for or change.
func (p place) open(verb string) (*os.File, fs.FileInfo, error) {
	f, info, err := openIn(p.root, p.rel)
	if err != nil {
		return nil, nil, failure(verb, p.path, err)
	}
	if err := regular(verb, p.path, info); err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// openIn opens what is called name. To open a device can already do something,
// so what it is is looked at before and after.
func openIn(dir *opened, name string) (*os.File, fs.FileInfo, error) {
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
	impatient(f)
	return f, info, nil
}

// impatient keeps reads from waiting. Some files of the kernel call themselves
// regular and still make their readers wait, /proc/kmsg for example.
func impatient(f *os.File) {
	_ = f.SetReadDeadline(time.Now().Add(readPatience)) // others have no deadline and need none
}

// notRegular is the error of a file that cannot be read as one.
type notRegular struct{ mode fs.FileMode }

func (e notRegular) Error() string { return "it is a " + kindOf(e.mode) + ", not a file" }

// regular refuses what is not a regular file.
func regular(verb, path string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return errorf(NotFile, "%s %s: %v", verb, path, notRegular{info.Mode()})
}

// kindOf names what kind of file it is.
func kindOf(mode fs.FileMode) string {
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
