package proctree

import (
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/persist/store"
)

// A meteredTable is a fake process table with the meter that reads it.
type meteredTable struct {
	*Meter
	now time.Duration
	all []Process

	strays map[int]store.Identity
}

func newMeteredTable(all ...Process) *meteredTable {
	return &meteredTable{Meter: NewMeter(), now: 1000 * time.Second, all: all}
}

// see looks at the trees with these roots.
func (m *meteredTable) see(roots ...store.Identity) []*api.Metrics {
	out := m.measureTrees(m.now, "boot", roots, m.all, m.strays, func(p Process, _ *member, out *api.Metrics) {
		out.RSSBytes += int64(p.PID)
	})
	m.recordHistory(m.now, roots, out)
	return out
}

// set changes the CPU time of a process, in ticks.
func (m *meteredTable) set(pid int, cpu uint64) {
	for i := range m.all {
		if m.all[i].PID == pid {
			m.all[i].CPU = cpu
		}
	}
}

func (m *meteredTable) end(pid int) {
	var left []Process
	for _, p := range m.all {
		if p.Parent == pid {
			p.Parent = 1
		}
		if p.PID != pid {
			left = append(left, p)
		}
	}
	m.all = left
}

func rootOf(pid int) store.Identity {
	return store.Identity{BootID: "boot", PID: pid, StartTime: 90_000}
}

// aged returns a process that started 100 s before the meter's first measurement.
func aged(pid, parent, session int) Process {
	return Process{PID: pid, Parent: parent, Session: session, Threads: 1, StartTime: 90_000}
}

func TestTreeContainsDescendantsAndSession(t *testing.T) {
	m := newMeteredTable(aged(1, 0, 1), aged(10, 1, 10), aged(11, 10, 10), aged(12, 11, 12),
		aged(13, 1, 10), aged(20, 1, 20), aged(30, 1, 30))
	got := m.see(rootOf(20), rootOf(10))
	if got[0].Processes != 1 || got[0].RSSBytes != 20 {
		t.Errorf("the tree of 20 is %+v", got[0])
	}
	if got[1].Processes != 4 || got[1].Threads != 4 || got[1].RSSBytes != 10+11+12+13 {
		t.Errorf("the tree of 10 is %+v", got[1])
	}
}

func TestMemberStaysInItsTree(t *testing.T) {
	m := newMeteredTable(aged(10, 1, 10), aged(11, 10, 10), aged(12, 11, 12))
	m.see(rootOf(10))
	m.end(11)
	if got := m.see(rootOf(10))[0]; got.Processes != 2 {
		t.Errorf("after its parent's end the tree is %+v", got)
	}
}

func TestMeasureSkipsDeadRoots(t *testing.T) {
	m := newMeteredTable(aged(10, 1, 10), aged(11, 1, 11))
	m.all[1].State = 'Z'
	earlier, elsewhere := rootOf(10), rootOf(10)
	earlier.StartTime--
	elsewhere.BootID = "another"
	got := m.see(earlier, elsewhere, rootOf(11), rootOf(12), rootOf(10), rootOf(10))
	for i, alive := range []bool{false, false, false, false, true, true} {
		if (got[i] != nil) != alive {
			t.Errorf("%d: %+v", i, got[i])
		}
	}
	if got[4].Processes != 1 || got[5].Processes != 1 {
		t.Errorf("asked for twice: %+v, %+v", got[4], got[5])
	}
}

func TestFirstPercentageCoversWholeLife(t *testing.T) {
	m := newMeteredTable(aged(10, 1, 10))
	m.set(10, 5000) // 50 s of 100 s
	if got := m.see(rootOf(10))[0].CPUPercent; got != 50 {
		t.Errorf("%v %%", got)
	}
}

func TestLaterPercentageCoversTimeSinceLastMeasurement(t *testing.T) {
	m := newMeteredTable(aged(10, 1, 10), aged(11, 10, 10))
	m.set(10, 5000)
	m.see(rootOf(10))
	m.now += 2 * time.Second
	m.set(10, 5100)
	m.set(11, 200)
	if got := m.see(rootOf(10))[0].CPUPercent; got != 150 {
		t.Errorf("%v %%, want 1 s and 2 s in 2 s", got)
	}
	m.now += 50 * time.Millisecond
	m.set(10, 5105)
	if got := m.see(rootOf(10))[0].CPUPercent; got != 150 {
		t.Errorf("asked again at once: %v %%", got)
	}
	m.now += 950 * time.Millisecond
	if got := m.see(rootOf(10))[0].CPUPercent; got != 5 {
		t.Errorf("then %v %%, want 5 ticks in a second", got)
	}
}

func TestExitedChildrenAreNotCountedTwice(t *testing.T) {
	m := newMeteredTable(aged(10, 1, 10), aged(11, 10, 10), aged(12, 11, 10))
	m.set(11, 100)
	m.set(12, 1000)
	m.see(rootOf(10))
	m.now += time.Second
	m.end(12)
	m.end(11)
	m.set(10, 1130) // waited for 11, which had waited for 12; 30 ticks are new
	if got := m.see(rootOf(10))[0].CPUPercent; got != 30 {
		t.Errorf("%v %%, want 30", got)
	}
}

func TestExitedOrphanDoesNotLowerUse(t *testing.T) {
	m := newMeteredTable(aged(10, 1, 10), aged(11, 10, 10), aged(12, 11, 10))
	m.set(12, 1000)
	m.see(rootOf(10))
	m.end(11)
	m.now += time.Second
	m.see(rootOf(10))
	m.end(12)
	m.now += time.Second
	m.set(10, 30)
	if got := m.see(rootOf(10))[0].CPUPercent; got != 30 {
		t.Errorf("%v %%, want 30", got)
	}
}

func TestTicksOfUnseenExitedMembersAreCounted(t *testing.T) {
	m := newMeteredTable(aged(10, 1, 10), aged(11, 10, 10), aged(20, 1, 20))
	m.set(11, 1000)
	m.see(rootOf(10), rootOf(20))
	m.now += time.Second
	m.end(11)
	m.set(10, 1000)
	m.see(rootOf(20))
	m.now += time.Second
	m.set(10, 1040)
	if got := m.see(rootOf(10))[0].CPUPercent; got != 20 {
		t.Errorf("%v %%, want 40 ticks in two seconds", got)
	}
}

func TestHistoryCoversTenMinutes(t *testing.T) {
	m := newMeteredTable(aged(10, 1, 10))
	cpu := uint64(0)
	step := func(d time.Duration, ticks uint64) *api.Metrics {
		m.now += d
		cpu += ticks
		m.set(10, cpu)
		return m.see(rootOf(10))[0]
	}
	if got := step(0, 5000); got.CPUHistory != nil {
		t.Errorf("what was used before the first look has the history %v", got.CPUHistory)
	}
	step(time.Second, 10)
	step(4*time.Second, 140)
	step(5*time.Second, 0)
	step(50*time.Second, 0)
	got := step(2*time.Second, 20)
	if diff := cmp.Diff([]float64{30, 0, 10}, got.CPUHistory); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{5, 55, 2}, got.HistorySeconds); diff != "" {
		t.Errorf("who idles has one span: %s", diff)
	}
	for i := range uint64(400) {
		got = step(5*time.Second, i%2)
	}
	sum := 0
	for _, s := range got.HistorySeconds {
		sum += s
	}
	if len(got.CPUHistory) != 120 || sum != 600 {
		t.Errorf("after half an hour it has %d values of %d seconds", len(got.CPUHistory), sum)
	}
}

func TestHistoryOfYoungProcessStartsWithIt(t *testing.T) {
	young := aged(10, 1, 10)
	young.StartTime = 99_000
	m := newMeteredTable(young)
	m.set(10, 500) // 5 s of 10
	id := rootOf(10)
	id.StartTime = 99_000
	got := m.see(id)[0]
	if diff := cmp.Diff([]float64{50}, got.CPUHistory); diff != "" || got.HistorySeconds[0] != 10 {
		t.Errorf("in %v seconds: %s", got.HistorySeconds, diff)
	}
}

func TestHistoryIncludesMemory(t *testing.T) {
	m := newMeteredTable(aged(10, 1, 10))
	for _, rss := range []int64{1 << 20, 1 << 20, 3 << 20} {
		m.measureTrees(m.now, "boot", []store.Identity{rootOf(10)}, m.all, nil, func(p Process, _ *member, out *api.Metrics) {})
		out := []*api.Metrics{{RSSBytes: rss}}
		m.recordHistory(m.now, []store.Identity{rootOf(10)}, out)
		m.now += 5 * time.Second
	}
	got := m.see(rootOf(10), rootOf(10))[0]
	if diff := cmp.Diff([]int64{1 << 20, 3 << 20, 0}, got.RSSHistory); diff != "" {
		t.Errorf("memory in %v seconds: %s", got.HistorySeconds, diff)
	}
}

func TestIdleSampleExtendsLastSpan(t *testing.T) {
	m := newMeteredTable(aged(10, 1, 10))
	m.see(rootOf(10))
	m.now += 5 * time.Second
	m.set(10, 250)
	m.see(rootOf(10))
	for range 2 {
		m.now += 10 * time.Second
		m.recordIdle(m.now)
	}
	m.now += 10 * time.Second
	m.set(10, 350)
	got := m.see(rootOf(10))[0]
	if diff := cmp.Diff([]float64{50, 0, 10}, got.CPUHistory); diff != "" || got.CPUPercent != 10 {
		t.Errorf("now %v %%, before in %v seconds: %s", got.CPUPercent, got.HistorySeconds, diff)
	}
}

func TestPastUsageOfAProcessTakesLittleMemory(t *testing.T) {
	var p past
	p.startAt(time.Second)
	for i := range 10_000 {
		p.addUse(time.Duration(6+5*i)*time.Second, uint64(i%7), int64(i%3)<<20)
	}
	if got := cap(p.spans) * int(unsafe.Sizeof(span{})); got > 2<<10 {
		t.Errorf("it takes %d bytes for %d spans", got, len(p.spans))
	}
}

func TestMeterForgetsExitedTrees(t *testing.T) {
	m := newMeteredTable(aged(10, 1, 10), aged(11, 10, 10), aged(20, 1, 20))
	m.see(rootOf(10), rootOf(20))
	m.end(10)
	m.end(20)
	m.see()
	if len(m.trees)+len(m.members) != 0 {
		t.Errorf("%d trees and %d members are left", len(m.trees), len(m.members))
	}
}

func TestOwnerOfSurvivesParentCycle(t *testing.T) {
	m := newMeteredTable(aged(10, 1, 10), aged(11, 12, 11), aged(12, 11, 11))
	if got := m.see(rootOf(10))[0]; got.Processes != 1 {
		t.Errorf("%+v", got)
	}
}

func TestOrphanCountsForItsKnownTree(t *testing.T) {
	m := newMeteredTable(aged(1, 0, 1), aged(10, 1, 10), aged(20, 1, 20), aged(21, 20, 21), aged(30, 1, 30))
	m.strays = map[int]store.Identity{20: rootOf(10), 30: {BootID: "boot", PID: 10, StartTime: 1}}
	if got := m.see(rootOf(10))[0]; got.Processes != 3 || got.RSSBytes != 10+20+21 {
		t.Errorf("%+v", got)
	}
}
