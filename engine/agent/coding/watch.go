package coding

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/panics"
	"tandem/engine/session/prompt"
	"tandem/engine/session/terminal"
	"tandem/engine/system/proctree"
	"tandem/engine/system/pty"
	"tandem/engine/workspace/files"
	"tandem/persist/store"
)

const (
	// inspectDelay is the time from a screen change to the inspection, and so the minimum time
	// between two inspections.
	inspectDelay = 100 * time.Millisecond
	// settleDelay is the time from the last screen change to a final inspection, because an agent may
	// write the file that its rule reads just after it updates the screen.
	settleDelay = time.Second
	// minFindInterval is the minimum time between searches for an agent while the foreground stays
	// the same.
	minFindInterval = time.Second
)

// A Terminal is the session to inspect.
type Terminal interface {
	IsReady(ctx context.Context) error
	Rows(ctx context.Context) ([]string, error)
	Facts() terminal.Facts
	Master() *os.File
	Gone() <-chan struct{}
}

// Options configures a Watch.
type Options struct {
	Library *Library
	Child   int // first process of the terminal
	BootID  string
	Home    string
	Confine func() error           // confines the calling thread like the session; nil: unconfined
	Before  *store.Agent           // state kept by an earlier engine
	Changed func(now *store.Agent) // called when an agent appears, disappears or changes state; must not block
	// OnEnd watches a process and calls ended when it exits, until stop is called. If OnEnd is nil,
	// exits are not watched.
	OnEnd func(who store.Identity, ended func()) (stop func())
	Log   *slog.Logger // for panics; may be nil
}

// A Watch tracks the agent of a session and its state. It inspects the session shortly after its
// screen changed or its agent's process exited, and otherwise never.
type Watch struct {
	o           Options
	terminal    Terminal
	inspectDue  atomic.Bool // an inspection is scheduled
	settleTimer *time.Timer // for the inspection after the last change
	lastTyped   atomic.Pointer[typedText]

	mu            sync.Mutex // held during an inspection
	rule          Rule
	rulesVersion  int // version of the library the rule is from
	agentState    *store.Agent
	fileCache     fileCache
	group         int            // foreground process group at the last search
	lastFind      time.Time      // time of the last search
	questionGone  bool           // the question was missing from the last screen
	exitProcess   store.Identity // process whose exit is watched
	stopExitWatch func()         // stops watching it; nil if it is not watched
}

// Start watches a session. The first inspection follows as soon as it is ready.
func Start(o Options, t Terminal) *Watch {
	w := &Watch{o: o, terminal: t, agentState: o.Before}
	w.settleTimer = time.AfterFunc(time.Hour, w.recoverPanics(w.inspect))
	w.settleTimer.Stop()
	w.NoteChange()
	return w
}

// readableTree returns the files the session's programs may read.
func (w *Watch) readableTree() *files.Tree { return &files.Tree{Confine: w.o.Confine} }

// NoteChange schedules an inspection, after a change of the screen or of what the program waits
// for. It does not block. w may be nil.
func (w *Watch) NoteChange() {
	if w != nil && w.terminal.Master() != nil && w.inspectDue.CompareAndSwap(false, true) {
		time.AfterFunc(inspectDelay, w.recoverPanics(w.inspectWhenDue))
	}
}

// recoverPanics returns look with its panics logged. Output of an agent that makes look panic then
// costs only one inspection.
func (w *Watch) recoverPanics(look func()) func() {
	return panics.Logged(w.o.Log, "inspect a coding agent", look)
}

func (w *Watch) inspectWhenDue() {
	w.inspectDue.Store(false)
	w.settleTimer.Reset(settleDelay)
	w.inspect()
}

// inspect updates the agent's state.
func (w *Watch) inspect() {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.watchExit()
	if isGone(w.terminal) {
		return
	}
	ctx := context.Background() // the session answers even while it closes
	if w.terminal.IsReady(ctx) != nil || isGone(w.terminal) {
		return
	}
	next, found := w.updateAgent()
	if next == nil {
		w.setAgent(nil)
		return
	}
	if !found { // known from a report only
		w.setAgent(next)
		return
	}
	rows, err := w.terminal.Rows(ctx)
	if err != nil {
		return
	}
	e, facts := Evidence{Rows: rows}, w.terminal.Facts()
	e.Title, e.Progress, e.Reads = facts.Title, facts.Progress, facts.Waiting != prompt.NeedNothing
	e.File = w.rule.readFile(w.readableTree(), &w.fileCache, w.o.Home, processOf(next))
	next.Cost = cmp.Or(w.rule.findCost(rows), next.Cost)
	words := w.rule.ApplyEvidence(next.Words, e, time.Now())
	if hasWord(next.Words, SourceScreen) && !hasWord(words, SourceScreen) && !w.questionGone {
		w.questionGone = true // the screen may be half drawn; look again
		w.NoteChange()
		return
	}
	w.questionGone = false
	next.Words = words
	if e.File != nil && e.File.Conversation != "" {
		next.Conversation = e.File.Conversation
	} else if next.Conversation == "" && w.rule.open != nil {
		next.Conversation = openConversation(w.rule.open, pty.GroupMembers(w.group, w.o.Child))
	}
	w.setAgent(next)
}

// watchExit watches for the exit of the agent's process, which may not change the screen.
func (w *Watch) watchExit() {
	var who store.Identity
	if w.agentState != nil && !isGone(w.terminal) {
		who = processOf(w.agentState)
	}
	if w.o.OnEnd == nil || who == w.exitProcess {
		return
	}
	if w.stopExitWatch != nil {
		w.stopExitWatch()
	}
	w.exitProcess, w.stopExitWatch = who, nil
	if who.PID != 0 {
		w.stopExitWatch = w.o.OnEnd(who, w.NoteChange)
	}
}

func isGone(t Terminal) bool {
	select {
	case <-t.Gone():
		return true
	default:
		return false
	}
}

func processOf(a *store.Agent) store.Identity {
	if a.Process == nil {
		return store.Identity{}
	}
	return *a.Process
}

// updateAgent returns a copy of the running agent's state, or nil without one. found reports
// whether the agent was recognized.
func (w *Watch) updateAgent() (next *store.Agent, found bool) {
	rules, number := w.o.Library.Rules()
	group, err := pty.Foreground(w.terminal.Master())
	if err != nil {
		return cloneAgent(w.agentState), false
	}
	// Fast paths: nothing relevant has changed since the last search.
	same := group == w.group && number == w.rulesVersion && time.Since(w.lastFind) < minFindInterval
	recognised := w.agentState != nil && w.agentState.Process != nil
	switch {
	case same && !recognised:
		return cloneAgent(w.agentState), false
	case group == w.group && number == w.rulesVersion && recognised && w.rule.Name != "" && isAlive(processOf(w.agentState)):
		return cloneAgent(w.agentState), true
	}
	w.group, w.rulesVersion, w.lastFind = group, number, time.Now()
	f, ok := findAgent(rules, group, w.o.Child, w.o.BootID)
	switch {
	case ok && recognised && processOf(w.agentState) == f.Who:
		w.rule = f.Rule
		next = cloneAgent(w.agentState)
		next.Name = f.Rule.Name
		return next, true
	case ok:
		w.rule = f.Rule
		return w.newAgent(f), true
	case recognised:
		return nil, false
	}
	return cloneAgent(w.agentState), false
}

// newAgent returns a new agent's state. Reports made before it was recognized are about it.
func (w *Watch) newAgent(f Found) *store.Agent {
	next := &store.Agent{Name: f.Rule.Name, Process: &f.Who}
	next.CWD, _ = os.Readlink("/proc/" + strconv.Itoa(f.Who.PID) + "/cwd")
	if w.agentState != nil && w.agentState.Process == nil {
		next.Words, next.Conversation = w.agentState.Words, w.agentState.Conversation
	}
	return next
}

func isAlive(who store.Identity) bool {
	p, ok := proctree.Read(who.PID)
	return ok && p.StartTime == who.StartTime && !p.IsZombie()
}

func cloneAgent(a *store.Agent) *store.Agent {
	if a == nil {
		return nil
	}
	c := *a
	return &c
}

// setAgent sets the agent's state, and announces a change.
func (w *Watch) setAgent(next *store.Agent) {
	if reflect.DeepEqual(next, w.agentState) {
		return
	}
	w.agentState = next
	w.o.Changed(next)
}

// currentAgent returns the agent's state, or nil.
func (w *Watch) currentAgent() *store.Agent {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.agentState
}

// takesLines reports whether the terminal passes input on line by line.
func (w *Watch) takesLines() bool {
	master := w.terminal.Master()
	return master != nil && pty.InspectForeground(master, w.o.Child).Canonical
}

// Report records a state reported by an agent or by a script for it. text is the question. An
// unknown state withdraws the last report, and "" keeps it.
func (w *Watch) Report(name string, state api.AgentState, text, conversation string) *store.Agent {
	w.inspect()
	w.mu.Lock()
	defer w.mu.Unlock()
	next := cloneAgent(w.agentState)
	if next == nil {
		next = &store.Agent{}
	}
	if name != "" && next.Process == nil {
		next.Name = name
	}
	if conversation != "" {
		next.Conversation = conversation
	}
	if state == "" {
		w.setAgent(next)
		return next
	}
	if Decide(next.Words).Source != SourceReport { // repeated after something else was seen: count it as new
		next.Words = updateWord(next.Words, store.AgentWord{Source: SourceReport}, false)
	}
	said := store.AgentWord{Source: SourceReport, State: string(state), Text: plainLine(text), At: time.Now()}
	next.Words = updateWord(next.Words, said, state != api.AgentUnknown)
	if len(next.Words) == 0 && next.Process == nil {
		next = nil
	}
	w.setAgent(next)
	return next
}

// MarkSeen records that the user has seen the agent's result. resultTime is the time of that
// result; if the agent's state has changed after it, MarkSeen does nothing.
func (w *Watch) MarkSeen(resultTime time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.agentState == nil || !Decide(w.agentState.Words).Since.Equal(resultTime) {
		return
	}
	next := cloneAgent(w.agentState)
	next.Seen = resultTime
	w.setAgent(next)
}
