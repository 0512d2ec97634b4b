package supervise

import (
	"math/rand/v2"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/system/keeper"
	"tandem/persist/store"
	"tandem/tests/seed"
)

// An end is how a session and its engine ended.
type end struct {
	rec      store.Record
	exit     *store.Exit // what the keeper wrote
	children []keeper.Child
	last     store.LastEngine
	keeper   store.Identity // that of the next engine
}

// shutdownAt is the time at which an engine was asked to exit.
var shutdownAt = time.Unix(1_700_000_000, 0)

// newEnd returns a running session whose machine is rebooted. Its exit is not known.
func newEnd() *end {
	r := NewRecord("a", api.KindSession)
	r.TTY, r.Argv, r.CWD, r.State = true, []string{"bash"}, "/", string(api.StateRunning)
	r.Identity = &store.Identity{BootID: "old", PID: 50, StartTime: 7}
	r.StartedAt = shutdownAt.Add(-time.Hour)
	r.Runs = []store.Run{{StartedAt: r.StartedAt}}
	return &end{
		rec:    r,
		last:   store.LastEngine{Keeper: store.Identity{BootID: "old", PID: 2}, StoppedAt: shutdownAt},
		keeper: store.Identity{BootID: "boot", PID: 3},
	}
}

// exited records that the engine saw the session exit. after is the time since the engine was asked
// to exit.
func (e *end) exited(after time.Duration, code *int, signal string) *end {
	e.rec.State = string(api.StateExited)
	e.rec.Runs[0].EndedAt, e.rec.Runs[0].ExitCode, e.rec.Runs[0].ExitSignal = shutdownAt.Add(after), code, signal
	return e
}

// reported records that only the keeper saw the exit. after is the time since the engine was asked
// to exit.
func (e *end) reported(after time.Duration, code *int) *end {
	e.exit = &store.Exit{Identity: *e.rec.Identity, Code: code, Unknown: code == nil, ExitedAt: shutdownAt.Add(after)}
	return e
}

func (e *end) but(change func(*end)) *end {
	change(e)
	return e
}

// sameBoot replaces the reboot by a death of engine and keeper.
func (e *end) sameBoot() *end {
	e.rec.Identity.BootID, e.last.Keeper.BootID = "boot", "boot"
	return e
}

// interrupts returns the interruption that the next engine finds, or nil.
func (e *end) interrupts() *store.Interruption {
	s := surveyFor(e.rec, e.exit)
	s.Keeper, s.Children = &e.keeper, e.children
	all, _ := s.Plan()
	a := s.FindAftermath(all, e.last, func(store.Record) time.Time { return time.Time{} })
	if !a.IsInterrupted(&all[0]) {
		return nil
	}
	i := a.Describe(all[0].Rec)
	return &i
}

func TestSessionIsInterruptedUnlessTheUserEndedIt(t *testing.T) {
	zero, one, two := 0, 1, 143
	minute := time.Minute
	for name, c := range map[string]struct {
		*end
		by string // "": it is not interrupted
	}{
		"exit unknown after a reboot":                 {newEnd(), api.ByReboot},
		"exit unknown after a crash":                  {newEnd().sameBoot(), api.ByCrash},
		"terminal lost, program still running":        {newEnd().sameBoot().but(func(e *end) { e.children = []keeper.Child{{ID: "a", PID: 50, StartTime: 7, BootID: "boot", TTY: true}} }), api.ByCrash},
		"hangup turned into exit 1":                   {newEnd().exited(-time.Second, &one, ""), api.ByReboot},
		"hangup turned into exit 1, seen by keeper":   {newEnd().reported(time.Second, &one), api.ByReboot},
		"killed by the hangup":                        {newEnd().exited(-minute, nil, "SIGHUP"), api.ByReboot},
		"ended by SIGTERM with 0":                     {newEnd().exited(-time.Second, &zero, ""), api.ByReboot},
		"ended by SIGTERM with 143":                   {newEnd().exited(-time.Second, &two, ""), api.ByReboot},
		"exit seen, status unknown":                   {newEnd().exited(-time.Second, nil, ""), api.ByReboot},
		"exit 1 before engine and keeper were killed": {newEnd().sameBoot().exited(-time.Second, &one, ""), api.ByCrash},
		"exit 1 in a boot whose engine was killed":    {newEnd().exited(0, &one, "").but(func(e *end) { e.last.StoppedAt = time.Time{} }), api.ByReboot},
		"while it was being restarted":                {newEnd().but(func(e *end) { e.rec.State = string(api.StateStopping) }), api.ByReboot},
		"restarted only on failure":                   {newEnd().but(func(e *end) { e.rec.Restart.Policy = string(api.PolicyOnFailure) }), api.ByReboot},

		"stopped on request":                {newEnd().exited(-time.Second, nil, "SIGHUP").but(func(e *end) { e.rec.Desired = desiredStopped }), ""},
		"being stopped on request":          {newEnd().but(func(e *end) { e.rec.Desired = desiredStopped }), ""},
		"exit typed just before":            {newEnd().exited(-time.Second, &zero, "").but(func(e *end) { e.rec.Runs[0].TypedAt = shutdownAt.Add(-2 * time.Second) }), ""},
		"exited long before":                {newEnd().exited(-3*minute, &one, ""), ""},
		"exited in an earlier boot":         {newEnd().exited(-time.Second, &one, "").but(func(e *end) { e.rec.Identity.BootID = "older" }), ""},
		"exited, keeper still running":      {newEnd().sameBoot().exited(-time.Second, &one, "").but(func(e *end) { e.keeper = e.last.Keeper }), ""},
		"exited, last engine unknown":       {newEnd().exited(-time.Second, &one, "").but(func(e *end) { e.last = store.LastEngine{} }), ""},
		"dismissed":                         {newEnd().exited(-time.Second, &one, "").but(func(e *end) { e.rec.Interrupted = &store.Interruption{Dismissed: true} }), ""},
		"restarted after a reboot":          {newEnd().but(func(e *end) { e.rec.Restart.Policy = string(api.PolicyAlways) }), ""},
		"without a terminal":                {newEnd().but(func(e *end) { e.rec.TTY = false }), ""},
		"a command that a client waits for": {newEnd().but(func(e *end) { e.rec.Transient = true }), ""},
		"never started":                     {newEnd().but(func(e *end) { e.rec.Identity, e.rec.State = nil, string(api.StateStarting) }), ""},
	} {
		t.Run(name, func(t *testing.T) {
			i := c.interrupts()
			switch {
			case i == nil && c.by == "":
			case i == nil:
				t.Error("it is not interrupted")
			case i.By != c.by || i.At.IsZero():
				t.Errorf("interrupted as %+v, want %q", *i, c.by)
			}
		})
	}
}

func TestExitCountsAsTypedOnlyShortlyAfterInput(t *testing.T) {
	zero := 0
	e := newEnd().exited(-time.Second, &zero, "")
	e.rec.Runs[0].TypedAt = e.rec.Runs[0].EndedAt.Add(-maxTypedExit - time.Second)
	if e.interrupts() == nil {
		t.Error("an old input counts as the cause of the exit")
	}
}

func TestOutputCountsAsASignOfLife(t *testing.T) {
	one := 1
	e := newEnd().exited(-time.Second, &one, "")
	e.last.StoppedAt = time.Time{} // the engine was killed, but later than the exit
	s := surveyFor(e.rec, nil)
	s.Keeper = &e.keeper
	all, _ := s.Plan()
	printed := func(store.Record) time.Time { return shutdownAt.Add(time.Hour) }
	if s.FindAftermath(all, e.last, printed).IsInterrupted(&all[0]) {
		t.Error("an exit an hour before the last output counts as part of the shutdown")
	}
}

// A dying machine is the simulated end of an engine, its keeper and their sessions.
type dyingMachine struct {
	*rand.Rand
	now            time.Time
	engine, keeper bool // they run
	full           bool // the disk is full
	sessions       []*end
	last           store.LastEngine
}

// step lets one thing happen within the time that systemd gives programs to exit.
func (m *dyingMachine) step() {
	m.now = m.now.Add(time.Duration(m.IntN(5000)) * time.Millisecond)
	switch m.IntN(5) {
	case 0, 1:
		m.exit(m.sessions[m.IntN(len(m.sessions))])
	case 2: // SIGTERM
		if m.engine && !m.full {
			m.last.StoppedAt = m.now
		}
		m.engine = false
	case 3: // kill -9
		if m.IntN(2) == 0 {
			m.engine = false
		} else {
			m.keeper = false
		}
	case 4:
		m.full = true
	}
}

// exit lets a program exit in one of the ways in which programs do that at a hangup or SIGTERM.
func (m *dyingMachine) exit(e *end) {
	if api.State(e.rec.State).Ended() || e.exit != nil || m.full {
		return // or nobody can write it down
	}
	one, term := 1, 143
	code, signal := &one, ""
	switch m.IntN(3) {
	case 1:
		code = &term
	case 2:
		code, signal = nil, "SIGHUP"
	}
	if m.keeper {
		e.exit = &store.Exit{Identity: *e.rec.Identity, Code: code, Signal: signal, ExitedAt: m.now}
	}
	if m.engine {
		if !m.keeper { // it sees the end, but not the status
			code, signal = nil, ""
		}
		e.exited(m.now.Sub(shutdownAt), code, signal)
	}
}

func TestAnyShutdownInterruptsAllSessions(t *testing.T) {
	random := seed.Rand(t)
	for shutdown := range 200 {
		m := &dyingMachine{Rand: random, now: shutdownAt, engine: true, keeper: true, last: newEnd().last}
		m.last.StoppedAt = time.Time{}
		for range 12 {
			m.sessions = append(m.sessions, newEnd())
		}
		killed := newEnd().exited(-time.Minute, nil, "SIGHUP").but(func(e *end) { e.rec.Desired = desiredStopped })
		for range 20 {
			m.step()
		}
		s := surveyFor(store.Record{}, nil)
		s.Keeper, s.Records = &killed.keeper, nil
		exits := map[string]*store.Exit{}
		for i, e := range append(m.sessions, killed) {
			e.rec.ID = string(rune('a' + i))
			exits[e.rec.ID] = e.exit
			s.Records = append(s.Records, e.rec)
		}
		s.Exit = func(id string) (e store.Exit, ok bool) {
			if exits[id] == nil {
				return e, false
			}
			return *exits[id], true
		}
		all, _ := s.Plan()
		a := s.FindAftermath(all, m.last, func(store.Record) time.Time { return shutdownAt.Add(-time.Minute) })
		for i := range all {
			if got, want := a.IsInterrupted(&all[i]), i < len(m.sessions); got != want {
				t.Fatalf("shutdown %d: session %d of %d is interrupted: %t; its record is %+v", shutdown, i, len(m.sessions), got, all[i].Rec)
			}
		}
	}
}
