//go:build amd64 || arm64

package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// probe runs in a confined program: it tries one thing and prints the result or the error's name.
func probe(args []string) int {
	fmt.Print(outcome(args))
	return 0
}

// outcome returns the result of a probe, or the name of its error.
func outcome(args []string) string {
	got, err := try(args[0], args[1:])
	var errno syscall.Errno
	switch {
	case errors.As(err, &errno):
		return unix.ErrnoName(errno)
	case err != nil:
		return "error: " + err.Error()
	}
	return got
}

// tryAll runs probes, given as JSON, one after another, and returns their outcomes as JSON.
func tryAll(probes string) (string, error) {
	var all [][]string
	if err := json.Unmarshal([]byte(probes), &all); err != nil {
		return "", err
	}
	outcomes := make([]string, len(all))
	for i, args := range all {
		outcomes[i] = outcome(args)
	}
	text, err := json.Marshal(outcomes)
	return string(text), err
}

func try(what string, args []string) (string, error) {
	switch what {
	case "all":
		return tryAll(args[0])
	case "read":
		data, err := os.ReadFile(args[0])
		return string(data), err
	case "list":
		entries, err := os.ReadDir(args[0])
		return strconv.Itoa(len(entries)), err
	case "write":
		return "written", os.WriteFile(args[0], []byte("changed"), 0o600)
	case "truncate":
		return "truncated", os.Truncate(args[0], 0)
	case "set-user-id":
		return "set", os.Chmod(args[0], 0o755|os.ModeSetuid)
	case "chmod":
		return "changed", os.Chmod(args[0], 0o666)
	case "give away":
		return "given", os.Chown(args[0], stranger, -1)
	case "mkdir":
		return "made", os.Mkdir(args[0], 0o700)
	case "remove":
		return "removed", os.Remove(args[0])
	case "rename":
		return "renamed", os.Rename(args[0], args[1])
	case "link":
		return "linked", os.Link(args[0], args[1])
	case "mknod":
		return "made", unix.Mknod(args[0], unix.S_IFBLK|0o600, int(unix.Mkdev(7, 250)))
	case "child":
		output, err := exec.Command("/proc/self/exe", append([]string{"probe"}, args...)...).Output()
		return string(output), err
	case "after": // standard input has ended
		if _, err := io.ReadAll(os.Stdin); err != nil {
			return "", err
		}
		return try(args[0], args[1:])
	case "pid":
		return strconv.Itoa(os.Getpid()), nil
	case "env":
		return os.Getenv(args[0]), nil
	case "kill0":
		pid, _ := strconv.Atoi(args[0])
		return "reached", unix.Kill(pid, 0)
	case "cpuhog":
		for n := 0; ; n++ {
			runtime.KeepAlive(n)
		}
	}
	return tryNetwork(what, args)
}

func tryNetwork(what string, args []string) (string, error) {
	switch what {
	case "dial":
		c, err := net.DialTimeout(args[0], args[1], 5*time.Second)
		if err != nil {
			return "", err
		}
		return "connected", c.Close()
	case "get":
		return get(args[0])
	case "socket":
		return trySocket(args)
	case "sendpair":
		return sendFromPair(args[0])
	case "abstract":
		return "connected", dialAbstract(args[0])
	case "fastopen":
		return "sent", fastOpen(args[0])
	case "bind":
		l, err := net.Listen("tcp4", args[0])
		if err != nil {
			return "", err
		}
		return "bound", l.Close()
	case "listen":
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
		if err != nil {
			return "", err
		}
		return "listening", unix.Listen(fd, 1)
	case "prlimit":
		pid, _ := strconv.Atoi(args[0])
		return "changed", unix.Prlimit(pid, unix.RLIMIT_CORE, &unix.Rlimit{}, nil)
	case "uring":
		var params [120]byte
		_, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)), 0)
		if errno != 0 {
			return "", errno
		}
		return "made", nil
	case "limit":
		return limitOf(args[0])
	case "fds":
		return openDescriptors()
	}
	return tryTerminal(what, args)
}

func tryTerminal(what string, args []string) (string, error) {
	switch what {
	case "status":
		data, err := os.ReadFile("/proc/thread-self/status")
		return string(data), err
	case "sti":
		letter := byte('x')
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, 0, tiocsti, uintptr(unsafe.Pointer(&letter)))
		if errno != 0 {
			return "", errno
		}
		return "typed", nil
	case "otherterminal":
		master, err := os.OpenFile("/dev/ptmx", os.O_RDONLY, 0)
		if err != nil {
			return "", err
		}
		defer master.Close()
		number, err := unix.IoctlGetUint32(int(master.Fd()), unix.TIOCGPTN)
		if err != nil {
			return "", err
		}
		slave, err := os.OpenFile(filepath.Join("/dev/pts", strconv.Itoa(int(number))), os.O_RDWR|unix.O_NOCTTY, 0)
		if err != nil {
			return "", err
		}
		return "opened", slave.Close()
	}
	return tryAttack(what, args)
}

func trySocket(args []string) (string, error) {
	var numbers [3]int
	for i := range numbers {
		numbers[i], _ = strconv.Atoi(args[i])
	}
	fd, err := unix.Socket(numbers[0], numbers[1], numbers[2])
	if err != nil {
		return "", err
	}
	return "made", unix.Close(fd)
}

// sendFromPair sends from a pair's datagram socket to another one.
func sendFromPair(path string) (string, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
	if err != nil {
		return "", err
	}
	return "sent", unix.Sendto(pair[0], []byte("out"), 0, &unix.SockaddrUnix{Name: path})
}

// fastOpen connects by sending (tcp(7), MSG_FASTOPEN).
func fastOpen(address string) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	return unix.Sendto(fd, []byte("out"), unix.MSG_FASTOPEN, &unix.SockaddrInet4{Addr: target.Addr().As4(), Port: int(target.Port())})
}

func dialAbstract(name string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	return unix.Connect(fd, &unix.SockaddrUnix{Name: "@" + name})
}

// get fetches a URL, using the proxy in the environment.
func get(target string) (string, error) {
	client := http.Client{Timeout: time.Minute}
	response, err := client.Get(target)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return fmt.Sprintf("%d %s", response.StatusCode, strings.TrimSpace(string(body))), err
}

func limitOf(name string) (string, error) {
	resource := map[string]int{
		"open_files": unix.RLIMIT_NOFILE, "processes": unix.RLIMIT_NPROC,
		"memory_bytes": unix.RLIMIT_AS, "cpu_seconds": unix.RLIMIT_CPU,
	}[name]
	var limit unix.Rlimit
	err := unix.Getrlimit(resource, &limit)
	return fmt.Sprintf("%d %d", limit.Cur, limit.Max), err
}

// openDescriptors lists descriptors from 3 on that were open at the start.
func openDescriptors() (string, error) {
	entries, err := os.ReadDir("/proc/self/fd")
	var found []string
	for _, entry := range entries {
		target, err := os.Readlink("/proc/self/fd/" + entry.Name())
		if err == nil && strings.HasPrefix(target, "/") && !strings.HasPrefix(target, "/proc/") && !strings.HasPrefix(target, "/dev/") && !strings.HasPrefix(target, "/sys/") && entry.Name() > "2" {
			found = append(found, target)
		}
	}
	return strings.Join(found, " "), err
}
