//go:build amd64 || arm64

package sandbox

import (
	"net"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tandem/tests/needs"
)

// startProxied gives a rig's profile a proxy on a small Internet.
func startProxied(t *testing.T, r *rig) *stage {
	t.Helper()
	s := newStage(t, ProxyOptions{})
	r.profile.Network = &Network{AllowedDomains: []string{"allowed.example"}}
	if err := r.layers().Check(); err != nil {
		needs.Kernel(t, "Landlock's TCP ports", err)
	}
	r.proxy = s.grant(*r.profile.Network)
	return s
}

func TestConfinedProgramReachesAllowedDomainsOnlyThroughTheProxy(t *testing.T) {
	checkProxyOnly(t, newRig(t))
}

func checkProxyOnly(t *testing.T, r *rig) {
	s := startProxied(t, r)
	r.expect("200 hello from allowed.example", "get", "http://allowed.example/")
	r.expect("200 hello from allowed.example", "child", "get", "http://allowed.example/")
	if got, _, _ := r.run("get", "http://evil.example/"); !strings.HasPrefix(got, "403 ") {
		t.Errorf("a domain not allowed gave %q", got)
	}
	if got, _, _ := r.run("get", "https://evil.example/"); !strings.Contains(got, "Forbidden") {
		t.Errorf("a domain not allowed gave %q over TLS", got)
	}
	lines := s.lines()
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "tandem: sandbox: refused connection to evil.example:80") {
		t.Errorf("reported: %q", lines)
	}
	r.expect("EACCES", "dial", "tcp", s.server.Listener.Addr().String())
	r.expect("EACCES", "child", "dial", "tcp", s.server.Listener.Addr().String())
	r.expect("", "env", proxyVariable)
}

func TestOnlyTCPToTheProxyIsUsable(t *testing.T) {
	checkOtherProtocols(t, newRig(t))
}

func checkOtherProtocols(t *testing.T, r *rig) {
	startProxied(t, r)
	socket := func(numbers ...int) []string {
		args := []string{"socket"}
		for _, n := range numbers {
			args = append(args, strconv.Itoa(n))
		}
		return args
	}
	r.expect("made", socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)...)
	r.expect("made", socket(unix.AF_INET6, unix.SOCK_STREAM, unix.IPPROTO_TCP)...)
	for _, numbers := range [][]int{
		{unix.AF_INET, unix.SOCK_DGRAM, 0},
		{unix.AF_INET6, unix.SOCK_DGRAM | unix.SOCK_CLOEXEC, unix.IPPROTO_UDP},
		{unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP},
		{unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP},
		{unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_SCTP},
		{unix.AF_SMC, unix.SOCK_STREAM, 0},
		{unix.AF_VSOCK, unix.SOCK_STREAM, 0},
		{unix.AF_PACKET, unix.SOCK_RAW, 0},
		{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT},
	} {
		r.expect("EACCES", socket(numbers...)...)
	}
	r.expect("EACCES", "bind", "127.0.0.1:0")
	if !currentKernel().resolveUnix {
		r.expect("EACCES", "listen")
	}
	server, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	r.expect("EACCES", "fastopen", server.Addr().String())
}
