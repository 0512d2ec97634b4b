package ui

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/outbox"
	"tandem/engine/api/wire"
	"tandem/keys"
	"tandem/panes"
	"tandem/panes/panestest"
)

// A fakeEngine keeps sessions in memory. Each is a program that prints a
// prompt and echoes what is typed, and that records it.
type fakeEngine struct {
	*panestest.Engine
	mu       *sync.Mutex // shared with its successors
	sessions []*fakeSession
	watchers map[chan api.Event]bool
	gone     chan struct{} // closed when the engine dies
	refuse   error         // what Start fails with
	late     bool          // what is started is told of after the answer
	started  []api.SessionStartInput
	asked    api.ProcessStartInput // of the last process
	history  fakeHistory
	layouts  *fakeLayouts
	calls    []string      // what was asked of processes
	changed  chan struct{} // of 1: a session has got input

	transfers     map[string]api.FileJob
	held          atomic.Pointer[held] // for the next transfer
	holding       *held
	trash         chan []api.TrashedFile // what was deleted, once that is asked for; nil for nothing
	looks         atomic.Bool            // for ever at what is in the way of a transfer, or in a file
	folderChanged chan struct{}          // has the watch of a folder tell of a change
	branch        string
	gitMarks      map[string]string
	gitAll        string // of all other entries
	dataDir       string // of bookmarks
	machines      map[string]*fakeEngine
	known         []api.Machine
	beyond        string // the first name that is one too many to list; "" for none
}

type fakeSession struct {
	mute    bool        // nothing that is asked for is answered, and no new size shown
	mu      *sync.Mutex // the engine's
	process api.Process
	engine  *fakeEngine
	typed   []byte
	texts   int   // inputs of several characters
	unsure  int64 // bytes of text that a lost attachment may have lost
	lines   []api.Line
	size    api.Size
	resized []api.Size
	bells   uint32
	mouse   keys.MouseMode
	alt     bool
	runs    string // in place of a shell at its prompt
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
	e := &fakeEngine{Engine: panestest.NewEngine(), mu: &sync.Mutex{}, layouts: &fakeLayouts{saved: map[string]api.Layout{}}, watchers: map[chan api.Event]bool{}, gone: make(chan struct{}), changed: make(chan struct{}, 1), folderChanged: make(chan struct{})}
	panestest.On(e.Engine, api.SessionStart, e.start)
	panestest.On(e.Engine, api.SessionRename, e.rename)
	panestest.On(e.Engine, api.SessionKeyboard, e.keyboard)
	panestest.On(e.Engine, api.SessionForeground, e.foreground)
	panestest.On(e.Engine, api.SessionKill, e.kill)
	panestest.On(e.Engine, api.SessionFind, e.find)
	panestest.On(e.Engine, api.SessionText, e.text)
	panestest.On(e.Engine, api.ProcessRemove, e.remove)
	panestest.On(e.Engine, api.ProcessList, e.listProcesses)
	panestest.On(e.Engine, api.ProcessLog, e.log)
	panestest.On(e.Engine, api.ProcessStart, e.startProcess)
	panestest.On(e.Engine, api.ProcessStop, e.stopProcess)
	panestest.On(e.Engine, api.ProcessRestart, e.restart)
	panestest.On(e.Engine, api.ProcessSignal, e.signal)
	panestest.On(e.Engine, api.ProcessUpdate, e.updateProcess)
	panestest.On(e.Engine, api.RequestAnswer, e.answer)
	panestest.On(e.Engine, api.LayoutGet, e.getLayouts)
	panestest.On(e.Engine, api.LayoutPut, e.putLayout)
	panestest.On(e.Engine, api.LayoutRemove, e.removeLayout)
	panestest.On(e.Engine, api.HistorySearch, e.searchHistory)
	panestest.On(e.Engine, api.HistoryRemove, e.removeHistory)
	panestest.On(e.Engine, api.HistorySave, e.saveHistory)
	panestest.On(e.Engine, api.HistoryLoad, e.loadHistory)
	return e
}

var errGone = api.Errorf(api.CodeUnavailable, "the engine is gone")

// die breaks every connection; what there was goes on in next.
func (e *fakeEngine) die() (next *fakeEngine) {
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
	return next
}

func (e *fakeEngine) Watch(ctx context.Context) iter.Seq2[api.Event, error] {
	return func(yield func(api.Event, error) bool) {
		c := make(chan api.Event, 1000)
		e.mu.Lock()
		e.watchers[c] = true
		snapshot := api.Event{Type: api.EventSnapshot, Info: &api.Info{DataDir: e.dataDir}, Layout: e.layouts.current, Revision: e.layouts.revision}
		for _, s := range e.sessions {
			snapshot.Processes = append(snapshot.Processes, s.process)
		}
		e.mu.Unlock()
		if !yield(snapshot, nil) {
			return
		}
		for {
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

func (e *fakeEngine) tell(ev api.Event) {
	for c := range e.watchers {
		c <- ev
	}
}

// add makes a session that already running.
func (e *fakeEngine) add(name string, lines ...string) *fakeSession {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.make(name, lines)
}

func (e *fakeEngine) make(name string, lines []string) *fakeSession {
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

func (e *fakeEngine) start(_ context.Context, in api.SessionStartInput) (api.Process, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.refuse != nil {
		return api.Process{}, e.refuse
	}
	e.started = append(e.started, in)
	s := e.make(fmt.Sprintf("bash-%d", len(e.sessions)+1), []string{"$ "})
	s.process.CWD = in.CWD
	if in.ID != "" {
		s.process.ID = in.ID
	}
	p := s.process // as it is now
	e.tell(api.Event{Type: api.EventProcess, Process: &p})
	return s.process, nil
}

func (e *fakeEngine) session(id string) (*fakeSession, error) {
	for _, s := range e.sessions {
		if s.process.ID == id {
			return s, nil
		}
	}
	return nil, api.Errorf(api.CodeNotFound, "find session %q: there is none", id)
}

func (e *fakeEngine) rename(_ context.Context, in api.SessionRenameInput) (api.Process, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s, err := e.session(in.ID)
	if err != nil {
		return api.Process{}, err
	}
	s.process.Name = in.Name
	p := s.process
	e.tell(api.Event{Type: api.EventProcess, Process: &p})
	return p, nil
}

func (e *fakeEngine) keyboard(_ context.Context, in api.SessionKeyboardInput) (api.Process, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s, err := e.session(in.ID)
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
	e.tell(api.Event{Type: api.EventProcess, Process: &p})
	return p, nil
}

func (e *fakeEngine) foreground(_ context.Context, in api.IDInput) (api.SessionForegroundOutput, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s, err := e.session(in.ID)
	if err != nil {
		return api.SessionForegroundOutput{}, err
	}
	return api.SessionForegroundOutput{Prompt: s.runs == "", Program: s.runs}, nil
}

func (e *fakeEngine) kill(_ context.Context, in api.IDInput) (api.Process, error) {
	e.mu.Lock()
	s, err := e.session(in.ID)
	e.mu.Unlock()
	if err != nil {
		return api.Process{}, err
	}
	s.end(api.StateStopped, nil)
	return s.process, nil
}

func (e *fakeEngine) remove(_ context.Context, in api.IDInput) (api.Empty, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, s := range e.sessions {
		if s.process.ID == in.ID {
			e.sessions = append(e.sessions[:i:i], e.sessions[i+1:]...)
			e.tell(api.Event{Type: api.EventRemoved, ID: in.ID})
			return api.Empty{}, nil
		}
	}
	return api.Empty{}, api.Errorf(api.CodeNotFound, "find session %q: there is none", in.ID)
}

func (e *fakeEngine) Attach(_ context.Context, o api.AttachOptions) (panes.Attachment, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	select {
	case <-e.gone:
		return nil, errGone
	default:
	}
	s, err := e.session(o.ID)
	if err != nil {
		return nil, err
	}
	if o.Cols > 0 && len(s.viewers) == 0 {
		s.size = api.Size{Cols: o.Cols, Rows: o.Rows}
	}
	v := &fakeViewer{session: s, wake: make(chan struct{}, 1)}
	s.viewers[v] = true
	v.push(api.Output{Frame: s.frame(true)})
	if o.Lines.Count > 0 {
		v.push(api.Output{Lines: s.scrollback(o.Lines)})
	}
	if s.process.State.Ended() {
		p := s.process
		v.push(api.Output{Ended: &p})
	}
	return v, nil
}

func (s *fakeSession) scrollback(r api.LineRange) (lines []api.NumberedLine) {
	for n := r.From; n < min(r.From+int64(r.Count), int64(len(s.old))); n++ {
		lines = append(lines, api.NumberedLine{N: n, Line: s.old[n]})
	}
	return lines
}

// end ends a session's program.
func (s *fakeSession) end(state api.State, code *int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process.State, s.process.ExitCode, s.process.PID = state, code, 0
	p := s.process
	for v := range s.viewers {
		v.push(api.Output{Ended: &p})
	}
	s.engine.tell(api.Event{Type: api.EventProcess, Process: &p})
}

// frame is the whole screen: what was there and what was typed behind it.
func (s *fakeSession) frame(full bool) *api.Frame {
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

func (s *fakeSession) show() {
	for v := range s.viewers {
		v.push(api.Output{Frame: s.frame(false)})
	}
}

// print replaces the session's screen.
func (s *fakeSession) print(lines ...api.Line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = lines
	s.show()
}

func (s *fakeSession) input() string {
	s.mu.Lock()
	defer s.mu.Unlock()
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

func (v *fakeViewer) push(out api.Output) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if n := len(v.queue); n > 0 && out.Frame != nil && v.queue[n-1].Frame != nil {
		out.Frame.Full = out.Frame.Full || v.queue[n-1].Frame.Full
		v.queue[n-1] = out
	} else {
		v.queue = append(v.queue, out)
	}
	ring(v.wake)
}

func (v *fakeViewer) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.queue, v.ended = nil, true
	ring(v.wake)
}

func (v *fakeViewer) SendFrom(o *outbox.Outbox, first ...api.Input) (unsure int64) {
	out, _ := o.Connect(v.take, outbox.Arrived{}, first...)
	v.sending.Lock()
	v.out = out
	v.sending.Unlock()
	v.take()
	return v.session.unsure
}

// take sends what is queued.
func (v *fakeViewer) take() {
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
	defer ring(s.engine.changed)
	v.mu.Lock()
	ended := v.ended
	v.mu.Unlock()
	if ended {
		return errGone
	}
	switch {
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
		s.show()
		v.push(api.Output{Lines: s.scrollback(*in.Lines)})
	}
	s.show()
	return nil
}
