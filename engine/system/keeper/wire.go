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

// wireVersion is part of each message. A keeper rejects other versions; within a version, fields
// are only added.
const wireVersion = 1

const (
	maxPacket  = 16 << 10 // bytes of one packet; longer messages go into a memfd
	maxMessage = 8 << 20  // bytes of one message; execve(2) accepts about 2 MiB
	maxFDs     = 17       // descriptors per packet; engines up to 0.2.0 sent 16 rulesets and a memfd
)

// Operations. The keeper answers each request with one opReply that has the request's id. It sends
// opExit unrequested, with id 0.
const (
	opHello   = "hello"   // I am the engine → PID, Upgrades
	opReady   = "ready"   // clients can connect to me
	opStart   = "start"   // Spec → Child, master
	opList    = "list"    // → Children
	opMaster  = "master"  // ChildID → master
	opAdopt   = "adopt"   // Child, Dir, Logs, LogLimit, master
	opForget  = "forget"  // ChildID
	opReplace = "replace" // executable, and PID of the engine if it executes it itself
	opPause   = "pause"   // start no engine until opWake
	opWake    = "wake"    // a client wants an engine → once it is ready
	opReply   = "reply"
	opExit    = "exit" // Child
)

// A message is a request, a reply or an event.
type message struct {
	V     int    `json:"v"`
	ID    uint64 `json:"id"`
	Op    string `json:"op"`
	Error string `json:"error,omitempty"`

	// Reason is the kind of Error in the reply to opStart, if the program is the cause.
	Reason Reason `json:"reason,omitempty"`

	// Large is set if the message itself is in a memfd, the first descriptor of the packet.
	Large bool `json:"large,omitempty"`

	// Raw is set if the strings of Spec, Dir and Logs are in base64, because one of them is not
	// valid UTF-8.
	Raw bool `json:"raw,omitempty"`

	PID      int      `json:"pid,omitempty"`
	Upgrades bool     `json:"upgrades,omitempty"` // the keeper supports PID in opReplace
	Succeeds bool     `json:"succeeds,omitempty"` // the same, from a keeper that also accepts another process
	ChildID  string   `json:"child_id,omitempty"`
	Dir      string   `json:"dir,omitempty"`
	Logs     []string `json:"logs,omitempty"`
	LogLimit int64    `json:"log_limit,omitempty"`
	Spec     *Spec    `json:"spec,omitempty"`
	Child    *Child   `json:"child,omitempty"`
	Children []Child  `json:"children,omitempty"`
}

// A packet is an encoded message. Its holder owns the descriptors.
type packet struct {
	body []byte
	fds  []int
}

func (p packet) close() { closeFDs(p.fds) }

// encode encodes m as a packet. It owns fds, even if it fails.
func encode(m message, fds ...int) (packet, error) {
	m.V = wireVersion
	body, err := json.Marshal(m.encodeRaw())
	if err != nil {
		closeFDs(fds)
		return packet{}, err
	}
	// Fast path: almost all messages fit in a packet.
	if len(body) <= maxPacket {
		return packet{body, fds}, nil
	}
	if len(body) > maxMessage {
		closeFDs(fds)
		return packet{}, fmt.Errorf("message of %d bytes is over the limit of %d", len(body), maxMessage)
	}
	mem, err := createMemfd(body)
	if err != nil {
		closeFDs(fds)
		return packet{}, err
	}
	head, err := json.Marshal(message{V: wireVersion, ID: m.ID, Op: m.Op, Large: true})
	return packet{head, append([]int{mem}, fds...)}, err
}

// A badMessage is the error for a packet with invalid content. The connection stays usable.
type badMessage struct {
	id      uint64
	why     string
	version int // wireVersion of the message
}

func (e *badMessage) Error() string { return e.why }

// ErrVersion is wrapped by the error of a call to a keeper with another wireVersion.
var ErrVersion = errors.New("the running keeper is from another release")

// replyError returns the error for a call whose reply, received over l, was invalid.
func (e *badMessage) replyError(l *link) error {
	if e.version == wireVersion {
		return fmt.Errorf("read the keeper's reply: %w", e)
	}
	p, err := peerOf(l.conn)
	closeFD(p.pidfd)
	process := fmt.Sprintf("pid %d", p.pid)
	if err != nil {
		process = "its pid is unknown"
	}
	return fmt.Errorf("%w (%s): it speaks version %d of its protocol, this tandem version %d. Its programs keep running: "+
		"start that release of tandem, or kill the keeper, which hangs up its terminals", ErrVersion, process, e.version, wireVersion)
}

// decode decodes a packet. It returns the message's descriptors; on an error it closes them.
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

// decodeLarge reads the message from the memfd, the first of fds, and returns the remaining
// descriptors.
func decodeLarge(head message, fds []int) (message, []int, error) {
	if len(fds) == 0 {
		return message{}, nil, newBadMessage(head, "large message without its content")
	}
	body, err := readMemfd(fds[0])
	closeFDs(fds[:1])
	fds = fds[1:]
	if err != nil {
		return message{}, fds, newBadMessage(head, err.Error())
	}
	m, err := unmarshal(body)
	if err == nil && m.Large {
		err = newBadMessage(head, "large message within a large message")
	}
	return m, fds, err
}

func unmarshal(body []byte) (message, error) {
	var m message
	err := json.Unmarshal(body, &m)
	if m.V != wireVersion && (err == nil || m.V != 0) { // another version may differ in anything else too
		return message{}, newBadMessage(m, fmt.Sprintf("message has version %d, the keeper speaks %d", m.V, wireVersion))
	}
	if err == nil {
		err = m.decodeRaw()
	}
	if err != nil {
		m.V = wireVersion
		return message{}, newBadMessage(m, "message is not understood: "+err.Error())
	}
	return m, nil
}

func newBadMessage(m message, why string) *badMessage {
	return &badMessage{id: m.ID, why: why, version: m.V}
}

// A link sends and receives packets over one connection. Sending is safe for concurrent use,
// receiving is not.
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
		_, _, err := l.conn.WriteMsgUnix(p.body, encodeRights(p.fds), nil)
		return err
	})
}

const (
	retryPause = 10 * time.Millisecond
	maxRetries = 10
)

// retryNoMemory calls f, and retries it a few times if the kernel is out of memory; nothing was
// sent or received in that case.
func retryNoMemory(f func() error) error {
	for i := 0; ; i++ {
		err := f()
		if i == maxRetries || !errors.Is(err, syscall.ENOMEM) && !errors.Is(err, syscall.ENOBUFS) {
			return err
		}
		time.Sleep(retryPause)
	}
}

// receive waits for the next message. The connection stays usable after a *badMessage, but not
// after any other error.
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
	if n > maxPacket || isTruncated(flags) {
		closeFDs(fds)
		return message{}, nil, errors.New("packet is too large")
	}
	return decode(l.body[:n], fds)
}

// encodeRaw returns m with its raw strings in base64, if JSON cannot represent one of them.
func (m message) encodeRaw() message {
	safe := true
	m = m.mapStrings(func(s string) string {
		safe = safe && utf8.ValidString(s)
		return s
	})
	if safe {
		return m
	}
	m.Raw = true
	return m.mapStrings(func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) })
}

// decodeRaw reverses encodeRaw.
func (m *message) decodeRaw() error {
	if !m.Raw {
		return nil
	}
	var failed error
	*m = m.mapStrings(func(s string) string {
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			failed = err
		}
		return string(b)
	})
	m.Raw = false
	return failed
}

// mapStrings returns a copy of m with f applied to all byte strings of the system: paths, arguments
// and environment.
func (m message) mapStrings(f func(string) string) message {
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
