// Package audit writes and reads the log of agents' calls. The engine's server writes a line for
// each operation it serves; this package decides what the line contains, and lists lines as calls.
package audit

import (
	"cmp"
	"time"

	"tandem/engine/api"
	"tandem/persist/store"
)

// A Log is the audit log. It is safe for concurrent use.
type Log struct{ lines *store.Lines }

// New returns the log kept in lines.
func New(lines *store.Lines) *Log { return &Log{lines} }

// A completion is the second line of an operation. It has the id of the operation's started line.
type completion struct {
	Time       time.Time `json:"time"`
	ID         string    `json:"id"`
	Outcome    string    `json:"outcome"`
	Error      string    `json:"error,omitempty"`
	DurationMS float64   `json:"duration_ms"`
	Process    string    `json:"process,omitempty"`
}

// Begin writes the started line of an operation that changes something. Call it before the handler:
// if the line cannot be written, the operation must not run. It sets the id and outcome of e, and
// the time if e has none. e.Arguments must come from Arguments.
//
// end writes the completing line. Its process is the id of the session or process started or
// affected, if any. Its failure is the text of the operation's error, or "".
func (l *Log) Begin(e api.AuditEntry) (end func(outcome, process, failure string, took time.Duration) error, err error) {
	e.ID, e.Outcome = api.NewID(), api.OutcomeStarted
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	return func(outcome, process, failure string, took time.Duration) error {
		return l.append(completion{
			Time: time.Now(), ID: e.ID, Outcome: outcome, Error: shorten(failure),
			DurationMS: api.Milliseconds(took), Process: cut(process, maxName),
		})
	}, l.append(bounded(e))
}

// Record writes the only line of a read or of a refused call, with its outcome. If e has no time,
// the operation began e.DurationMS ago. e.Arguments must come from Arguments.
func (l *Log) Record(e api.AuditEntry) error {
	e.ID = ""
	if e.Time.IsZero() {
		e.Time = time.Now().Add(-duration(e))
	}
	return l.append(bounded(e))
}

func (l *Log) append(line any) error {
	if err := l.lines.Append(line); err != nil {
		return api.Errorf(api.CodeInternal, "write audit log: %v", err)
	}
	return nil
}

// bounded masks secrets in the error of e and shortens its texts, because a client may send any
// name. An operation outside a tool's call counts as its own tool.
func bounded(e api.AuditEntry) api.AuditEntry {
	e.Tool = cmp.Or(e.Tool, e.Operation)
	for _, name := range []*string{&e.Actor, &e.Agent, &e.Client, &e.From, &e.Host, &e.Tool, &e.Call, &e.Operation, &e.Outcome, &e.Process} {
		*name = cut(*name, maxName)
	}
	e.Error = shorten(e.Error)
	return e
}

func duration(e api.AuditEntry) time.Duration {
	return time.Duration(e.DurationMS * float64(time.Millisecond)).Round(time.Microsecond)
}
