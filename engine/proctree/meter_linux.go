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
	"tandem/persist/store"
)

const (
	// searchAgain is when a process's descriptors are searched for listening
	// sockets again although no new one has appeared: one can be handed over.
	searchAgain = 10 * time.Second
	// searchLimit bounds how many descriptors of one process are searched.
	searchLimit = 1 << 14
	// sampleAnyway is how long a sample may rely on nothing having run.
	sampleAnyway = time.Minute
)

// Measure tells what the trees of processes use now, in the order of ids: all
// that descends from a process or is in its session, and what strays finds of
// it elsewhere: pids with the roots of their trees; it may be nil. Who is not
// alive gets nil. One reading of the process table serves all.
func (m *Meter) Measure(ids []store.Identity, strays func([]Process) map[int]store.Identity) []*api.Metrics {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, err := sinceBoot()
	if err != nil {
		return make([]*api.Metrics, len(ids))
	}
	m.sockets.refresh(now)
	return m.measure(now, ids, strays, m.inspect)
}

// Sample remembers what the trees of processes use now, for who looks later; moved
// says whether any has run since the last time. While none has, the process table
// is not read, but for once in a while: a child could have been missed.
func (m *Meter) Sample(ids []store.Identity, strays func([]Process) map[int]store.Identity) (moved bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, err := sinceBoot()
	if err != nil {
		return false
	}
	moved = m.moved(ids)
	if !moved && now-m.sampled < sampleAnyway {
		m.rest(now)
		return false
	}
	m.sampled = now
	m.measure(now, ids, strays, weigh)
	return moved
}

func sinceBoot() (time.Duration, error) {
	var now unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now)
	return time.Duration(now.Nano()), err
}

// measure looks at trees, and finds out about their members by inspect.
func (m *Meter) measure(now time.Duration, ids []store.Identity, strays func([]Process) map[int]store.Identity,
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
	out := m.look(now, boot, ids, all, elsewhere, func(p Process, mb *member, out *api.Metrics) {
		found = append(found, inspection{pid: strconv.Itoa(p.PID), member: mb, out: out})
	})
	inspect(found)
	m.remember(now, ids, out)
	for _, use := range out {
		if use != nil {
			slices.Sort(use.Ports)
			use.Ports = slices.Compact(use.Ports)
		}
	}
	return out
}

// moved reports whether a member of the trees has run since this was asked last, or
// a tree is not known yet.
func (m *Meter) moved(ids []store.Identity) bool {
	dir, err := os.Open("/proc")
	if err != nil {
		return true
	}
	defer dir.Close()
	proc := procfs{dir: dir}
	moved := false
	for pid, mb := range m.members {
		pulse, ok := proc.pulse(strconv.Itoa(pid), mb.threads)
		moved = moved || !ok || pulse != mb.pulse
		mb.pulse = pulse
	}
	for _, id := range ids {
		moved = moved || id.PID != 0 && m.trees[id] == nil
	}
	return moved
}

// pulse is how much a process has run. The exact time in schedstat, see
// sched-stats.rst of the kernel, is that of the first thread alone; with more
// threads it is the ticks of all.
func (p *procfs) pulse(pid string, threads int) (uint64, bool) {
	if threads > 1 {
		number, err := strconv.Atoi(pid)
		s, ok := parseStat(number, p.read(pid+"/stat"))
		return s.CPU, ok && err == nil && s.threads == threads
	}
	ran, _, _ := bytes.Cut(p.read(pid+"/schedstat"), []byte(" "))
	pulse, err := strconv.ParseUint(string(ran), 10, 64)
	return pulse, err == nil
}

// weigh finds out how much memory members have, and nothing else.
func weigh(found []inspection) {
	dir, err := os.Open("/proc")
	if err != nil {
		return
	}
	defer dir.Close()
	proc := procfs{dir: dir}
	for _, f := range found {
		f.out.RSSBytes += proc.resident(f.pid)
	}
}

// An inspection is what is to be found out about a member of a tree, and to be
// added to what is known of the tree.
type inspection struct {
	pid    string
	member *member
	out    *api.Metrics

	resident int64
	files    int
	ports    []int
}

// inspect finds out what members use beside the processor. Of one that cannot be
// read, nothing is known.
func (m *Meter) inspect(found []inspection) {
	dir, err := os.Open("/proc")
	if err != nil {
		return
	}
	defer dir.Close()
	_ = inShares(dir, len(found), func(proc *procfs, from, to int) {
		for i := from; i < to; i++ {
			f := &found[i]
			f.resident, f.files = proc.resident(f.pid), proc.openFiles(f.pid)
			f.ports = m.sockets.of(proc, f.pid, f.member)
		}
	})
	for _, f := range found {
		f.out.RSSBytes += f.resident
		f.out.OpenFiles += f.files
		f.out.Ports = append(f.out.Ports, f.ports...)
	}
}

// resident is the resident memory of a process in bytes. It is read from statm,
// which is exact where stat has an estimate that is far off with many cores.
func (p *procfs) resident(pid string) int64 {
	f := bytes.Fields(p.read(pid + "/statm"))
	if len(f) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(string(f[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// openFiles is the number of open descriptors of a process. Since Linux 6.2 it
// is the size of their folder.
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

// eachFile calls visit for the open descriptors of a process, with their folder
// and name.
func (p *procfs) eachFile(pid string, visit func(dir int, name string)) {
	fd, err := unix.Openat(int(p.dir.Fd()), pid+"/fd", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return // it has ended, or is another user's
	}
	dir := os.NewFile(uintptr(fd), "fd")
	defer dir.Close()
	names, _ := dir.Readdirnames(searchLimit) // fails only when the process has ended
	for _, name := range names {
		visit(fd, name)
	}
}

// listeners are the TCP sockets of this machine that listen.
type listeners struct {
	now        time.Duration
	ports      map[uint32]int // by inode
	generation int            // counts when a socket has appeared
}

// heldSockets are those of the listeners that one process has open.
type heldSockets struct {
	inodes     []uint32
	generation int
	searched   time.Duration
}

// refresh finds out what listens. Where the kernel does not tell, nothing does.
func (l *listeners) refresh(now time.Duration) {
	l.now = now
	ports := listening()
	for inode := range ports {
		if _, known := l.ports[inode]; !known {
			l.generation++
			break
		}
	}
	l.ports = ports
}

// listening returns the ports of the TCP sockets that listen, by inode.
func listening() map[uint32]int {
	ports := make(map[uint32]int)
	for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
		if diagListeners(family, ports) != nil {
			tableListeners(family, ports)
		}
	}
	return ports
}

// of gives the ports that a process listens on. Its descriptors are searched
// only when there may be something new among them.
func (l *listeners) of(proc *procfs, pid string, mb *member) []int {
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

// socketInode reads "socket:[123]".
func socketInode(link []byte) (uint32, bool) {
	number, ok := bytes.CutPrefix(link, []byte("socket:["))
	number, closed := bytes.CutSuffix(number, []byte("]"))
	if !ok || !closed {
		return 0, false
	}
	inode, err := strconv.ParseUint(string(number), 10, 32)
	return uint32(inode), err == nil
}

// The request and answer of sock_diag(7) for sockets of the internet families:
// struct inet_diag_req_v2 and struct inet_diag_msg.
const (
	diagRequestSize = unix.SizeofNlMsghdr + 56
	diagAnswerSize  = 72
	diagByFamily    = 20 // SOCK_DIAG_BY_FAMILY
	tcpListen       = 10 // TCP_LISTEN
)

var errDiag = errors.New("the kernel tells of no sockets")

// diagListeners asks the kernel for the TCP sockets of a family that listen,
// and for no others, however many there are.
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

// parseDiag reads a datagram of answers; done says that it was the last.
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

// tableListeners reads /proc/net/tcp or tcp6, which kernels without sock_diag
// have too.
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
