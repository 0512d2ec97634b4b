package ui

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/outbox"
	"tandem/engine/api/wire"
	"tandem/keys"
	"tandem/panes"
	"tandem/panes/panestest"
)

// A fakeEngine keeps sessions in memory. Each is a program that prints a prompt, echoes
// its input and records it.
type fakeEngine struct {
	*panestest.Engine
	*panestest.Files
	mu       *sync.Mutex // shared with its successors
	sessions []*fakeSession
	watchers map[chan api.Event]bool
	next     *fakeEngine   // took over when this one was killed; nil before
	gone     chan struct{} // closed when the engine dies
	refuse   error         // the error of the next starts
	late     bool          // the event of a start follows the answer
	started  []api.SessionStartInput
	asked    api.ProcessStartInput // input of the last start of a process
	history  *panestest.History
	layouts  *panestest.Layouts
	calls    []string      // operations on processes
	changed  chan struct{} // capacity 1; a session received input

	dataDir  string // contains the bookmarks
	machines map[string]*fakeEngine
	known    []api.Machine
}

type fakeSession struct {
	mute    bool        // answers nothing and adopts no new size
	exited  bool        // at least once
	mu      *sync.Mutex // the engine's
	process api.Process
	engine  *fakeEngine
	typed   []byte
	pty     fakePTY
	texts   int         // inputs of several characters
	loss    outbox.Loss // with the former attachment
	lines   []api.Line
	size    api.Size
	resized []api.Size
	bells   uint32
	mouse   keys.MouseMode
	alt     bool
	runs    string // foreground program; "" is a shell at its prompt
	noPaste bool   // the program has not asked for bracketed pastes
	asked   []api.LineRange
	mice    []keys.Mouse
	focus   []bool
	display []api.Display
	old     []api.Line // scrollback
	metrics *api.Metrics
	log     string
	printed chan struct{} // closed when the log grows
	viewers map[*fakeViewer]bool
}

func newFakeEngine() *fakeEngine {
	e := &fakeEngine{Engine: panestest.NewEngine(), Files: panestest.NewFiles(), history: &panestest.History{}, mu: &sync.Mutex{}, layouts: &panestest.Layouts{}, watchers: map[chan api.Event]bool{}, gone: make(chan struct{}), changed: make(chan struct{}, 1)}
	panestest.On(e.Engine, api.SessionStart, e.startSession)
	panestest.On(e.Engine, api.SessionRename, e.renameSession)
	panestest.On(e.Engine, api.SessionKeyboard, e.setKeyboard)
	panestest.On(e.Engine, api.SessionForeground, e.getForeground)
	panestest.On(e.Engine, api.SessionInsert, e.insertCommand)
	panestest.On(e.Engine, api.SessionKill, e.killSession)
	panestest.On(e.Engine, api.SessionFind, e.findText)
	panestest.On(e.Engine, api.SessionText, e.copyText)
	panestest.On(e.Engine, api.ProcessRemove, e.removeProcess)
	panestest.On(e.Engine, api.ProcessList, e.listProcesses)
	panestest.On(e.Engine, api.ProcessLog, e.readLog)
	panestest.On(e.Engine, api.ProcessStart, e.startProcess)
	panestest.On(e.Engine, api.ProcessStop, e.stopProcess)
	panestest.On(e.Engine, api.ProcessRestart, e.restartProcess)
	panestest.On(e.Engine, api.ProcessSignal, e.signalProcess)
	panestest.On(e.Engine, api.ProcessUpdate, e.updateProcess)
	panestest.On(e.Engine, api.RequestAnswer, e.answerRequest)
	e.layouts.Serve(e.Engine, e.publish)
	e.history.Serve(e.Engine, e.publish, func(call string) { e.recordCall("%s", call) })
	return e
}

var errGone = api.Errorf(api.CodeUnavailable, "the engine is gone")

// killEngine breaks every connection. next is the engine that takes its place, with the same
// sessions, processes and history.
func (e *fakeEngine) killEngine() (next *fakeEngine) {
	next = e.makeSuccessor()
	next.layouts.Serve(next.Engine, next.publish)
	next.history.Serve(next.Engine, next.publish, func(call string) { next.recordCall("%s", call) })
	return next
}

func (e *fakeEngine) makeSuccessor() (next *fakeEngine) {
	e.mu.Lock()
	defer e.mu.Unlock()
	close(e.gone)
	next = newFakeEngine()
	next.mu = e.mu
	for _, s := range e.sessions {
		for v := range s.viewers {
			v.end()
		}
		s.viewers = map[*fakeViewer]bool{}
		s.engine = next
	}
	next.sessions, next.history, next.layouts = e.sessions, e.history, e.layouts
	e.next = next
	return next
}

func (e *fakeEngine) Watch(ctx context.Context) iter.Seq2[api.Event, error] {
	return func(yield func(api.Event, error) bool) {
		c := make(chan api.Event, 1000)
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		following := map[*fakeEngine]bool{}
		e.mu.Lock()
		e.watchers[c] = true
		snapshot := api.Event{Type: api.EventSnapshot, Machines: e.known, Info: &api.Info{DataDir: e.dataDir}}
		snapshot.Layout, snapshot.Revision = e.layouts.Current()
		for _, s := range e.sessions {
			snapshot.Processes = append(snapshot.Processes, s.process)
		}
		e.mu.Unlock()
		if !yield(snapshot, nil) {
			return
		}
		for {
			e.follow(ctx, c, following)
			select {
			case ev := <-c:
				if !yield(ev, nil) {
					return
				}
			case <-e.gone:
				yield(api.Event{}, errGone)
				return
			case <-ctx.Done():
				yield(api.Event{}, ctx.Err())
				return
			}
		}
	}
}

// publish announces an event. The caller must not hold the lock.
func (e *fakeEngine) publish(ev api.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.announce(ev)
}

func (e *fakeEngine) announce(ev api.Event) {
	for c := range e.watchers {
		c <- ev
	}
}

// addSession creates a session that is already running.
func (e *fakeEngine) addSession(name string, lines ...string) *fakeSession {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.makeSession(name, lines)
}

func (e *fakeEngine) makeSession(name string, lines []string) *fakeSession {
	n := len(e.sessions) + 1
	s := &fakeSession{
		mu: e.mu, engine: e,
		process: api.Process{
			ID: fmt.Sprintf("%012x", n), Kind: api.KindSession, Name: name, State: api.StateRunning, PID: 100 + n,
			CWD: "/home/ann/src", Command: "bash", Argv: []string{"bash"}, Actor: "person",
			StartedAt: time.Unix(int64(n), 0), Terminal: &api.Terminal{Cols: 80, Rows: 24},
		},
		size:    api.Size{Cols: 80, Rows: 24},
		viewers: map[*fakeViewer]bool{},
	}
	for _, l := range lines {
		s.lines = append(s.lines, plainLine(l))
	}
	e.sessions = append(e.sessions, s)
	return s
}

func plainLine(text string) api.Line {
	return api.Line{Runs: []api.Run{{Text: text, Cells: len([]rune(text))}}}
}

func (e *fakeEngine) startSession(_ context.Context, in api.SessionStartInput) (api.Process, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for e.next != nil { // the client repeats a call that a killed engine has not answered
		e = e.next
	}
	if e.refuse != nil {
		return api.Process{}, e.refuse
	}
	e.started = append(e.started, in)
	s := e.makeSession(fmt.Sprintf("bash-%d", len(e.sessions)+1), []string{"$ "})
	s.process.CWD = in.CWD
	if in.ID != "" {
		s.process.ID = in.ID
	}
	p := s.process // its current state
	e.announce(api.Event{Type: api.EventProcess, Process: &p})
	return s.process, nil
}

func (e *fakeEngine) findSession(id string) (*fakeSession, error) {
	for _, s := range e.sessions {
		if s.process.ID == id {
			return s, nil
		}
	}
	return nil, api.Errorf(api.CodeNotFound, "find session %q: there is none", id)
}

func (e *fakeEngine) renameSession(_ context.Context, in api.SessionRenameInput) (api.Process, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s, err := e.findSession(in.ID)
	if err != nil {
		return api.Process{}, err
	}
	s.process.Name = in.Name
	p := s.process
	e.announce(api.Event{Type: api.EventProcess, Process: &p})
	return p, nil
}

func (e *fakeEngine) setKeyboard(_ context.Context, in api.SessionKeyboardInput) (api.Process, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s, err := e.findSession(in.ID)
	if err != nil {
		return api.Process{}, err
	}
	t := *s.process.Terminal
	t.Open = in.Open
	if t.Keyboard = ""; in.Take {
		t.Keyboard = "dashboard"
	}
	s.process.Terminal = &t
	p := s.process
	e.announce(api.Event{Type: api.EventProcess, Process: &p})
	return p, nil
}

func (e *fakeEngine) getForeground(_ context.Context, in api.IDInput) (api.SessionForegroundOutput, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s, err := e.findSession(in.ID)
	if err != nil {
		return api.SessionForegroundOutput{}, err
	}
	return api.SessionForegroundOutput{Prompt: s.runs == "", Program: s.runs}, nil
}

func (e *fakeEngine) insertCommand(_ context.Context, in api.SessionInsertInput) (api.Empty, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s, err := e.findSession(in.ID)
	if err != nil {
		return api.Empty{}, err
	}
	text := keys.InsertionText(in.Text)
	if s.noPaste && !in.Lines && strings.Contains(text, "\n") {
		return api.Empty{}, api.Errorf(api.CodeConflict, "insert lines: the program may run each line").WithReason(api.ReasonRunsLines)
	}
	s.readPTY()
	s.typed = append(s.typed, text...)
	s.pushFrame()
	notifyChan(e.changed)
	return api.Empty{}, nil
}

func (e *fakeEngine) killSession(_ context.Context, in api.IDInput) (api.Process, error) {
	e.mu.Lock()
	s, err := e.findSession(in.ID)
	e.mu.Unlock()
	if err != nil {
		return api.Process{}, err
	}
	s.exitWith(api.StateStopped, nil)
	return s.process, nil
}

func (e *fakeEngine) removeProcess(_ context.Context, in api.IDInput) (api.Empty, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, s := range e.sessions {
		if s.process.ID == in.ID {
			e.sessions = append(e.sessions[:i:i], e.sessions[i+1:]...)
			e.announce(api.Event{Type: api.EventRemoved, ID: in.ID})
			return api.Empty{}, nil
		}
	}
	return api.Empty{}, api.Errorf(api.CodeNotFound, "find session %q: there is none", in.ID)
}

func (e *fakeEngine) Attach(ctx context.Context, o api.AttachOptions) (panes.Attachment, error) {
	if machine, id := api.MachineOf(o.ID); machine != "" {
		far, err := e.reach(machine)
		if err != nil {
			return nil, err
		}
		o.ID = id
		return far.Attach(ctx, o)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	select {
	case <-e.gone:
		return nil, errGone
	default:
	}
	s, err := e.findSession(o.ID)
	if err != nil {
		return nil, err
	}
	if o.Cols > 0 && len(s.viewers) == 0 {
		s.size = api.Size{Cols: o.Cols, Rows: o.Rows}
	}
	v := &fakeViewer{session: s, wake: make(chan struct{}, 1)}
	s.viewers[v] = true
	v.pushOutput(api.Output{Frame: s.makeFrame(true)})
	if o.Master {
		v.pushOutput(api.Output{Master: &api.Master{}})
	}
	if o.Lines.Count > 0 {
		v.pushOutput(api.Output{Lines: s.readScrollback(o.Lines)})
	}
	if s.process.State.Ended() {
		p := s.process
		v.pushOutput(api.Output{Ended: &p})
	}
	return v, nil
}

func (s *fakeSession) readScrollback(r api.LineRange) (lines []api.NumberedLine) {
	for n := r.From; n < min(r.From+int64(r.Count), int64(len(s.old))); n++ {
		lines = append(lines, api.NumberedLine{N: n, Line: s.old[n]})
	}
	return lines
}

// exitWith makes a session's program exit.
func (s *fakeSession) exitWith(state api.State, code *int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process.State, s.process.ExitCode, s.process.PID, s.exited = state, code, 0, true
	p := s.process
	for v := range s.viewers {
		v.pushOutput(api.Output{Ended: &p})
	}
	s.engine.announce(api.Event{Type: api.EventProcess, Process: &p})
}

// makeFrame returns the whole screen: the printed lines and the input echoed after them.
func (s *fakeSession) makeFrame(full bool) *api.Frame {
	lines := append([]api.Line(nil), s.lines...)
	text := string(s.typed)
	x := 0
	if n := len(lines) - 1; n >= 0 && len(lines[n].Runs) > 0 {
		last := lines[n].Runs[len(lines[n].Runs)-1].Text
		tail := text[strings.LastIndexByte(text, '\r')+1:]
		tail = tail[max(len(tail)-max(s.size.Cols-10, 0), 0):]
		lines[n] = plainLine(strings.TrimRight(last, "") + tail)
		x = lines[n].Runs[0].Cells
	}
	f := &api.Frame{
		Full: full, Cols: s.size.Cols, Rows: s.size.Rows, Alt: s.alt, First: int64(len(s.old)), Mouse: s.mouse, Bells: s.bells,
		Cursor: api.Cursor{X: x, Y: max(len(lines)-1, 0), Visible: true},
	}
	for y := range s.size.Rows {
		l := api.NumberedLine{N: f.First + int64(y)}
		if y < len(lines) {
			l.Line = lines[y]
		}
		f.Lines = append(f.Lines, l)
	}
	return f
}

func (s *fakeSession) pushFrame() {
	for v := range s.viewers {
		v.pushOutput(api.Output{Frame: s.makeFrame(false)})
	}
}

// printLines replaces the session's screen.
func (s *fakeSession) printLines(lines ...api.Line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = lines
	s.pushFrame()
}

func (s *fakeSession) typedText() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readPTY()
	return string(s.typed)
}

// A fakeViewer is an attachment to a fakeSession.
type fakeViewer struct {
	session *fakeSession
	mu      sync.Mutex
	queue   []api.Output
	ended   bool
	wake    chan struct{}

	sending sync.Mutex
	out     *outbox.Sender
}

func (v *fakeViewer) pushOutput(out api.Output) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if n := len(v.queue); n > 0 && out.Frame != nil && v.queue[n-1].Frame != nil {
		out.Frame.Full = out.Frame.Full || v.queue[n-1].Frame.Full
		v.queue[n-1] = out
	} else {
		v.queue = append(v.queue, out)
	}
	notifyChan(v.wake)
}

func (v *fakeViewer) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.queue, v.ended = nil, true
	notifyChan(v.wake)
}

func (v *fakeViewer) SendFrom(o *outbox.Outbox, first ...api.Input) outbox.Loss {
	out, _ := o.Connect(v.sendQueued, api.InputState{}, first...)
	v.sending.Lock()
	v.out = out
	v.sending.Unlock()
	v.sendQueued()
	return v.session.loss
}

// sendQueued sends the queued input.
func (v *fakeViewer) sendQueued() {
	v.sending.Lock()
	defer v.sending.Unlock()
	if v.out == nil {
		return
	}
	batch, _ := v.out.Take()
	for i, msg := range batch {
		in, err := wire.DecodeInput(msg)
		if err != nil {
			panic(err)
		}
		if v.send(in) != nil {
			v.out.Return(batch[i:])
			return
		}
		v.out.Sent(msg)
	}
}

func (v *fakeViewer) Receive() (api.Output, error) {
	for {
		v.mu.Lock()
		if len(v.queue) > 0 {
			out := v.queue[0]
			v.queue = v.queue[1:]
			v.mu.Unlock()
			return out, nil
		}
		ended := v.ended
		v.mu.Unlock()
		if ended {
			if v.out != nil {
				v.out.Lose()
			}
			return api.Output{}, errGone
		}
		<-v.wake
	}
}

func (v *fakeViewer) Close() error {
	v.session.mu.Lock()
	delete(v.session.viewers, v)
	v.session.mu.Unlock()
	v.end()
	if v.out != nil {
		v.out.Close()
	}
	return nil
}

func (v *fakeViewer) send(in api.Input) error {
	s := v.session
	s.mu.Lock()
	defer s.mu.Unlock()
	defer notifyChan(s.engine.changed)
	v.mu.Lock()
	ended := v.ended
	v.mu.Unlock()
	if ended {
		return errGone
	}
	s.readPTY()
	switch {
	case in.Master:
		s.lendMaster(v)
	case in.Bytes != nil:
		s.typed = append(s.typed, in.Bytes...)
		s.texts++
	case in.Key != nil:
		s.typed = keys.Encode(s.typed, *in.Key, keys.Modes{})
	case in.Paste != nil:
		s.typed = append(s.typed, *in.Paste...)
	case in.Mouse != nil:
		s.mice = append(s.mice, *in.Mouse)
	case in.Focus != nil:
		s.focus = append(s.focus, *in.Focus)
	case in.Display != nil:
		s.display = append(s.display, *in.Display)
	case in.Resize != nil:
		s.resized = append(s.resized, *in.Resize)
		if in.Resize.Cols > 0 {
			s.size = *in.Resize
		}
		if s.mute {
			return nil
		}
	case in.Lines != nil:
		s.asked = append(s.asked, *in.Lines)
		if s.mute {
			return nil
		}
		s.pushFrame()
		v.pushOutput(api.Output{Lines: s.readScrollback(*in.Lines)})
	}
	s.pushFrame()
	return nil
}

func notifyChan(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
