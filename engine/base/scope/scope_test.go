package scope

import "testing"

func TestLoginMayMoveOnlyWhereNothingEndsEarlier(t *testing.T) {
	const session, terminal = "/user.slice/user-1000.slice/session-1.scope", "/user.slice/user-1000.slice/user@1000.service/app.slice/vte.scope"
	for _, c := range []struct {
		login Login
		want  bool
	}{
		{Login{Cgroup: session, UID: 1000, Bus: "/bus"}, false},
		{Login{Cgroup: session, UID: 1000, Bus: "/bus", Lingering: true}, true},
		{Login{Cgroup: terminal, UID: 1000, Bus: "/bus"}, true},
		{Login{Cgroup: terminal, UID: 100, Bus: "/bus"}, false}, // another user's, under su
		{Login{Cgroup: terminal, UID: 1000}, false},
		{Login{UID: 1000, Bus: "/bus", Lingering: true}, false},
	} {
		if got := c.login.MayMove(); got != c.want {
			t.Errorf("%+v: %v, want %v", c.login, got, c.want)
		}
	}
}

func TestUnitOfACgroupIsItsInnermostScopeOrService(t *testing.T) {
	for cgroup, want := range map[string]string{
		"/user.slice/user-1000.slice/session-1.scope":                       "session-1.scope",
		"/user.slice/user@1000.service/app.slice/a.scope/tandem-1-p2/child": "a.scope",
		"/user.slice/user@1000.service/init.scope":                          "init.scope",
		"/system.slice/cron.service":                                        "cron.service",
		"/":                                                                 "",
		"":                                                                  "",
	} {
		if got := Unit(cgroup); got != want {
			t.Errorf("%q: %q, want %q", cgroup, got, want)
		}
	}
}
