package access

import (
	"strings"
	"testing"
)

// TestTunnelOfSSHIsTheUsers has a connection held by one of several processes that hide their
// descriptors: an sshd that runs as the user, as /proc shows it to an engine that is not root's.
func TestTunnelOfSSHIsTheUsers(t *testing.T) {
	all := map[int]fakeProcess{
		600: {parent: 1, session: 600, root: true}, 700: {parent: 600, session: 600, private: true}, // sshd
		750: {parent: 1, session: 750, private: true},                             // ssh-agent
		800: {parent: fakeKeeper, session: 800, private: true},                    // an orphan of a session's
		900: {parent: 850, session: 850}, 850: {parent: fakeKeeper, session: 850}, // a session's, which hides nothing but descriptors
	}
	for name, c := range map[string]struct {
		hidden []int
		want   string
	}{
		"ssh":                   {[]int{700, 750}, ""},
		"an orphan beside it":   {[]int{700, 800}, "hides which session"},
		"a session's beside it": {[]int{700, 900}, "hides which session"},
		"one that has exited":   {[]int{700, 999}, "has exited or is hidden"},
	} {
		g := withTable(all, func(fakeProcess) bool { return false })
		got, err := g.agentAmong(t.Context(), c.hidden)
		if err != nil || c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
