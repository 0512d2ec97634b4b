package processes

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"tandem/engine/api"
)

// A column is a column of the table.
type column int

// The columns of the table.
const (
	columnState column = iota
	columnName
	columnHost
	columnPID
	columnCPU
	columnMemory
	columnUp
	columnRestarts
	columnPorts
	columnWho
	columnCommand
	columnCount
)

// An order is the column by which rows are sorted, and the direction. In some columns the largest
// value comes first, unless the order is reversed.
type order struct {
	by       column
	reversed bool
	now      time.Time // when the rows are sorted
}

// descending reports whether rows with larger values come first.
func (o order) descending() bool {
	largestFirst := o.by == columnCPU || o.by == columnMemory || o.by == columnRestarts
	return largestFirst != o.reversed
}

func (o order) compare(a, b *api.Process) int {
	by := o.by.compare(a, b, o.now)
	if o.descending() {
		by = -by
	}
	// Not by state, so that a crash loop moves no row.
	return cmp.Or(by, cmp.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name), strings.Compare(hostText(a), hostText(b)), strings.Compare(a.ID, b.ID))
}

// urgency is like api.UrgencyOf, but does not change while a process in a crash loop stops and
// starts.
func urgency(p *api.Process, now time.Time) int {
	if u := api.UrgencyOf(p); u == api.UrgencyFailed || !p.IsFailing(now) {
		return u
	}
	return api.UrgencyBackoff
}

func (c column) compare(a, b *api.Process, now time.Time) int {
	switch c {
	case columnState:
		u := urgency(a, now)
		if by := cmp.Compare(u, urgency(b, now)); by != 0 || u == api.UrgencyBackoff {
			return by
		}
		return cmp.Or(cmp.Compare(exitRank(a), exitRank(b)), strings.Compare(a.ExitSignal, b.ExitSignal))
	case columnName:
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	case columnHost:
		return strings.Compare(hostText(a), hostText(b))
	case columnPID:
		return cmp.Compare(a.PID, b.PID)
	case columnCPU:
		return cmp.Compare(metricsOf(a).CPUPercent, metricsOf(b).CPUPercent)
	case columnMemory:
		return cmp.Compare(metricsOf(a).RSSBytes, metricsOf(b).RSSBytes)
	case columnUp:
		return cmp.Or(cmp.Compare(rankExited(a), rankExited(b)), b.StartedAt.Compare(a.StartedAt))
	case columnRestarts:
		return cmp.Compare(restarts(a), restarts(b))
	case columnPorts:
		return slices.Compare(metricsOf(a).Ports, metricsOf(b).Ports)
	case columnWho:
		return strings.Compare(a.Actor, b.Actor)
	}
	return strings.Compare(a.Command, b.Command)
}

func rankExited(p *api.Process) int {
	if p.State.Ended() {
		return 1
	}
	return 0
}

// exitRank ranks how a process exited: signals are above all exit statuses, and processes that have
// not exited are below.
func exitRank(p *api.Process) int {
	switch {
	case p.ExitCode != nil:
		return *p.ExitCode
	case p.ExitSignal != "":
		return 1 << 16
	}
	return -1
}

func restarts(p *api.Process) int {
	if p.Supervision == nil {
		return 0
	}
	return p.Supervision.Automatic
}

func metricsOf(p *api.Process) api.Metrics {
	if p.Metrics == nil {
		return api.Metrics{CPUPercent: -1, RSSBytes: -1}
	}
	return *p.Metrics
}
