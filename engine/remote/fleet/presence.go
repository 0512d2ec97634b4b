package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"tandem/engine/api"
	"tandem/engine/base/sleep"
)

const (
	// rttBeats is the number of heartbeats between measurements of the round-trip time.
	rttBeats = 6
	// refreshInterval is the time between rewrites of all rows. The bucket drops rows not written
	// for a day.
	refreshInterval = 4 * time.Hour
	// batchTime is how long changes are collected.
	batchTime = 20 * time.Millisecond
	// refreshSpread is the period after connecting within which a machine rewrites its rows.
	refreshSpread = 2 * time.Second
	// maxText limits a command line or error in a row, in bytes.
	maxText = 200
	// checkInterval is how often a machine checks that one of its rows is still stored.
	checkInterval = 30 * time.Second
	// goodbyeTimeout limits how long a machine takes to announce its shutdown.
	goodbyeTimeout = time.Second
)

// A hostRow is the value of a machine in HostsBucket.
type hostRow struct {
	Name    string            `json:"name"`
	Labels  map[string]string `json:"labels,omitempty"`
	Version string            `json:"version"`
	Epoch   string            `json:"epoch"` // of its engine; process rows with another one are stale
	States  map[api.State]int `json:"states,omitempty"`
	Failed  int               `json:"failed,omitempty"`
	RTTMS   float64           `json:"rtt_ms,omitempty"` // round-trip time to the hub
	Gone    bool              `json:"gone,omitempty"`   // its engine was stopped normally
}

// A processRow is the value of a session or process in ProcessesBucket.
type processRow struct {
	Epoch string `json:"epoch"`
	api.Process
}

// A presence publishes a machine's rows and keeps them published.
//
// Publishing alone is not enough: NATS silently loses a message sent while its servers elect a
// leader, and a hub can lose its store. So every row asks for a confirmation and is sent again
// until it gets one, after growing delays because the hub may be overloaded. The confirmation
// repeats a serial number with a secret start, as any member can send messages to this machine's
// inbox.
//
// Confirmed rows are checked one at a time: one is rewritten on the condition that it is still
// stored unchanged, and if the hub rejects that, all rows are written again. They are also
// rewritten every few hours, because the bucket drops old rows.
type presence struct {
	user      User
	host      hostRow
	changed   chan struct{} // rows are to be written
	connected chan struct{} // connected again

	beatInterval, storedWait time.Duration // see Machine

	mu      sync.Mutex
	rows    map[string]processRow
	dirty   map[string]bool         // rows to write, or to delete if missing in rows
	pending map[string]pendingWrite // rows not confirmed by the hub yet
	serial  int64                   // number of the last message sent; starts at a secret value

	sequences map[string]uint64 // stream sequence numbers of stored rows
	checked   string            // row to write only if it is still stored
}

// A pendingWrite is the last unconfirmed write of a row.
type pendingWrite struct {
	serial int64
	at     time.Time
	wait   time.Duration // until it is written again
}

func newPresence(u User, m *Machine) *presence {
	labels := map[string]string{}
	for _, label := range u.Labels {
		key, value, _ := strings.Cut(label, "=")
		labels[key] = value
	}
	for key, value := range m.Facts {
		labels[key] = value
	}
	return &presence{
		user: u, host: hostRow{Name: u.Name, Labels: labels, Version: m.Hello.Version, Epoch: newID()[:8]}, serial: rand.Int64N(1 << 62),
		beatInterval: cmp.Or(m.BeatStep, 5*time.Second), storedWait: cmp.Or(m.StoredWait, 8*time.Second),
		changed: make(chan struct{}, 1), connected: make(chan struct{}, 1), rows: map[string]processRow{}, dirty: map[string]bool{}, pending: map[string]pendingWrite{}, sequences: map[string]uint64{},
	}
}

// nudge sends on a channel with a buffer of one, unless it is full.
func nudge(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (p *presence) onReconnect() { nudge(p.connected) }

// followEvents updates the rows until ctx is done.
func (p *presence) followEvents(ctx context.Context, events func(context.Context, func(api.Event) error) error) {
	for ctx.Err() == nil {
		_ = events(ctx, p.applyEvent) // a reader that falls behind starts over
		_ = sleep.For(ctx, minDelay)
	}
}

func (p *presence) applyEvent(e api.Event) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e.Type {
	case api.EventSnapshot:
		for id := range p.rows {
			p.dirty[id] = true
		}
		// Rows not in the snapshot stay dirty and are deleted.
		clear(p.rows)
		for _, proc := range e.Processes {
			p.setRow(proc)
		}
	case api.EventProcess:
		p.setRow(*e.Process)
	case api.EventRemoved:
		delete(p.rows, e.ID)
		p.dirty[e.ID] = true
	default:
		return nil
	}
	nudge(p.changed)
	return nil
}

// setRow stores the row of a process. p.mu is held.
func (p *presence) setRow(proc api.Process) {
	row := processRow{p.host.Epoch, listFields(proc)}
	if was, ok := p.rows[proc.ID]; ok && !p.dirty[proc.ID] && reflect.DeepEqual(was, row) {
		return
	}
	p.rows[proc.ID] = row
	p.dirty[proc.ID] = true
}

// shortenText returns text, cut if it is too long.
func shortenText(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "…"
}

// listFields returns the fields of a process shown in lists.
func listFields(p api.Process) api.Process {
	// Keep a session's arguments: they show whether it is a shell, whose exit status does not count
	// as a failure.
	if p.Kind != api.KindSession {
		p.Argv = nil
	}
	if len(p.Command) > maxText {
		p.Command, p.Argv = shortenText(p.Command), nil
	}
	var supervision *api.Supervision
	if s := p.Supervision; s != nil && (s.Restarts > 0 || s.Ready != nil) {
		supervision = &api.Supervision{Restart: s.Restart, Restarts: s.Restarts, Automatic: s.Automatic, Ready: s.Ready}
	}
	return api.Process{
		ID: p.ID, Kind: p.Kind, Name: p.Name, State: p.State, PID: p.PID, CWD: p.CWD, Command: p.Command, Argv: p.Argv, Actor: p.Actor, From: p.From,
		StartedAt: p.StartedAt, ExitedAt: p.ExitedAt, ExitCode: p.ExitCode, ExitSignal: p.ExitSignal, ExitUnknown: p.ExitUnknown,
		Error: shortenText(p.Error), WaitsFor: p.WaitsFor, KeepAlive: p.KeepAlive, Supervision: supervision, Terminal: p.Terminal, Agent: p.Agent,
	}
}

// run writes rows until ctx is done, and then announces the machine's shutdown.
func (p *presence) run(ctx context.Context, l *conn, checkEvery time.Duration) {
	check := time.NewTicker(checkEvery)
	defer check.Stop()
	beat := time.NewTimer(0)
	defer beat.Stop()
	refresh := time.NewTimer(refreshInterval)
	defer refresh.Stop()
	beats := 0
	for {
		select {
		case <-ctx.Done():
			if l.state() == nil {
				p.host.Gone = true
				p.sendHeartbeat(l)
				_ = l.nats.FlushTimeout(goodbyeTimeout)
			}
			return
		case <-p.connected:
			p.sendHeartbeat(l)
			// After a restart of the hub, all machines connect at the same time.
			refresh.Reset(rand.N(refreshSpread))
		case <-refresh.C:
			p.markAllDirty()
			refresh.Reset(refreshInterval)
		case <-beat.C:
			if beats%rttBeats == 0 {
				p.host.RTTMS = l.roundTrip()
			}
			beats++
			p.sendHeartbeat(l)
			p.retryUnconfirmed()
			beat.Reset(p.beatInterval - rand.N(p.beatInterval/5))
		case <-check.C:
			p.checkOneRow()
		case <-p.changed:
			_ = sleep.For(ctx, batchTime)
		}
		p.flushRows(l)
	}
}

// markAllDirty schedules all rows to be rewritten.
func (p *presence) markAllDirty() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id := range p.rows {
		p.dirty[id] = true
	}
}

// sendHeartbeat writes the machine's row. If that fails, the next connection writes it again.
func (p *presence) sendHeartbeat(l *conn) {
	p.mu.Lock()
	row := p.host
	row.States = map[api.State]int{}
	for _, r := range p.rows {
		row.States[r.State]++
		if r.Failed() {
			row.Failed++
		}
	}
	p.mu.Unlock()
	value, err := json.Marshal(row)
	if err == nil {
		_ = l.nats.Publish("$KV."+HostsBucket+"."+p.user.Name, value)
	}
}

// confirmSubject is the prefix of the subjects for the hub's confirmations.
func (p *presence) confirmSubject() string { return Inbox(KindMachine, p.user.Name) + ".stored." }

// handleStored processes the confirmation of a row, sent by the server for each message stored in a
// stream (https://docs.nats.io/reference/reference-protocols/nats_api_reference).
func (p *presence) handleStored(m *nats.Msg) {
	var answer struct {
		Stream string `json:"stream"`
		Seq    uint64 `json:"seq"`
		Error  *struct {
			Code int `json:"err_code"`
		} `json:"error"`
	}
	if json.Unmarshal(m.Data, &answer) != nil {
		return // the row is written again
	}
	number, id, _ := strings.Cut(strings.TrimPrefix(m.Subject, p.confirmSubject()), ".")
	p.mu.Lock()
	defer p.mu.Unlock()
	sent, waits := p.pending[id]
	switch {
	case !waits || number != strconv.FormatInt(sent.serial, 36): // or forged: members can direct replies to any inbox
	case answer.Error != nil && answer.Error.Code == wrongLastSequence:
		for id := range p.rows {
			p.dirty[id] = true
		}
		nudge(p.changed)
	case answer.Error == nil && answer.Stream != "":
		delete(p.pending, id)
		if _, there := p.rows[id]; there {
			p.sequences[id] = answer.Seq
		}
	}
}

// wrongLastSequence is the server's JSStreamWrongLastSequenceErr: the stored row is not the
// expected one.
const wrongLastSequence = 10071

// checkOneRow queues one row, a different one each time, to be rewritten only if the hub still has
// it unchanged. If the hub rejects the write, the row was deleted or replaced.
func (p *presence) checkOneRow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id := range p.sequences { // in random order
		if _, sent := p.pending[id]; !sent && !p.dirty[id] {
			p.dirty[id], p.checked = true, id
			return
		}
	}
}

// retryUnconfirmed schedules rows whose confirmation is overdue.
func (p *presence) retryUnconfirmed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, s := range p.pending {
		if !p.dirty[id] && time.Since(s.at) > s.wait {
			p.dirty[id] = true
			p.pending[id] = pendingWrite{s.serial, s.at, min(2*s.wait, refreshInterval)}
		}
	}
}

// flushRows writes all changed rows.
func (p *presence) flushRows(l *conn) {
	if l.state() != nil {
		return
	}
	messages := p.dirtyMessages()
	for _, m := range messages {
		_ = l.nats.PublishMsg(m) // after a lost connection, all rows are written again
	}
	// The heartbeat carries the number of rows in each state.
	if len(messages) > 0 {
		p.sendHeartbeat(l)
	}
}

// dirtyMessages returns the messages for all rows to be written, and marks them as sent.
func (p *presence) dirtyMessages() []*nats.Msg {
	p.mu.Lock()
	defer p.mu.Unlock()
	dirty := p.dirty
	p.dirty = map[string]bool{}
	messages := make([]*nats.Msg, 0, len(dirty))
	now, answers := time.Now(), p.confirmSubject()
	for id := range dirty {
		p.serial++
		p.pending[id] = pendingWrite{p.serial, now, max(p.pending[id].wait, p.storedWait)}
		m := nats.NewMsg("$KV." + ProcessesBucket + "." + p.user.Name + "." + id)
		m.Reply = answers + strconv.FormatInt(p.serial, 36) + "." + id
		if id == p.checked {
			m.Header.Set("Nats-Expected-Last-Subject-Sequence", strconv.FormatUint(p.sequences[id], 10))
		}
		delete(p.sequences, id) // until the new row is stored
		if row, ok := p.rows[id]; ok {
			m.Data, _ = json.Marshal(row) // cannot fail for these types
		} else {
			m.Header.Set("KV-Operation", "DEL")
		}
		messages = append(messages, m)
	}
	p.checked = ""
	return messages
}
