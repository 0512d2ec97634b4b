package sandbox

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"
)

// Constants of SOCKS 5 (RFC 1928), with user name and password (RFC 1929).
const (
	socksVersion     = 5
	socksAuthVersion = 1
	socksUserPass    = 2
	socksNoMethod    = 0xff
	socksConnect     = 1

	socksIPv4 = 1
	socksName = 3
	socksIPv6 = 4
)

// A socksReply is the REP field.
type socksReply byte

const (
	socksSucceeded socksReply = iota
	socksFailed
	socksNotAllowed
	socksNetworkUnreachable
	socksHostUnreachable
	socksRefused
	socksExpired
	socksNoSuchCommand
	socksNoSuchAddress
)

// serveSOCKS answers one SOCKS connection. c has a deadline until its tunnel begins.
func (p *Proxy) serveSOCKS(c *conn) {
	g, err := p.authenticateSOCKS(c)
	if err != nil {
		return
	}
	host, port, reply := readSOCKSRequest(c)
	if reply != socksSucceeded {
		answerSOCKS(c, reply)
		return
	}
	end, ok := g.beginRequest()
	if !ok {
		answerSOCKS(c, socksFailed)
		return
	}
	defer end()
	// The dialer has its own timeout, after which the answer must still be sent.
	c.SetDeadline(time.Now().Add(p.o.DialTimeout + p.o.Handshake))
	upstream, err := g.dialHost(g.ctx, host, port)
	if err != nil {
		answerSOCKS(c, replyFor(err))
		return
	}
	defer upstream.Close()
	if answerSOCKS(c, socksSucceeded) != nil {
		return
	}
	c.SetDeadline(time.Time{})
	tunnel(g.ctx, p.o.Idle, c, c, upstream)
}

// authenticateSOCKS performs method negotiation and RFC 1929.
func (p *Proxy) authenticateSOCKS(c io.ReadWriter) (*grant, error) {
	if err := readSOCKSGreeting(c); err != nil {
		c.Write([]byte{socksVersion, socksNoMethod})
		return nil, err
	}
	if _, err := c.Write([]byte{socksVersion, socksUserPass}); err != nil {
		return nil, err
	}
	shown, err := readSOCKSCredentials(c)
	if err != nil {
		return nil, err
	}
	g := p.findGrant(shown)
	if g == nil {
		c.Write([]byte{socksAuthVersion, 1})
		return nil, errors.New("unknown user or password")
	}
	_, err = c.Write([]byte{socksAuthVersion, 0})
	return g, err
}

// readSOCKSGreeting reads VER NMETHODS METHODS, which must offer user and password.
func readSOCKSGreeting(r io.Reader) error {
	var head [2]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	methods := make([]byte, head[1])
	if _, err := io.ReadFull(r, methods); err != nil {
		return err
	}
	for _, method := range methods {
		if head[0] == socksVersion && method == socksUserPass {
			return nil
		}
	}
	return errors.New("no user and password offered")
}

// readSOCKSCredentials reads VER ULEN UNAME PLEN PASSWD.
func readSOCKSCredentials(r io.Reader) (credentials, error) {
	var version [1]byte
	if _, err := io.ReadFull(r, version[:]); err != nil {
		return credentials{}, err
	}
	if version[0] != socksAuthVersion {
		return credentials{}, fmt.Errorf("version %d of user and password", version[0])
	}
	user, err := readCounted(r)
	if err != nil {
		return credentials{}, err
	}
	password, err := readCounted(r)
	return credentials{user, password}, err
}

// readCounted reads a string preceded by a byte with its length.
func readCounted(r io.Reader) (string, error) {
	var length [1]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return "", err
	}
	text := make([]byte, length[0])
	_, err := io.ReadFull(r, text)
	return string(text), err
}

// readSOCKSRequest reads VER CMD RSV ATYP DST.ADDR DST.PORT. A reply other than socksSucceeded is
// the error.
func readSOCKSRequest(r io.Reader) (host string, port uint16, reply socksReply) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil || head[0] != socksVersion {
		return "", 0, socksFailed
	}
	if head[1] != socksConnect {
		return "", 0, socksNoSuchCommand
	}
	host, reply = readSOCKSAddress(r, head[3])
	if reply != socksSucceeded {
		return "", 0, reply
	}
	var number [2]byte
	if _, err := io.ReadFull(r, number[:]); err != nil {
		return "", 0, socksFailed
	}
	port = uint16(number[0])<<8 | uint16(number[1])
	if port == 0 || host == "" {
		return "", 0, socksFailed
	}
	return host, port, socksSucceeded
}

func readSOCKSAddress(r io.Reader, kind byte) (string, socksReply) {
	var address []byte
	switch kind {
	case socksIPv4:
		address = make([]byte, net.IPv4len)
	case socksIPv6:
		address = make([]byte, net.IPv6len)
	case socksName:
		name, err := readCounted(r)
		if err != nil || strings.IndexByte(name, 0) >= 0 {
			return "", socksFailed
		}
		return name, socksSucceeded
	default:
		return "", socksNoSuchAddress
	}
	if _, err := io.ReadFull(r, address); err != nil {
		return "", socksFailed
	}
	parsed, _ := netip.AddrFromSlice(address)
	return parsed.String(), socksSucceeded
}

// answerSOCKS sends VER REP RSV ATYP BND.ADDR BND.PORT with an empty address.
func answerSOCKS(w io.Writer, reply socksReply) error {
	_, err := w.Write([]byte{socksVersion, byte(reply), 0, socksIPv4, 0, 0, 0, 0, 0, 0})
	return err
}

func replyFor(err error) socksReply {
	var refused *refusedError
	var lookUp *net.DNSError
	switch {
	case errors.As(err, &refused):
		return socksNotAllowed
	case errors.Is(err, syscall.ECONNREFUSED):
		return socksRefused
	case errors.Is(err, syscall.ENETUNREACH):
		return socksNetworkUnreachable
	case errors.Is(err, syscall.EHOSTUNREACH), errors.As(err, &lookUp):
		return socksHostUnreachable
	}
	return socksFailed
}
