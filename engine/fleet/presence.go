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
	"tandem/engine/sleep"
)

const (
	// rttBeats is how many of them come for each time that it measures the way to the hub.
	rttBeats = 6
	// refreshStep is after how long a machine writes all its rows again. The bucket
	// forgets those that nobody writes.
	refreshStep = 4 * time.Hour
	// settle is how long changes are gathered.
	settle = 20 * time.Millisecond
	// spreadOut is within what time after a connection a machine writes all its rows.
	spreadOut = 2 * time.Second
	// shownText bounds a command line and an error in a row.
	shownText = 200
	// checkStep is how often a machine checks that one of its rows is still stored.
	checkStep = 30 * time.Second
	// lastWord bounds how long a machine takes to say that it goes.
	lastWord = time.Second
)

// A hostRow is the value of a machine in HostsBucket.
type hostRow struct {
	Name    string            `json:"name"`
	Labels  map[string]string `json:"labels,omitempty"`
	Version string            `json:"version"`
	Epoch   string            `json:"epoch"` // of its engine: rows of others are left over
	States  map[api.State]int `json:"states,omitempty"`
	Failed  int               `json:"failed,omitempty"`
	RTTMS   float64           `json:"rtt_ms,omitempty"` // to the hub and back
	Gone    bool              `json:"gone,omitempty"`   // its engine has ended in order
}

// A processRow is the value of a session or process in ProcessesBucket.
type processRow struct {
	Epoch string `json:"epoch"`
	api.Process
}

// A presence is what a machine tells of itself.
type presence struct {
	user User
	host hostRow
	kick chan struct{} // something is to be written
	back chan struct{} // there is a connection again

	step, storedWait time.Duration // see Machine

	mu     sync.Mutex
	rows   map[string]processRow
	dirty  map[string]bool    // rows to be written, or, if they are gone, deleted
	sent   map[string]sending // rows of which the hub has not said yet that they are stored
	serial int64              // number of the last message sent; starts at a secret value

	numbers map[string]uint64 // stream sequence numbers of stored rows
	checked string            // the row to write only if it is still stored
}

// A sending is what was written of a row last.
type sending struct {
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
		step: cmp.Or(m.BeatStep, 5*time.Second), storedWait: cmp.Or(m.StoredWait, 8*time.Second),
		kick: make(chan struct{}, 1), back: make(chan struct{}, 1), rows: map[string]processRow{}, dirty: map[string]bool{}, sent: map[string]sending{}, numbers: map[string]uint64{},
	}
}

// nudge sends on a channel with room for one, which is enough.
func nudge(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (p *presence) reconnected() { nudge(p.back) }

// follow takes in what runs until ctx ends.
func (p *presence) follow(ctx context.Context, events func(context.Context, func(api.Event) error) error) {
	for ctx.Err() == nil {
		_ = events(ctx, p.take) // a reader that fell behind begins again
		_ = sleep.For(ctx, firstPause)
	}
}

func (p *presence) take(e api.Event) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e.Type {
	case api.EventSnapshot:
		for id := range p.rows {
			p.dirty[id] = true
		}
		clear(p.rows)
		for _, proc := range e.Processes {
			p.put(proc)
		}
	case api.EventProcess:
		p.put(*e.Process)
	case api.EventRemoved:
		delete(p.rows, e.ID)
		p.dirty[e.ID] = true
	default:
		return nil
	}
	nudge(p.kick)
	return nil
}

// put keeps the row of a process. The lock is held.
func (p *presence) put(proc api.Process) {
	row := processRow{p.host.Epoch, small(proc)}
	if was, ok := p.rows[proc.ID]; ok && !p.dirty[proc.ID] && reflect.DeepEqual(was, row) {
		return
	}
	p.rows[proc.ID] = row
	p.dirty[proc.ID] = true
}

// bounded is the beginning of a text that is long.
func bounded(text string) string {
	if len(text) <= shownText {
		return text
	}
	return strings.ToValidUTF8(text[:shownText], "") + "…"
}

// small is what of a process others see in a list.
func small(p api.Process) api.Process {
	if p.Kind != api.KindSession { // a shell that was left has not failed, whatever its exit status
		p.Argv = nil
	}
	if len(p.Command) > shownText {
		p.Command, p.Argv = bounded(p.Command), nil
	}
	var supervision *api.Supervision
	if s := p.Supervision; s != nil && (s.Restarts > 0 || s.Ready != nil) {
		supervision = &api.Supervision{Restart: s.Restart, Restarts: s.Restarts, Automatic: s.Automatic, Ready: s.Ready}
	}
	return api.Process{
		ID: p.ID, Kind: p.Kind, Name: p.Name, State: p.State, PID: p.PID, CWD: p.CWD, Command: p.Command, Argv: p.Argv, Actor: p.Actor, From: p.From,
		StartedAt: p.StartedAt, ExitedAt: p.ExitedAt, ExitCode: p.ExitCode, ExitSignal: p.ExitSignal, ExitUnknown: p.ExitUnknown,
		Error: bounded(p.Error), WaitsFor: p.WaitsFor, KeepAlive: p.KeepAlive, Supervision: supervision, Terminal: p.Terminal, Agent: p.Agent,
	}
}

// run writes until ctx ends, and says then that the machine goes.
func (p *presence) run(ctx context.Context, l *conn, checkEvery time.Duration) {
	check := time.NewTicker(checkEvery)
	defer check.Stop()
	beat := time.NewTimer(0)
	defer beat.Stop()
	refresh := time.NewTimer(refreshStep)
	defer refresh.Stop()
	beats := 0
	for {
		select {
		case <-ctx.Done():
			if l.now() == nil {
				p.host.Gone = true
				p.beat(l)
				_ = l.nats.FlushTimeout(lastWord)
			}
			return
		case <-p.back:
			p.beat(l)
			refresh.Reset(rand.N(spreadOut))
		case <-refresh.C:
			p.all()
			refresh.Reset(refreshStep)
		case <-beat.C:
			if beats%rttBeats == 0 {
				p.host.RTTMS = l.roundTrip()
			}
			beats++
			p.beat(l)
			p.again()
			beat.Reset(p.step - rand.N(p.step/5))
		case <-check.C:
			p.check()
		case <-p.kick:
			_ = sleep.For(ctx, settle)
		}
		p.flush(l)
	}
}

// all has all rows written again.
func (p *presence) all() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id := range p.rows {
		p.dirty[id] = true
	}
}

// beat writes the row of the machine. What cannot be written is written with the next
// connection.
func (p *presence) beat(l *conn) {
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

// storedSubject is where the hub says that rows are stored.
func (p *presence) storedSubject() string { return Inbox(KindMachine, p.user.Name) + ".stored." }

// stored takes in that a row is stored, which the server answers to each message that its
// streams take (https://docs.nats.io/reference/reference-protocols/nats_api_reference).
func (p *presence) stored(m *nats.Msg) {
	var answer struct {
		Stream string `json:"stream"`
		Seq    uint64 `json:"seq"`
		Error  *struct {
			Code int `json:"err_code"`
		} `json:"error"`
	}
	if json.Unmarshal(m.Data, &answer) != nil {
		return // it is written again
	}
	number, id, _ := strings.Cut(strings.TrimPrefix(m.Subject, p.storedSubject()), ".")
	p.mu.Lock()
	defer p.mu.Unlock()
	sent, waits := p.sent[id]
	switch {
	case !waits || number != strconv.FormatInt(sent.serial, 36): // or forged: members can direct replies to any inbox
	case answer.Error != nil && answer.Error.Code == wrongLastSequence:
		for id := range p.rows {
			p.dirty[id] = true
		}
		nudge(p.kick)
	case answer.Error == nil && answer.Stream != "":
		delete(p.sent, id)
		if _, there := p.rows[id]; there {
			p.numbers[id] = answer.Seq
		}
	}
}

// wrongLastSequence is the server's JSStreamWrongLastSequenceErr: the stored row is not the expected
// one.
const wrongLastSequence = 10071

// check queues one row, a different one each time, to be rewritten only if the hub still has it
// unchanged. If the hub rejects the write, the row was deleted or replaced.
func (p *presence) check() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id := range p.numbers { // in random order
		if _, sent := p.sent[id]; !sent && !p.dirty[id] {
			p.dirty[id], p.checked = true, id
			return
		}
	}
}

// again has those rows written again that should be stored by now.
func (p *presence) again() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, s := range p.sent {
		if !p.dirty[id] && time.Since(s.at) > s.wait {
			p.dirty[id] = true
			p.sent[id] = sending{s.serial, s.at, min(2*s.wait, refreshStep)}
		}
	}
}

// flush writes what has changed.
func (p *presence) flush(l *conn) {
	if l.now() != nil {
		return
	}
	messages := p.unsent()
	for _, m := range messages {
		_ = l.nats.PublishMsg(m) // a connection that is lost has all written again
	}
	if len(messages) > 0 {
		p.beat(l)
	}
}

// unsent makes messages of the rows to be written.
func (p *presence) unsent() []*nats.Msg {
	p.mu.Lock()
	defer p.mu.Unlock()
	dirty := p.dirty
	p.dirty = map[string]bool{}
	messages := make([]*nats.Msg, 0, len(dirty))
	now, answers := time.Now(), p.storedSubject()
	for id := range dirty {
		p.serial++
		p.sent[id] = sending{p.serial, now, max(p.sent[id].wait, p.storedWait)}
		m := nats.NewMsg("$KV." + ProcessesBucket + "." + p.user.Name + "." + id)
		m.Reply = answers + strconv.FormatInt(p.serial, 36) + "." + id
		if id == p.checked {
			m.Header.Set("Nats-Expected-Last-Subject-Sequence", strconv.FormatUint(p.numbers[id], 10))
		}
		delete(p.numbers, id) // until the new row is stored
		if row, ok := p.rows[id]; ok {
			m.Data, _ = json.Marshal(row) // texts and numbers
		} else {
			m.Header.Set("KV-Operation", "DEL")
		}
		messages = append(messages, m)
	}
	p.checked = ""
	return messages
}
