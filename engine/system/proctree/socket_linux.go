package proctree

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// A Socket is one end of a TCP connection on this machine, as listed in /proc/net/tcp and tcp6,
// see proc_pid_net(5).
type Socket struct {
	UID   int    // of the user who created it
	Inode uint64 // 0 once no process holds it
}

// FindSocket returns the end with address local of the TCP connection between local and remote. ok
// is false if this machine has none.
func FindSocket(local, remote netip.AddrPort) (s Socket, ok bool, err error) {
	local, remote = unmapAddress(local), unmapAddress(remote)
	for _, name := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		text, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) { // without IPv6
			continue
		}
		if err != nil {
			return s, false, fmt.Errorf("list connections: %w", err)
		}
		if s, ok := socketIn(text, local, remote); ok {
			return s, true, nil
		}
	}
	return s, false, nil
}

// socketIn finds a connection in the text of /proc/net/tcp.
func socketIn(text []byte, local, remote netip.AddrPort) (s Socket, ok bool) {
	for line := range bytes.Lines(text) {
		f := bytes.Fields(line)
		if len(f) < 10 || tableAddress(f[1]) != local || tableAddress(f[2]) != remote {
			continue
		}
		uid, err := strconv.Atoi(string(f[7]))
		inode, err2 := strconv.ParseUint(string(f[9]), 10, 64)
		if err == nil && err2 == nil {
			return Socket{uid, inode}, true
		}
	}
	return s, false
}

// tableAddress parses an address of /proc/net/tcp: 32-bit words in native byte order, then the
// port. It returns the zero value for an invalid one.
func tableAddress(text []byte) netip.AddrPort {
	host, port, _ := bytes.Cut(text, []byte(":"))
	raw, err := hex.DecodeString(string(host))
	n, err2 := strconv.ParseUint(string(port), 16, 16)
	if err != nil || err2 != nil || len(raw)%4 != 0 {
		return netip.AddrPort{}
	}
	for word := range slices.Chunk(raw, 4) {
		binary.NativeEndian.PutUint32(word, binary.BigEndian.Uint32(word))
	}
	ip, _ := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(ip.Unmap(), uint16(n))
}

func unmapAddress(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap().WithZone(""), a.Port())
}

// HeldBy reports whether a process holds the socket, as far as this process may see.
func (s Socket) HeldBy(pid int) bool {
	holds, _ := holdsLink(pid, s.link())
	return holds
}

func (s Socket) link() string { return fmt.Sprintf("socket:[%d]", s.Inode) }

// Owners returns the processes holding the socket. hidden are processes of the same user whose
// descriptors this process may not read; any of them may hold it too.
func (s Socket) Owners() (owners, hidden []int, err error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, nil, fmt.Errorf("list processes: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, nil, fmt.Errorf("list processes: %w", err)
	}
	link := s.link()
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		holds, err := holdsLink(pid, link)
		switch {
		case holds:
			owners = append(owners, pid)
		case errors.Is(err, fs.ErrPermission) && runsAs(pid, s.UID):
			hidden = append(hidden, pid)
		}
	}
	return owners, hidden, nil
}

// holdsLink reports whether one of a process's descriptors is a link to target.
func holdsLink(pid int, target string) (bool, error) {
	dir, err := os.Open(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return false, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return false, err
	}
	var buf [64]byte
	for _, name := range names {
		n, err := unix.Readlinkat(int(dir.Fd()), name, buf[:])
		if errors.Is(err, unix.EACCES) {
			return false, fs.ErrPermission
		}
		if err == nil && string(buf[:n]) == target {
			return true, nil
		}
	}
	return false, nil
}

// runsAs reports whether one of a process's user ids is uid, or cannot be read.
func runsAs(pid, uid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	_, rest, _ := bytes.Cut(text, []byte("\nUid:"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	return slices.ContainsFunc(bytes.Fields(line), func(id []byte) bool { return string(id) == strconv.Itoa(uid) })
}
