package doctor

import (
	"strings"
	"testing"

	"tandem/engine/base/scope"
)

func TestKeepersScopeIsAssessed(t *testing.T) {
	const managed = "/user.slice/user-1000.slice/user@1000.service/app.slice/"
	for _, c := range []struct {
		login       scope.Login
		policy      string
		status      Verdict
		detail, fix string
	}{
		{scope.Login{Cgroup: managed + "tandem-bd47413b.scope", UID: 1000}, "OOMPolicy=continue", OK, "a scope of its own, tandem-bd47413b.scope", ""},
		{scope.Login{Cgroup: managed + "tandem-bd47413b-12.scope/tandem-bd47413b-a", UID: 1000}, "", OK, "its own, tandem-bd47413b-12.scope", ""},
		{scope.Login{Cgroup: managed + "tandem-00000000.scope", UID: 1000}, "OOMPolicy=continue", OK, "runs in tandem-00000000.scope", ""},
		{scope.Login{Cgroup: managed + "vte-1.scope", UID: 1000}, "OOMPolicy=stop", Warn, "kills everything", "stays where it is until `tandem shutdown --all`"},
		{scope.Login{Cgroup: "/user.slice/user-1000.slice/session-1.scope", UID: 1000}, "OOMPolicy=stop", Warn, "runs in session-1.scope", "loginctl enable-linger"},
		{scope.Login{Cgroup: "/user.slice/user-1000.slice/session-1.scope", UID: 1000, Lingering: true}, "OOMPolicy=kill", Warn, "runs in session-1.scope", "the next keeper"},
		{scope.Login{Cgroup: "/user.slice/user-1000.slice/session-1.scope", UID: 1000}, "", OK, "does not take others with it", ""},
	} {
		f := assessScope(c.login, "/data", c.policy)
		if f.Status != c.status || !strings.Contains(f.Detail, c.detail) || !strings.Contains(f.Fix, c.fix) || (c.fix == "") != (f.Fix == "") {
			t.Errorf("%+v with %q: %+v", c.login, c.policy, f)
		}
	}
}
