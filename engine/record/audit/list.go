package audit

import (
	"cmp"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"tandem/engine/api"
	"tandem/persist/store"
)

const (
	defaultEntries = 100
	maxEntries     = 10_000
	// maxPause is the longest time between two lines of one call. No operation of a tool takes
	// longer.
	maxPause = 10 * time.Minute
)

// List returns the newest entries, the newest first. A call of a tool is one entry; with
// in.Operations, each of its operations is. If an operation has no completing line, its outcome is
// Started.
func (l *Log) List(in api.AuditListInput) (api.AuditListOutput, error) {
	if in.Limit <= 0 {
		in.Limit = defaultEntries
	}
	in.Limit = min(in.Limit, maxEntries)
	r := reading{in: in, ends: map[string]api.AuditEntry{}, byKey: map[callKey]*call{}}
	for text, err := range l.lines.Newest() {
		if err != nil {
			return r.output(), api.Errorf(api.CodeUnavailable, "read audit log: %v", store.Cause(err))
		}
		e, ok := r.decode(text)
		if !ok || in.Actor != "" && e.Actor != in.Actor || in.Tool != "" && e.Tool != in.Tool {
			continue
		}
		if r.isComplete(e) {
			break
		}
		r.add(e)
	}
	return r.output(), nil
}

// A reading collects calls from the lines of the log, the newest line first. It holds only the
// calls to be returned and completing lines without their started lines yet, so its size does not
// depend on the log's.
type reading struct {
	in     api.AuditListInput
	ends   map[string]api.AuditEntry // completing lines, by id
	calls  []*call                   // by their newest line
	byKey  map[callKey]*call
	oldest time.Time // of the lines of calls that may have further ones
	lines  int       // added so far
}

// A callKey identifies a call. Clients choose the ids of calls. With the id alone, a client could
// hide its operations in another client's call.
type callKey struct{ client, actor, from, tool, host, id string }

// A call is what its lines read so far say.
type call struct {
	first      api.AuditEntry // its oldest line
	firstWrite api.AuditEntry // the oldest that changes something; no Time: none
	worst      api.AuditEntry
	worstWrite api.AuditEntry
	end        time.Time
	process    string
	position   int  // of its oldest line
	ran        bool // an operation other than its check by the policy
}

// decode returns the entry of a line, merged with its completing line. ok is false if the line is
// no entry of its own, or was truncated by a crash.
func (r *reading) decode(text []byte) (e api.AuditEntry, ok bool) {
	if json.Unmarshal(text, &e) != nil {
		return e, false
	}
	if e.ID == "" {
		return e, true
	}
	if e.Outcome != api.OutcomeStarted {
		r.ends[e.ID] = e
		return e, false
	}
	if end, ended := r.ends[e.ID]; ended {
		delete(r.ends, e.ID)
		e.Outcome, e.Error, e.DurationMS, e.Process = end.Outcome, end.Error, end.DurationMS, cmp.Or(end.Process, e.Process)
	}
	return e, true
}

// isComplete reports whether e and all older lines can be left out: enough calls are known, and e
// is too old to belong to one of them.
func (r *reading) isComplete(e api.AuditEntry) bool {
	if len(r.calls) < r.in.Limit {
		return false
	}
	return r.oldest.IsZero() || e.Time.Add(duration(e)).Before(r.oldest.Add(-maxPause))
}

// add adds an entry to its call. Once enough calls are known, entries of other calls are dropped.
func (r *reading) add(e api.AuditEntry) {
	key := callKey{e.Client, e.Actor, e.From, e.Tool, e.Host, e.Call}
	alone := e.Call == "" || r.in.Operations
	c := r.byKey[key]
	if c == nil || alone {
		if len(r.calls) == r.in.Limit {
			return
		}
		c = new(call)
		r.calls = append(r.calls, c)
	}
	if !alone {
		r.byKey[key] = c
		if r.oldest.IsZero() || e.Time.Before(r.oldest) {
			r.oldest = e.Time
		}
	}
	r.lines++
	c.position = r.lines
	c.add(e)
}

// add adds an older line of the call.
func (c *call) add(e api.AuditEntry) {
	c.first = e
	c.worst = worse(e, c.worst)
	if isWrite(e) {
		c.firstWrite = e
		c.worstWrite = worse(e, c.worstWrite)
	}
	if end := e.Time.Add(duration(e)); end.After(c.end) {
		c.end = end
	}
	c.process = cmp.Or(e.Process, c.process)
	c.ran = c.ran || e.Operation != api.PolicyCheck.Name
}

// entry returns the call as one entry. If it changed something, the outcome is that of the changes:
// a tool may fail to read something and then succeed. But a refusal always counts.
func (c *call) entry() api.AuditEntry {
	e, worst := c.first, c.worst
	if !c.firstWrite.Time.IsZero() {
		e = c.firstWrite
		if worst.Outcome != api.OutcomeDenied {
			worst = c.worstWrite
		}
	}
	e.Time, e.Process = c.first.Time, c.process
	e.Outcome, e.Error = worst.Outcome, worst.Error
	if !c.ran && e.Outcome == api.OutcomeOK && e.Arguments["write"] == true {
		e.Outcome = api.OutcomeStarted // it was allowed, but the engine was killed before it changed anything
	}
	e.DurationMS = api.Milliseconds(c.end.Sub(c.first.Time))
	return e
}

func (r *reading) output() api.AuditListOutput {
	slices.SortStableFunc(r.calls, func(a, b *call) int { return cmp.Compare(a.position, b.position) })
	out := api.AuditListOutput{Entries: make([]api.AuditEntry, 0, len(r.calls))}
	for _, c := range r.calls {
		out.Entries = append(out.Entries, c.entry())
	}
	return out
}

// outcomes are the outcomes from the best to the worst. An unknown outcome counts as even better.
var outcomes = []string{api.OutcomeOK, api.OutcomeStarted, api.OutcomeCancelled, api.OutcomeFailed, api.OutcomeDenied}

// worse returns the entry with the worse outcome. It returns a if the outcomes are equal.
func worse(a, b api.AuditEntry) api.AuditEntry {
	if slices.Index(outcomes, b.Outcome) > slices.Index(outcomes, a.Outcome) {
		return b
	}
	return a
}

var effects = sync.OnceValue(func() map[string]api.Effect {
	all := map[string]api.Effect{}
	for _, o := range api.Operations() {
		all[o.Name] = o.Effect
	}
	return all
})

// isWrite reports whether the operation of an entry changes something.
func isWrite(e api.AuditEntry) bool { return effects()[e.Operation] != api.Read }
