package outputs

import (
	"cmp"
	"regexp"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/units"
	"tandem/panes"
	"tandem/panes/kit/list"
	"tandem/panes/kit/text"
	"tandem/panes/states"
)

// filterWords lists the words of a query for its conditions.
const filterWords = "name: project: actor: command: kind: host: since: until: is:failed is:running"

// A query is a pattern with the conditions on its lines and their machines.
type query struct {
	in    api.OutputSearchInput
	re    *regexp.Regexp // the pattern; nil without one
	hosts []string       // the machines to search, "" for this one
	away  []string       // offline machines, and why
}

// parseQuery parses the typed line. Without a pattern there is nothing to search,
// and re is nil.
func parseQuery(line string, isRegexp, exact bool, news *panes.News, now time.Time) (q query, err error) {
	in, is, since, until, host := &q.in, "", "", "", ""
	for _, word := range []struct {
		prefix string
		value  *string
	}{
		{"name:", &in.Name}, {"project:", &in.Project}, {"actor:", &in.Actor}, {"command:", &in.Command}, {"kind:", &in.Kind},
		{"since:", &since}, {"until:", &until}, {"is:", &is}, {"host:", &host},
	} {
		*word.value, line = list.CutWord(line, word.prefix)
	}
	if in.Actor == states.You {
		in.Actor = api.Person
	}
	if strings.TrimSpace(line) == "" {
		return q, nil
	}
	in.Pattern = api.Pattern{Text: line, Regexp: isRegexp, Exact: exact}
	if q.re, err = in.Compile(); err != nil {
		return q, err
	}
	switch is {
	case "":
	case "failed":
		in.Failed = true
	case "running":
		in.Running = true
	default:
		return q, api.Errorf(api.CodeInvalid, "is:%s: must be failed or running", is)
	}
	in.Since, err = parseTime("since:", since, now)
	if err == nil {
		in.Until, err = parseTime("until:", until, now)
	}
	if err == nil {
		err = q.selectMachines(host, news, now)
	}
	return q, err
}

func parseTime(word, value string, now time.Time) (*time.Time, error) {
	if value == "" {
		return nil, nil
	}
	at, ok := units.ParseMoment(value, now)
	if !ok {
		return nil, api.Errorf(api.CodeInvalid, "%s%s: must be %s", word, value, units.Moments)
	}
	return &at, nil
}

// selectMachines selects the machines for the value of host:.
func (q *query) selectMachines(host string, news *panes.News, now time.Time) error {
	if list.OnHost(host, "") {
		q.hosts = append(q.hosts, "")
	}
	for i := range news.Machines {
		m := &news.Machines[i]
		switch why := m.OfflineReason(now); {
		case !list.OnHost(host, m.Name):
		case why != "":
			q.away = append(q.away, text.Clean(m.Name)+": "+why)
		default:
			q.hosts = append(q.hosts, m.Name)
		}
	}
	if len(q.hosts) > 0 {
		return nil
	}
	return api.Errorf(api.CodeInvalid, "host:%s: %s", host, cmp.Or(strings.Join(q.away, ", "), "no such machine"))
}
