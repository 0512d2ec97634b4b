package keeper

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"syscall"
	"time"
	"unicode/utf8"
)

// wireVersion is in every message. A keeper answers other versions with an
// error; within a version fields are only ever added.
const wireVersion = 1

const (
	maxPacket  = 16 << 10 // bytes of one packet; longer messages go into a memfd
	maxMessage = 8 << 20  // bytes of one message; execve(2) takes 2 MiB or so
	maxFDs     = 17       // descriptors beside one packet; engines up to 0.2.0 sent 16 rulesets and a memfd
)

// The operations. Requests go to the keeper, which answers each with one opReply
// that has the request's id; opExit comes unasked with id 0.
const (
	opHello   = "hello"   // I am the engine → PID, Succeeds
	opReady   = "ready"   // clients can connect to me
	opStart   = "start"   // Spec → Child, master
	opList    = "list"    // → Children
	opMaster  = "master"  // ChildID → master
	opAdopt   = "adopt"   // Child, Dir, Logs, LogLimit, master
	opForget  = "forget"  // ChildID
	opReplace = "replace" // executable, and PID of the next engine if it is already running
	opPause   = "pause"   // start no engine until opWake
	opWake    = "wake"    // a client wants an engine → once it is ready
	opReply   = "reply"
	opExit    = "exit" // Child
)

// A message is everything that goes over the socket, in both directions.
type message struct {
	V     int    `json:"v"`
	ID    uint64 `json:"id"`
	Op    string `json:"op"`
	Error string `json:"error,omitempty"`

	// Large says that the message is not here but in a memfd, which is the first
	// descriptor beside the packet.
	Large bool `json:"large,omitempty"`

	// Raw says that the strings of Spec, Dir and Logs are in base64, because at least
	// one of them is not UTF-8 and JSON would damage it.
	Raw bool `json:"raw,omitempty"`

	PID      int      `json:"pid,omitempty"`
	Succeeds bool     `json:"succeeds,omitempty"` // the keeper supports PID in opReplace
	ChildID  string   `json:"child_id,omitempty"`
	Dir      string   `json:"dir,omitempty"`
	Logs     []string `json:"logs,omitempty"`
	LogLimit int64    `json:"log_limit,omitempty"`
	Spec     *Spec    `json:"spec,omitempty"`
	Child    *Child   `json:"child,omitempty"`
	Children []Child  `json:"children,omitempty"`
}

// A packet is a message as it travels. Whoever holds it owns its descriptors.
type packet struct {
	body []byte
	fds  []int
}

func (p packet) close() { closeFDs(p.fds) }

// encode makes m a packet that owns fds, also when it fails.
func encode(m message, fds ...int) (packet, error) {
	m.V = wireVersion
	body, err := json.Marshal(m.armoured())
	if err != nil {
		closeFDs(fds)
		return packet{}, err
	}
	if len(body) <= maxPacket {
		return packet{body, fds}, nil
	}
	if len(body) > maxMessage {
		closeFDs(fds)
		return packet{}, fmt.Errorf("message of %d bytes is over the limit of %d", len(body), maxMessage)
	}
	mem, err := memfd(body)
	if err != nil {
		closeFDs(fds)
		return packet{}, err
	}
	head, err := json.Marshal(message{V: wireVersion, ID: m.ID, Op: m.Op, Large: true})
	return packet{head, append([]int{mem}, fds...)}, err
}

// A badMessage is a packet that came whole and makes no sense. The connection is
// fine.
type badMessage struct {
	id      uint64
	why     string
	version int // its wireVersion, where that is what is wrong
}

func (e *badMessage) Error() string { return e.why }

// ErrVersion is in the error of a call to a keeper that speaks another wireVersion.
var ErrVersion = errors.New("the keeper that runs here is of another release")

// ofReply is what a reply that makes no sense means for the call that it answers. It came
// over l.
func (e *badMessage) ofReply(l *link) error {
	if e.version == wireVersion {
		return fmt.Errorf("read the keeper's reply: %w", e)
	}
	p, err := peerOf(l.conn)
	closeFD(p.pidfd)
	who := fmt.Sprintf("pid %d", p.pid)
	if err != nil {
		who = "its pid is unknown"
	}
	return fmt.Errorf("%w (%s): it speaks version %d of its protocol, this tandem version %d. Its programs keep running: "+
		"start the release of tandem that it belongs to, or end it with kill, which hangs up its terminals", ErrVersion, who, e.version, wireVersion)
}

// decode reads the message of a packet. It returns the descriptors that belong to
// the message; on an error it has closed them all.
func decode(body []byte, fds []int) (message, []int, error) {
	m, err := unmarshal(body)
	if err == nil && m.Large {
		m, fds, err = decodeLarge(m, fds)
	}
	if err != nil {
		closeFDs(fds)
		return message{}, nil, err
	}
	return m, fds, nil
}

// decodeLarge reads the memfd in front of fds and takes it away.
func decodeLarge(head message, fds []int) (message, []int, error) {
	if len(fds) == 0 {
		return message{}, nil, badFor(head, "large message without its content")
	}
	body, err := readMemfd(fds[0])
	closeFDs(fds[:1])
	fds = fds[1:]
	if err != nil {
		return message{}, fds, badFor(head, err.Error())
	}
	m, err := unmarshal(body)
	if err == nil && m.Large {
		err = badFor(head, "large message within a large message")
	}
	return m, fds, err
}

func unmarshal(body []byte) (message, error) {
	var m message
	err := json.Unmarshal(body, &m)
	if m.V != wireVersion && (err == nil || m.V != 0) { // another version may differ in anything else too
		return message{}, badFor(m, fmt.Sprintf("message has version %d, the keeper speaks %d", m.V, wireVersion))
	}
	if err == nil {
		err = m.disarm()
	}
	if err != nil {
		m.V = wireVersion
		return message{}, badFor(m, "message is not understood: "+err.Error())
	}
	return m, nil
}

func badFor(m message, why string) *badMessage { return &badMessage{id: m.ID, why: why, version: m.V} }

// A link sends and receives packets over one connection. Sending is safe for
// concurrent use, receiving is not.
type link struct {
	conn *net.UnixConn
	body []byte
	oob  []byte
}

func newLink(conn *net.UnixConn) *link {
	return &link{conn: conn, body: make([]byte, maxPacket+1), oob: make([]byte, rightsSpace(maxFDs))}
}

// send writes a packet and closes its descriptors.
func (l *link) send(p packet) error {
	defer p.close()
	return retryNoMemory(func() error {
		_, _, err := l.conn.WriteMsgUnix(p.body, rights(p.fds), nil)
		return err
	})
}

const (
	sparePause  = 10 * time.Millisecond
	spareRepeat = 10
)

// retryNoMemory calls f, and retries it a few times if the kernel is out of memory, in which
// case nothing was sent or received.
func retryNoMemory(f func() error) error {
	for i := 0; ; i++ {
		err := f()
		if i == spareRepeat || !errors.Is(err, syscall.ENOMEM) && !errors.Is(err, syscall.ENOBUFS) {
			return err
		}
		time.Sleep(sparePause)
	}
}

// receive waits for the next message. A *badMessage can be answered; after any
// other error the connection is of no use.
func (l *link) receive() (message, []int, error) {
	var n, oobn, flags int
	err := retryNoMemory(func() (err error) {
		n, oobn, flags, _, err = l.conn.ReadMsgUnix(l.body, l.oob)
		return err
	})
	if err != nil {
		return message{}, nil, err
	}
	fds := parseRights(l.oob[:oobn])
	if n == 0 {
		closeFDs(fds)
		return message{}, nil, io.EOF
	}
	if n > maxPacket || truncated(flags) {
		closeFDs(fds)
		return message{}, nil, errors.New("packet is too large")
	}
	return decode(l.body[:n], fds)
}

// armoured gives m as it can travel in JSON: with raw strings if it must.
func (m message) armoured() message {
	safe := true
	m = m.mapped(func(s string) string {
		safe = safe && utf8.ValidString(s)
		return s
	})
	if safe {
		return m
	}
	m.Raw = true
	return m.mapped(func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) })
}

// disarm undoes armoured.
func (m *message) disarm() error {
	if !m.Raw {
		return nil
	}
	var failed error
	*m = m.mapped(func(s string) string {
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			failed = err
		}
		return string(b)
	})
	m.Raw = false
	return failed
}

// mapped gives a copy of m with f applied to what an operating system takes for
// bytes: paths, arguments and environment.
func (m message) mapped(f func(string) string) message {
	m.Dir = f(m.Dir)
	m.Logs = slices.Clone(m.Logs)
	for i, path := range m.Logs {
		m.Logs[i] = f(path)
	}
	if m.Spec == nil {
		return m
	}
	s := *m.Spec
	for _, field := range []*string{&s.Dir, &s.Path, &s.CWD, &s.Stdout, &s.Stderr, &s.Stdin, &s.Cgroup} {
		*field = f(*field)
	}
	for _, list := range []*[]string{&s.Argv, &s.Env} {
		*list = slices.Clone(*list)
		for i, v := range *list {
			(*list)[i] = f(v)
		}
	}
	m.Spec = &s
	return m
}
