//go:build amd64 || arm64

package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"tandem/tests/needs"

	"golang.org/x/sys/unix"
)

// A modeCall is a system call that sets the mode of a file.
type modeCall struct {
	name         string
	amd64, arm64 uint32 // numbers in the kernel's tables; 0: not available
	modeArg      int    // argument with the mode; -1: in memory
	flagsArg     int    // argument with the flags of open(2); -1: none
	create       []uint32
}

// tmpFile is __O_TMPFILE in asm-generic/fcntl.h: O_TMPFILE without O_DIRECTORY, whose value differs
// between architectures.
const tmpFile = 0x400000

var modeCalls = []modeCall{
	{"chmod", 90, 0, 1, -1, nil},
	{"fchmod", 91, 52, 1, -1, nil},
	{"fchmodat", 268, 53, 2, -1, nil},
	{"fchmodat2", 452, 452, 2, -1, nil},
	{"creat", 85, 0, 1, -1, nil},
	{"open", 2, 0, 2, 1, []uint32{unix.O_CREAT, tmpFile}},
	{"openat", 257, 56, 3, 2, []uint32{unix.O_CREAT, tmpFile}},
	{"mknod", 133, 0, 1, -1, nil},
	{"mknodat", 259, 33, 2, -1, nil},
}

func (c modeCall) number() uint32 {
	if runtime.GOARCH == "arm64" {
		return c.arm64
	}
	return c.amd64
}

func TestFilterRefusesSpecialModes(t *testing.T) {
	const eperm, enosys = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM), unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	for _, user := range []struct {
		name     string
		refused  []uint32
		accepted []uint32
	}{
		{"ordinary user", []uint32{unix.S_ISUID, unix.S_ISUID | unix.S_ISGID}, []uint32{0, unix.S_ISGID, unix.S_ISVTX}},
		{"root", []uint32{unix.S_ISUID, unix.S_ISGID, unix.S_ISUID | unix.S_ISGID}, []uint32{0, unix.S_ISVTX}},
	} {
		program := compileFilter(refusalsFor(openNetwork, kernel{resolveUnix: true}, specialModes(user.name == "root")))
		check := func(what string, c call, want uint32) {
			t.Helper()
			if got := run(t, program, auditArch, c); got != want {
				t.Errorf("%s: %s gives %#x, want %#x", user.name, what, got, want)
			}
		}
		for _, c := range modeCalls {
			if c.number() == 0 {
				continue
			}
			flags := c.create
			if flags == nil {
				flags = []uint32{0}
			}
			for _, flag := range flags {
				with := func(mode uint32) call {
					shown := call{number: c.number()}
					shown.args[c.modeArg] = mode
					if c.flagsArg >= 0 {
						shown.args[c.flagsArg] = flag | unix.O_WRONLY
					}
					return shown
				}
				for _, special := range user.refused {
					check(fmt.Sprintf("%s of %#o", c.name, special), with(unix.S_IFREG|special|0o755), eperm)
				}
				for _, special := range user.accepted {
					check(fmt.Sprintf("%s of %#o", c.name, special), with(unix.S_IFIFO|special|0o755), unix.SECCOMP_RET_ALLOW)
				}
			}
			if c.flagsArg >= 0 {
				reading := call{number: c.number()}
				reading.args[c.modeArg] = 0o6755
				check(c.name+" that makes nothing", reading, unix.SECCOMP_RET_ALLOW)
			}
		}
		check("openat2", call{number: 437}, enosys)
	}
}

// The resulting mode counts, whichever error the caller got: mkdir(2) and umask(2) accept the bits
// and ignore them.
func TestAttacksWithSpecialModesFail(t *testing.T) {
	eachUser(t, func(t *testing.T, r *rig) {
		dir := r.at("work/modes")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(dir, r.uid, r.uid); err != nil {
			t.Fatal(err)
		}
		bits := os.ModeSetuid
		modes := []uint32{0o4755, 0o6755}
		if r.uid == 0 {
			bits |= os.ModeSetgid
			modes = append(modes, 0o2755)
		}
		for _, call := range []string{
			"chmod", "fchmod", "fchmodat", "fchmodat2", "open", "openat", "openat2", "openat-tmpfile", "creat",
			"mknod", "mknodat", "mkdir", "mkdirat", "umask",
		} {
			for _, mode := range modes {
				path := filepath.Join(dir, fmt.Sprintf("%s-%o", call, mode))
				got, stderr, status := r.run("special-mode", call, path, strconv.Itoa(int(mode)))
				if status != 0 {
					t.Fatalf("%s: status %d, %s", call, status, stderr)
				}
				if info, err := os.Lstat(path); err == nil && info.Mode()&bits != 0 {
					t.Errorf("%s of %#o gave %q and a file with mode %v", call, mode, got, info.Mode())
				}
				if strings.HasPrefix(call, "mkdir") || call == "umask" {
					continue
				}
				if got != "EPERM" && got != "ENOSYS" {
					t.Errorf("%s of %#o gave %q", call, mode, got)
				}
			}
		}
	})
}

// As root too, writing to a file clears its set-user-ID bit.
func TestWritingClearsSpecialModes(t *testing.T) {
	eachUser(t, func(t *testing.T, r *rig) {
		path := r.at("work/keep/file")
		if err := os.Chmod(path, 0o755|os.ModeSetuid|os.ModeSetgid); err != nil {
			t.Fatal(err)
		}
		r.expect("written", "write", path)
		if info, err := os.Lstat(path); err != nil || info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
			t.Errorf("after a write the mode is %v, %v", info.Mode(), err)
		}
	})
}

func TestOrdinaryModesWorkInASandbox(t *testing.T) {
	script := func(t *testing.T, name, text string, programs ...string) {
		t.Run(name, func(t *testing.T) {
			for _, p := range programs {
				needs.Program(t, p, p)
			}
			eachUser(t, func(t *testing.T, r *rig) {
				cmd := r.program("/bin/sh", "-ec", "cd "+r.at("work")+"\n"+text)
				if got, stderr, status := r.wait(cmd); status != 0 {
					t.Errorf("status %d: %s%s", status, got, stderr)
				}
			})
		})
	}
	script(t, "mkfifo", "mkfifo pipe; mkfifo -m 666 open; [ -p pipe ] && [ -p open ]")
	script(t, "tar", `mkdir -p in/dir out; echo x >in/dir/program; chmod 751 in/dir/program; chmod 1777 in/dir
		tar -cf all.tar in; tar -xpf all.tar -C out
		[ "$(stat -c %a out/in/dir)" = 1777 ]; [ "$(stat -c %a out/in/dir/program)" = 751 ]`, "tar")
	script(t, "rsync", `mkdir from; echo x >from/program; chmod 751 from/program; rsync -a from/ to/
		[ "$(stat -c %a to/program)" = 751 ]`, "rsync")
	script(t, "cp", "mkdir -p a/b; echo x >a/b/c; chmod 751 a/b/c; cp -a a d; [ -x d/b/c ]; install -d -m 755 e")
	t.Run("shared repository", func(t *testing.T) {
		needs.Program(t, "git", "git")
		r := newRig(t)
		if r.uid == 0 {
			r = newOrdinaryRig(t) // set-group-ID directories are refused to root
		}
		r.env = []string{"HOME=" + r.at("work"), "GIT_CONFIG_NOSYSTEM=1"}
		cmd := r.program("/bin/sh", "-ec", "cd "+r.at("work")+"; git init -q --shared shared; [ -g shared/.git/objects ]")
		if got, stderr, status := r.wait(cmd); status != 0 {
			t.Errorf("status %d: %s%s", status, got, stderr)
		}
	})
}

// Tandem inside a sandbox opens paths without openat2(2).
func TestPathsAreOpenedWithoutOpenat2(t *testing.T) {
	dir := t.TempDir()
	link(t, dir, filepath.Join(dir, "link"))
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{
		"/": nil, dir: nil, dir + "/file": nil, dir + "/link": nil,
		dir + "/link/file": unix.ELOOP, dir + "/none": unix.ENOENT, dir + "/file/below": unix.ENOTDIR,
	} {
		for name, open := range map[string]func(string) (int, error){"walk": walkPath, "openat2": openPath} {
			fd, err := open(path)
			if err == nil {
				unix.Close(fd)
			}
			if !errors.Is(err, want) {
				t.Errorf("%s of %s: %v, want %v", name, path, err, want)
			}
		}
	}
}

// program returns the command of another program, confined like a probe.
func (r *rig) program(argv ...string) *exec.Cmd {
	cmd := r.command("pid")
	at := len(cmd.Args) - 3 // the program, "probe" and "pid"
	cmd.Args = append(cmd.Args[:at:at], argv...)
	return cmd
}

// trySpecialMode creates or changes the file at args[1] with the call args[0].
func trySpecialMode(args []string) (string, error) {
	name, path := args[0], args[1]
	number, err := strconv.ParseUint(args[2], 10, 32)
	if err != nil {
		return "", err
	}
	mode := uint32(number)
	p, err := unix.BytePtrFromString(path)
	if err != nil {
		return "", err
	}
	call := func(number, a, b, c, d uintptr) error {
		if number == 0 {
			return unix.ENOSYS // not on this architecture
		}
		fd, _, errno := unix.Syscall6(number, a, b, c, d, 0, 0)
		if errno != 0 {
			return errno
		}
		if strings.HasPrefix(name, "openat-tmpfile") {
			return unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(int(fd)), unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW)
		}
		return nil
	}
	numberOf := func(name string) uintptr {
		for _, c := range modeCalls {
			if c.name == name {
				return uintptr(c.number())
			}
		}
		return 0
	}
	at, where, m := ^uintptr(99), uintptr(unsafe.Pointer(p)), uintptr(mode) // AT_FDCWD is -100
	file := func() (*os.File, error) { return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o755) }
	switch name {
	case "chmod", "fchmod", "fchmodat", "fchmodat2":
		f, err := file()
		if err != nil {
			return "", err
		}
		defer f.Close()
		switch name {
		case "chmod":
			err = call(numberOf(name), where, m, 0, 0)
		case "fchmod":
			err = call(numberOf(name), f.Fd(), m, 0, 0)
		default:
			err = call(numberOf(name), at, where, m, 0)
		}
		return "done", err
	case "creat", "mknod":
		return "done", call(numberOf(name), where, unix.S_IFREG*b2u(name == "mknod")|m, 0, 0)
	case "mknodat":
		return "done", call(numberOf(name), at, where, unix.S_IFREG|m, 0)
	case "open":
		return "done", call(numberOf(name), where, unix.O_CREAT|unix.O_WRONLY, m, 0)
	case "openat":
		return "done", call(numberOf(name), at, where, unix.O_CREAT|unix.O_WRONLY, m)
	case "openat-tmpfile":
		folder, err := unix.BytePtrFromString(filepath.Dir(path))
		if err != nil {
			return "", err
		}
		return "done", call(numberOf("openat"), at, uintptr(unsafe.Pointer(folder)), unix.O_TMPFILE|unix.O_WRONLY, m)
	case "openat2":
		_, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_CREAT | unix.O_WRONLY, Mode: uint64(mode)})
		return "done", err
	case "mkdir":
		return "done", unix.Mkdir(path, mode)
	case "mkdirat":
		return "done", unix.Mkdirat(unix.AT_FDCWD, path, mode)
	case "umask":
		syscall.Umask(int(^mode & 0o7777))
		f, err := file()
		return "done", cmp.Or(err, f.Close())
	}
	return "", fmt.Errorf("no call %q", name)
}

func TestPromisesNameRemainingAccess(t *testing.T) {
	for _, p := range currentKernel().promises() {
		if strings.Contains(p.Name, "scheduling") && strings.Contains(p.Name, "processors") {
			return
		}
	}
	t.Error("no promise says that the processors of another process can be changed")
}

func b2u(b bool) uintptr {
	if b {
		return 1
	}
	return 0
}
