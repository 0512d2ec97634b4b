package access

import (
	"net"
	"net/netip"
	"strings"
	"testing"
)

// Without root privileges, an engine cannot read the descriptors of an sshd, even one running as
// the same user.
func TestConnectionThroughSSHCountsAsTheUsers(t *testing.T) {
	all := map[int]fakeProcess{
		600: {parent: 1, session: 600, root: true}, 700: {parent: 600, session: 600, private: true}, // sshd
		750: {parent: 1, session: 750, private: true},                             // ssh-agent
		800: {parent: fakeKeeper, session: 800, private: true},                    // orphan of a session
		900: {parent: 850, session: 850}, 850: {parent: fakeKeeper, session: 850}, // in a session; hides only its descriptors
	}
	for name, c := range map[string]struct {
		hidden []int
		want   string
	}{
		"ssh":               {[]int{700, 750}, ""},
		"ssh and an orphan": {[]int{700, 800}, "hides which session"},
		"ssh and a session": {[]int{700, 900}, "hides which session"},
		"exited process":    {[]int{700, 999}, "has exited or is hidden"},
	} {
		g := newTableGuard(all, func(fakeProcess) bool { return false })
		got, err := g.agentAmong(t.Context(), c.hidden)
		if err != nil || c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: agentAmong returned %q, %v, want %q", name, got, err, c.want)
		}
	}
}

// The user's servers call AgentAt to learn who has connected to them. The test's own process stands
// for the engine's proxy.
func TestAgentAtNamesTheHolderOfAConnection(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	own, client := netip.MustParseAddrPort(l.Addr().String()), netip.MustParseAddrPort(conn.LocalAddr().String())
	g := newGuard(t)
	for name, c := range map[string]struct {
		client, server netip.AddrPort
		want           string
	}{
		"this process":         {client, own, "through the engine's proxy"},
		"another machine":      {netip.MustParseAddrPort("192.0.2.1:5"), own, ""},
		"a closed connection":  {netip.AddrPortFrom(client.Addr(), 1), own, exitedProcess},
		"a mapped address":     {netip.MustParseAddrPort("[::ffff:127.0.0.1]:1"), own, exitedProcess},
		"the listening socket": {own, client, "through the engine's proxy"},
	} {
		if c.client == own { // its end is held here as well once it is accepted
			if server, err := l.Accept(); err == nil {
				defer server.Close()
			}
		}
		if got, err := g.AgentAt(t.Context(), c.client, c.server); err != nil || !strings.HasSuffix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
}
