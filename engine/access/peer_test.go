package access

import (
	"strings"
	"testing"
)

// Without root privileges, an engine cannot read the descriptors of an sshd, even one running as
// the same user.
func TestSSHTunnelCountsAsTheUsers(t *testing.T) {
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
