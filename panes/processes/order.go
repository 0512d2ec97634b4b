package processes

import (
	"cmp"
	"slices"
	"strings"

	"tandem/engine/api"
)

// A Column is a column of the table.
type Column int

// The columns of the table.
const (
	ColumnState Column = iota
	ColumnName
	ColumnHost
	ColumnPID
	ColumnCPU
	ColumnMemory
	ColumnUp
	ColumnRestarts
	ColumnPorts
	ColumnWho
	ColumnFrom
	ColumnCommand
	columnCount
)

// An order is a column to sort by. Some columns usually begin with the largest value.
type order struct {
	by       Column
	reversed bool
}

// descending reports whether the rows go from large to small.
func (o order) descending() bool {
	largestFirst := o.by == ColumnCPU || o.by == ColumnMemory || o.by == ColumnRestarts
	return largestFirst != o.reversed
}

func (o order) compare(a, b *api.Process) int {
	by := o.by.compare(a, b)
	if o.descending() {
		by = -by
	}
	return cmp.Or(by, cmp.Compare(api.UrgencyOf(a), api.UrgencyOf(b)), cmp.Compare(a.Kind, b.Kind),
		strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
}

func (c Column) compare(a, b *api.Process) int {
	switch c {
	case ColumnState:
		return cmp.Or(cmp.Compare(api.UrgencyOf(a), api.UrgencyOf(b)), cmp.Compare(exitRank(a), exitRank(b)), strings.Compare(a.ExitSignal, b.ExitSignal))
	case ColumnName:
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	case ColumnHost:
		return strings.Compare(hostText(a), hostText(b))
	case ColumnPID:
		return cmp.Compare(a.PID, b.PID)
	case ColumnCPU:
		return cmp.Compare(metricsOf(a).CPUPercent, metricsOf(b).CPUPercent)
	case ColumnMemory:
		return cmp.Compare(metricsOf(a).RSSBytes, metricsOf(b).RSSBytes)
	case ColumnUp:
		return cmp.Or(cmp.Compare(rankExited(a), rankExited(b)), b.StartedAt.Compare(a.StartedAt))
	case ColumnRestarts:
		return cmp.Compare(restarts(a), restarts(b))
	case ColumnPorts:
		return slices.Compare(metricsOf(a).Ports, metricsOf(b).Ports)
	case ColumnWho:
		return strings.Compare(a.Actor, b.Actor)
	case ColumnFrom:
		return strings.Compare(a.From, b.From)
	}
	return strings.Compare(a.Command, b.Command)
}

func rankExited(p *api.Process) int {
	if p.State.Ended() {
		return 1
	}
	return 0
}

// exitRank returns the exit status, with a signal above every status and no exit below.
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
