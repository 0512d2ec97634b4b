package outputs

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/panes"
)

func TestQueryHasTheConditionsOfItsWords(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	hourAgo, day := now.Add(-time.Hour), time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	news := &panes.News{Machines: []panes.Machine{
		{Machine: api.Machine{Name: "box", State: api.MachineConnected}}, {Machine: api.Machine{Name: "pi", State: api.MachineNeedsYou}},
	}}
	for line, want := range map[string]struct {
		text  string
		in    api.OutputSearchInput
		hosts []string
		err   string
	}{
		"connection  failed": {text: "connection  failed", hosts: []string{"", "box"}},
		"a name:web* b":      {text: "a b", in: api.OutputSearchInput{Name: "web*"}, hosts: []string{"", "box"}},
		"actor:you project:shop command:make kind:exec x": {
			text: "x", in: api.OutputSearchInput{Actor: "person", Project: "shop", Command: "make", Kind: "exec"}, hosts: []string{"", "box"}},
		"x is:failed since:1h":          {text: "x", in: api.OutputSearchInput{Failed: true, Since: &hourAgo}, hosts: []string{"", "box"}},
		"x is:running until:2026-11-01": {text: "x", in: api.OutputSearchInput{Running: true, Until: &day}, hosts: []string{"", "box"}},
		"x host:here":                   {text: "x", hosts: []string{""}},
		"x host:b":                      {text: "x", hosts: []string{"box"}},
		"x host:pi":                     {text: "x", err: "host:pi: pi: needs you"},
		"x host:z":                      {text: "x", err: "host:z: no such machine"},
		"x is:lost":                     {text: "x", err: "is:lost: must be failed or running"},
		"x since:soon":                  {text: "x", err: "since:soon: must be a time such as"},
		" name:web":                     {in: api.OutputSearchInput{Name: "web"}},
	} {
		q, err := parseQuery(line, false, false, news, now)
		if err != nil {
			if want.err == "" || !strings.Contains(err.Error(), want.err) {
				t.Errorf("%q: %v", line, err)
			}
			continue
		}
		want.in.Text = want.text
		if diff := cmp.Diff(want.in, q.in); diff != "" || want.err != "" || !slices.Equal(q.hosts, want.hosts) || (q.re == nil) != (want.text == "") {
			t.Errorf("%q: %s, on %q", line, diff, q.hosts)
		}
	}
	if q, err := parseQuery("a.C", true, true, news, now); err != nil || !q.in.Regexp || !q.in.Exact || !slices.Equal(q.away, []string{"pi: needs you"}) {
		t.Errorf("%+v, %v", q, err)
	}
}
