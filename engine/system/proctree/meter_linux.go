package proctree

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/persist/procstat"
	"tandem/persist/store"
)

const (
	// searchAgain is the interval at which to search a process's descriptors for listening sockets
	// even if no new socket has appeared: a process can pass one to another.
	searchAgain = 10 * time.Second
	// maxSearch is the maximum number of descriptors searched per process.
	maxSearch = 1 << 14
	// maxIdle is how long samples may skip reading the process table while no member runs.
	maxIdle = time.Minute
)

// Measure returns the current use of the trees of ids, in the same order. A tree has all
// descendants of a process, the processes of its session, and orphans. strays returns the root that
// each orphan belongs to, by pid; it may be nil. Trees without a live root get nil. Measure reads
// the process table once.
func (m *Meter) Measure(ids []store.Identity, strays func([]Process) map[int]store.Identity) []*api.Metrics {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, err := sinceBoot()
	if err != nil {
		return make([]*api.Metrics, len(ids))
	}
	m.sockets.refresh(now)
	return m.measureNow(now, ids, strays, m.inspectMembers)
}

// Sample records the current use of trees for later calls. moved reports whether any member has
// run since the last sample. While none has, Sample reads the process table only occasionally, in
// case it missed a child.
func (m *Meter) Sample(ids []store.Identity, strays func([]Process) map[int]store.Identity) (moved bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, err := sinceBoot()
	if err != nil {
		return false
	}
	moved = m.hasMoved(ids)
	if !moved && now-m.sampled < maxIdle {
		m.recordIdle(now)
		return false
	}
	m.sampled = now
	m.measureNow(now, ids, strays, addMemory)
	return moved
}

func sinceBoot() (time.Duration, error) {
	var now unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now)
	return time.Duration(now.Nano()), err
}

// measureNow measures trees, calling inspect with their members.
func (m *Meter) measureNow(now time.Duration, ids []store.Identity, strays func([]Process) map[int]store.Identity,
	inspect func([]inspection)) []*api.Metrics {
	none := make([]*api.Metrics, len(ids))
	boot, err := store.BootID()
	if err != nil {
		return none
	}
	all, err := All()
	if err != nil {
		return none
	}
	var elsewhere map[int]store.Identity
	if strays != nil {
		elsewhere = strays(all)
	}
	var found []inspection
	// First find all members, then inspect them in parallel.
	out := m.measureTrees(now, boot, ids, all, elsewhere, func(p Process, mb *member, out *api.Metrics) {
		found = append(found, inspection{pid: strconv.Itoa(p.PID), member: mb, out: out})
	})
	inspect(found)
	m.recordHistory(now, ids, out)
	for _, use := range out {
		if use != nil {
			slices.Sort(use.Ports)
			use.Ports = slices.Compact(use.Ports)
		}
	}
	return out
}

// hasMoved reports whether a member of the trees may have run since the last call, or a tree is
// new.
func (m *Meter) hasMoved(ids []store.Identity) bool {
	dir, err := os.Open("/proc")
	if err != nil {
		return true
	}
	defer dir.Close()
	proc := procfs{dir: dir}
	moved := false
	for pid, mb := range m.members {
		pulse, ok := proc.readPulse(strconv.Itoa(pid), mb.threads)
		moved = moved || !ok || pulse != mb.pulse
		mb.pulse = pulse
	}
	for _, id := range ids {
		moved = moved || id.PID != 0 && m.trees[id] == nil
	}
	return moved
}

// readPulse returns a value that changes when a process runs. The exact time in schedstat, see the
// kernel's sched-stats.rst, covers only the first thread; for more threads it uses the ticks of
// all.
func (p *procfs) readPulse(pid string, threads int) (uint64, bool) {
	if threads > 1 {
		s, err := procstat.Parse(p.readFile(pid + "/stat"))
		return s.CPU, err == nil && s.Threads == threads
	}
	ran, _, _ := bytes.Cut(p.readFile(pid+"/schedstat"), []byte(" "))
	pulse, err := strconv.ParseUint(string(ran), 10, 64)
	return pulse, err == nil
}

// addMemory adds only the memory of members.
func addMemory(found []inspection) {
	dir, err := os.Open("/proc")
	if err != nil {
		return
	}
	defer dir.Close()
	proc := procfs{dir: dir}
	for _, f := range found {
		f.out.RSSBytes += proc.residentBytes(f.pid)
	}
}

// An inspection is the result of examining one member of a tree, to be added to the tree's metrics.
type inspection struct {
	pid    string
	member *member
	out    *api.Metrics

	resident int64
	files    int
	ports    []int
}

// inspectMembers adds what members use besides CPU time. Unreadable members count as nothing.
func (m *Meter) inspectMembers(found []inspection) {
	dir, err := os.Open("/proc")
	if err != nil {
		return
	}
	defer dir.Close()
	_ = splitWork(dir, len(found), func(proc *procfs, from, to int) {
		for i := from; i < to; i++ {
			f := &found[i]
			f.resident, f.files = proc.residentBytes(f.pid), proc.openFiles(f.pid)
			f.ports = m.sockets.portsOf(proc, f.pid, f.member)
		}
	})
	for _, f := range found {
		f.out.RSSBytes += f.resident
		f.out.OpenFiles += f.files
		f.out.Ports = append(f.out.Ports, f.ports...)
	}
}

// residentBytes returns the resident memory of a process in bytes, from statm: the value in stat is an
// estimate, far off on machines with many cores.
func (p *procfs) residentBytes(pid string) int64 {
	f := bytes.Fields(p.readFile(pid + "/statm"))
	if len(f) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(string(f[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// openFiles returns the number of open descriptors of a process. Since Linux 6.2 that is the size
// of their directory.
func (p *procfs) openFiles(pid string) int {
	var st unix.Stat_t
	if unix.Fstatat(int(p.dir.Fd()), pid+"/fd", &st, 0) != nil {
		return 0
	}
	if st.Size > 0 {
		return int(st.Size)
	}
	n := 0
	p.eachFile(pid, func(int, string) { n++ })
	return n
}

// eachFile calls visit for each open descriptor of a process, with its directory and name.
func (p *procfs) eachFile(pid string, visit func(dir int, name string)) {
	fd, err := unix.Openat(int(p.dir.Fd()), pid+"/fd", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return // it has exited, or is another user's
	}
	dir := os.NewFile(uintptr(fd), "fd")
	defer dir.Close()
	names, _ := dir.Readdirnames(maxSearch) // fails only if the process has exited
	for _, name := range names {
		visit(fd, name)
	}
}

// listeners holds the listening TCP sockets of this machine.
type listeners struct {
	now        time.Duration
	ports      map[uint32]int // by inode
	generation int            // incremented when a socket has appeared
}

// heldSockets are the listening sockets one process has open.
type heldSockets struct {
	inodes     []uint32
	generation int
	searched   time.Duration
}

// refresh reads the listening sockets. If the kernel does not list them, there are none.
func (l *listeners) refresh(now time.Duration) {
	l.now = now
	ports := listeningPorts()
	for inode := range ports {
		if _, known := l.ports[inode]; !known {
			l.generation++
			break
		}
	}
	l.ports = ports
}

// listeningPorts returns the ports of the listening TCP sockets, by inode.
func listeningPorts() map[uint32]int {
	ports := make(map[uint32]int)
	for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
		// Fast path: the kernel filters for listening sockets.
		if diagListeners(family, ports) != nil {
			tableListeners(family, ports)
		}
	}
	return ports
}

// portsOf returns the ports a process listens on. It searches the descriptors only if there may be a
// new socket.
func (l *listeners) portsOf(proc *procfs, pid string, mb *member) []int {
	if len(l.ports) == 0 {
		return nil
	}
	h := &mb.held
	if h.generation != l.generation || l.now-h.searched >= searchAgain {
		h.inodes, h.generation, h.searched = nil, l.generation, l.now
		proc.eachFile(pid, func(dir int, name string) {
			n, err := unix.Readlinkat(dir, name, proc.buf[:])
			if inode, ok := socketInode(proc.buf[:max(n, 0)]); err == nil && ok && l.ports[inode] > 0 {
				h.inodes = append(h.inodes, inode)
			}
		})
	}
	var ports []int
	for _, inode := range h.inodes {
		if port := l.ports[inode]; port > 0 {
			ports = append(ports, port)
		}
	}
	return ports
}

// socketInode parses "socket:[123]".
func socketInode(link []byte) (uint32, bool) {
	number, ok := bytes.CutPrefix(link, []byte("socket:["))
	number, closed := bytes.CutSuffix(number, []byte("]"))
	if !ok || !closed {
		return 0, false
	}
	inode, err := strconv.ParseUint(string(number), 10, 32)
	return uint32(inode), err == nil
}

// Sizes and constants of sock_diag(7) for internet sockets: struct inet_diag_req_v2 and struct
// inet_diag_msg.
const (
	diagRequestSize = unix.SizeofNlMsghdr + 56
	diagAnswerSize  = 72
	diagByFamily    = 20 // SOCK_DIAG_BY_FAMILY
	tcpListen       = 10 // TCP_LISTEN
)

var errDiag = errors.New("the kernel lists no sockets")

// diagListeners asks the kernel for the listening TCP sockets of a family only, so that the number
// of other sockets does not matter.
func diagListeners(family uint8, ports map[uint32]int) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_INET_DIAG)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 1}); err != nil {
		return err
	}
	request := make([]byte, diagRequestSize)
	order := binary.NativeEndian
	order.PutUint32(request, diagRequestSize)
	order.PutUint16(request[4:], diagByFamily)
	order.PutUint16(request[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	request[unix.SizeofNlMsghdr], request[unix.SizeofNlMsghdr+1] = family, unix.IPPROTO_TCP
	order.PutUint32(request[unix.SizeofNlMsghdr+4:], 1<<tcpListen)
	if err := unix.Sendto(fd, request, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	buf := make([]byte, 32<<10)
	for {
		n, _, err := unix.Recvfrom(fd, buf, 0)
		if err != nil {
			return err
		}
		if done, err := parseDiag(buf[:n], ports); done || err != nil {
			return err
		}
	}
}

// parseDiag decodes a datagram of results; done is true for the last.
func parseDiag(b []byte, ports map[uint32]int) (done bool, err error) {
	order := binary.NativeEndian
	for len(b) >= unix.SizeofNlMsghdr {
		size := order.Uint32(b)
		if size < unix.SizeofNlMsghdr || uint64(size) > uint64(len(b)) {
			return false, errDiag
		}
		body := b[unix.SizeofNlMsghdr:size]
		switch order.Uint16(b[4:]) {
		case unix.NLMSG_DONE:
			return true, nil
		case diagByFamily:
			if len(body) >= diagAnswerSize {
				ports[order.Uint32(body[68:])] = int(binary.BigEndian.Uint16(body[4:]))
			}
		default:
			return false, errDiag
		}
		b = b[min(int(size+3)&^3, len(b)):]
	}
	return false, nil
}

// tableListeners reads /proc/net/tcp or tcp6, for kernels without sock_diag.
func tableListeners(family uint8, ports map[uint32]int) {
	name := "/proc/self/net/tcp"
	if family == unix.AF_INET6 {
		name = "/proc/self/net/tcp6"
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return
	}
	for line := range bytes.Lines(text) {
		f := bytes.Fields(line)
		if len(f) < 10 || string(f[3]) != "0A" {
			continue
		}
		_, hex, _ := bytes.Cut(f[1], []byte(":"))
		port, err := strconv.ParseUint(string(hex), 16, 16)
		inode, err2 := strconv.ParseUint(string(f[9]), 10, 32)
		if err == nil && err2 == nil {
			ports[uint32(inode)] = int(port)
		}
	}
}
