// Package enginetest says what the dashboard relies on in an engine, as tests. The
// engine that the dashboard's own tests use keeps everything in memory; these
// tests hold it to what the real one does.
package enginetest

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/outbox"
	"tandem/keys"
	"tandem/panes"
)

// limit bounds how long something that must come is waited for.
const limit = 20 * time.Second

// A Subject is an engine with nothing in it, and what the tests cannot do through
// the interface of the dashboard.
type Subject struct {
	Engine panes.Engine
	Echo   []string // a command that prints a prompt, then what is typed
	// Printer gives a command that runs until it is stopped, and a function that
	// has it print.
	Printer func(t *testing.T) (command []string, print func(text string))
	// Ran records a run of a command.
	Ran func(t *testing.T, command string, code int)
}

// Run runs the tests, each with an engine of its own.
func Run(t *testing.T, open func(*testing.T) Subject) {
	for name, test := range map[string]func(*suite){
		"events":             (*suite).events,
		"unknown ids":        (*suite).unknown,
		"screens":            (*suite).screens,
		"ended sessions":     (*suite).ended,
		"the keyboard":       (*suite).keyboard,
		"search and text":    (*suite).scrollback,
		"processes":          (*suite).processes,
		"logs":               (*suite).logs,
		"layouts":            (*suite).layouts,
		"history":            (*suite).history,
		"files":              (*suite).files,
		"transfers of files": (*suite).transfers,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			t.Cleanup(cancel)
			test(&suite{t, open(t), ctx})
		})
	}
}

type suite struct {
	*testing.T
	Subject
	ctx context.Context
}

// ok ends the test on an error.
func (s *suite) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// code wants an error with a code.
func (s *suite) code(want api.Code, err error) {
	s.Helper()
	var e *api.Error
	if !errors.As(err, &e) || e.Code != want {
		s.Errorf("the error is %v, not one with code %s", err, want)
	}
}

func (s *suite) start() api.Process {
	s.Helper()
	p, err := api.SessionStart.Call(s.ctx, s.Engine, api.SessionStartInput{Command: s.Echo, CWD: s.TempDir(), Cols: 40, Rows: 10})
	s.ok(err)
	return p
}

// events is what an engine tells of.
type events struct {
	*suite
	next func() (api.Event, error, bool)
}

func (s *suite) watch() events {
	next, stop := iter.Pull2(s.Engine.Watch(s.ctx))
	s.Cleanup(stop)
	e := events{s, next}
	first, err, _ := e.next()
	s.ok(err)
	if first.Type != api.EventSnapshot || first.Info == nil {
		s.Fatalf("the first event is %+v, no snapshot", first)
	}
	return e
}

// until is the first event that is meant.
func (e events) until(what string, meant func(api.Event) bool) api.Event {
	e.Helper()
	for {
		ev, err, more := e.next()
		if err != nil || !more {
			e.Fatalf("waiting for the event of %s: %v", what, err)
		}
		if meant(ev) {
			return ev
		}
	}
}

// process is the first event of a process that is as meant.
func (e events) process(id, what string, meant func(api.Process) bool) {
	e.Helper()
	e.until(what, func(ev api.Event) bool {
		return ev.Type == api.EventProcess && ev.Process.ID == id && meant(*ev.Process)
	})
}

func (s *suite) events() {
	watch := s.watch()
	p := s.start()
	if p.Kind != api.KindSession || p.Terminal == nil || p.State.Ended() {
		s.Errorf("started: %+v", p)
	}
	watch.process(p.ID, "the start", func(api.Process) bool { return true })

	renamed, err := api.SessionRename.Call(s.ctx, s.Engine, api.SessionRenameInput{ID: p.ID, Name: "letters"})
	s.ok(err)
	if renamed.Name != "letters" {
		s.Errorf("it is called %q", renamed.Name)
	}
	watch.process(p.ID, "the new name", func(p api.Process) bool { return p.Name == "letters" })

	_, err = api.SessionKill.Call(s.ctx, s.Engine, api.IDInput{ID: p.ID})
	s.ok(err)
	watch.process(p.ID, "the end", func(p api.Process) bool { return p.State.Ended() })

	s.ok(api.ProcessRemove.Run(s.ctx, s.Engine, api.IDInput{ID: p.ID}))
	watch.until("the removal", func(ev api.Event) bool { return ev.Type == api.EventRemoved && ev.ID == p.ID })
	s.code(api.CodeNotFound, api.ProcessRemove.Run(s.ctx, s.Engine, api.IDInput{ID: p.ID}))
}

func (s *suite) unknown() {
	const id = "ffffffffffff"
	e, ctx := s.Engine, s.ctx
	_, attach := e.Attach(ctx, api.AttachOptions{ID: id})
	_, rename := api.SessionRename.Call(ctx, e, api.SessionRenameInput{ID: id, Name: "letters"})
	_, keyboard := api.SessionKeyboard.Call(ctx, e, api.SessionKeyboardInput{ID: id, Take: true})
	_, kill := api.SessionKill.Call(ctx, e, api.IDInput{ID: id})
	_, log := api.ProcessLog.Call(ctx, e, api.ProcessLogInput{ID: id})
	_, find := api.SessionFind.Call(ctx, e, api.SessionFindInput{ID: id, Pattern: api.Pattern{Text: "x"}})
	_, text := api.SessionText.Call(ctx, e, api.SessionTextInput{ID: id})
	keep := true
	for _, err := range []error{attach, rename, keyboard, kill, log, find, text, api.ProcessRemove.Run(ctx, e, api.IDInput{ID: id}), api.ProcessRestart.Run(ctx, e, api.ProcessRestartInput{ID: id}),
		api.ProcessStop.Run(ctx, e, api.ProcessStopInput{ID: id}),
		api.ProcessSignal.Run(ctx, e, api.ProcessSignalInput{ID: id, Signal: "TERM"}),
		api.ProcessUpdate.Run(ctx, e, api.ProcessUpdateInput{ID: id, KeepAlive: &keep})} {
		s.code(api.CodeNotFound, err)
	}
}

// A viewer is an attachment with the screen as it has shown it so far.
type viewer struct {
	*suite
	panes.Attachment
	input  *outbox.Outbox
	screen map[int64]string
	last   *api.Frame
}

func (s *suite) attach(o api.AttachOptions) *viewer {
	s.Helper()
	a, err := s.Engine.Attach(s.ctx, o)
	s.ok(err)
	s.Cleanup(func() { a.Close() })
	v := &viewer{suite: s, Attachment: a, input: new(outbox.Outbox), screen: map[int64]string{}}
	a.SendFrom(v.input)
	first := v.until("the first frame", func(out api.Output) bool { return out.Frame != nil })
	if f := first.Frame; !f.Full || len(f.Lines) != f.Rows {
		s.Errorf("the first frame has %d of %d lines (full: %v)", len(f.Lines), f.Rows, f.Full)
	}
	return v
}

// until is the first output that is meant.
func (v *viewer) until(what string, meant func(api.Output) bool) api.Output {
	v.Helper()
	for {
		out, err := v.Receive()
		if err != nil {
			v.Fatalf("waiting for %s: %v; shown is %v", what, err, v.screen)
		}
		if f := out.Frame; f != nil {
			v.show(f)
		}
		if meant(out) {
			return out
		}
	}
}

func (v *viewer) show(f *api.Frame) {
	if f.Full {
		clear(v.screen)
	}
	v.last = f
	for _, l := range f.Lines {
		v.screen[l.N] = lineText(l.Line)
	}
}

func lineText(l api.Line) string {
	var b strings.Builder
	for _, r := range l.Runs {
		b.WriteString(r.Text)
	}
	return strings.TrimRight(b.String(), " ")
}

// shows waits until a line of the screen has a text.
func (v *viewer) shows(text string) {
	v.Helper()
	has := func() bool {
		for _, l := range v.screen {
			if strings.Contains(l, text) {
				return true
			}
		}
		return false
	}
	if !has() {
		v.until("the screen with "+text, func(api.Output) bool { return has() })
	}
}

func (v *viewer) types(text string) {
	v.Helper()
	for _, r := range text {
		v.ok(v.input.Send(api.Input{Key: &keys.Key{Code: keys.Code(r), Text: string(r)}}))
	}
}

func (s *suite) screens() {
	p := s.start()
	v := s.attach(api.AttachOptions{ID: p.ID, Cols: 40, Rows: 10})
	v.shows("$")
	v.types("hello")
	v.shows("hello")

	other := s.attach(api.AttachOptions{ID: p.ID, Lines: api.LineRange{From: 0, Count: 5}})
	other.shows("hello")
	s.ok(v.input.Send(api.Input{Resize: &api.Size{Cols: 50, Rows: 12}}))
	v.until("the new size", func(out api.Output) bool { return out.Frame != nil && out.Frame.Cols == 50 && out.Frame.Rows == 12 })
	paste := "pasted"
	s.ok(v.input.Send(api.Input{Paste: &paste}))
	other.shows("pasted")

	s.ok(v.Close())
	if _, err := v.Receive(); err == nil {
		s.Error("a closed attachment receives more")
	}
	if v.input.Connected() {
		s.Error("a closed attachment takes input")
	}
	other.types("still")
	other.shows("still")
}

func (s *suite) ended() {
	p := s.start()
	v := s.attach(api.AttachOptions{ID: p.ID, Cols: 40, Rows: 10})
	v.shows("$")
	killed, err := api.SessionKill.Call(s.ctx, s.Engine, api.IDInput{ID: p.ID})
	s.ok(err)
	if !killed.State.Ended() {
		s.Errorf("killed, it is %s", killed.State)
	}
	isEnd := func(out api.Output) bool { return out.Ended != nil && out.Ended.State.Ended() }
	v.until("the end", isEnd)
	again := s.attach(api.AttachOptions{ID: p.ID})
	again.shows("$")
	again.until("the end, told again", isEnd)
}

func (s *suite) keyboard() {
	p := s.start()
	watch := s.watch()
	taken, err := api.SessionKeyboard.Call(s.ctx, s.Engine, api.SessionKeyboardInput{ID: p.ID, Take: true})
	s.ok(err)
	if taken.Terminal.Keyboard == "" {
		s.Error("nobody holds the keyboard")
	}
	watch.process(p.ID, "the keyboard taken", func(p api.Process) bool { return p.Terminal.Keyboard != "" })
	given, err := api.SessionKeyboard.Call(s.ctx, s.Engine, api.SessionKeyboardInput{ID: p.ID})
	s.ok(err)
	if given.Terminal.Keyboard != "" {
		s.Errorf("given back, the keyboard is held by %q", given.Terminal.Keyboard)
	}
}

func (s *suite) scrollback() {
	p := s.start()
	v := s.attach(api.AttachOptions{ID: p.ID, Cols: 40, Rows: 10})
	v.shows("$")
	v.types("needle")
	v.shows("needle")
	from := api.Place{Line: -1}
	found, err := api.SessionFind.Call(s.ctx, s.Engine, api.SessionFindInput{ID: p.ID, Pattern: api.Pattern{Text: "prompt"}, From: from})
	s.ok(err)
	if found.Total != 0 || found.Match != nil {
		s.Errorf("what is not there is found: %+v", found)
	}
	text, err := api.SessionText.Call(s.ctx, s.Engine, api.SessionTextInput{ID: p.ID, From: api.Place{Line: 0}, To: api.Place{Line: 0, Cell: 1}})
	s.ok(err)
	if text.Text != "$" {
		s.Errorf("the first cell is %q", text.Text)
	}
}

func (s *suite) launch(name string) (p api.Process, print func(string)) {
	s.Helper()
	command, print := s.Printer(s.T)
	p, err := api.ProcessStart.Call(s.ctx, s.Engine, api.ProcessStartInput{Command: command, CWD: s.TempDir(), Name: name})
	s.ok(err)
	return p, print
}

func (s *suite) processes() {
	watch := s.watch()
	p, _ := s.launch("printer")
	if p.Kind != api.KindProcess || p.Terminal != nil || p.Name != "printer" {
		s.Errorf("started: %+v", p)
	}
	watch.process(p.ID, "the start", func(api.Process) bool { return true })

	all, err := api.ProcessList.Call(s.ctx, s.Engine, api.ProcessListInput{Metrics: true})
	s.ok(err)
	i := slices.IndexFunc(all.Processes, func(q api.Process) bool { return q.ID == p.ID })
	if i < 0 || all.Processes[i].Metrics == nil {
		s.Errorf("measured: %+v", all)
	}

	keep := true
	s.ok(api.ProcessUpdate.Run(s.ctx, s.Engine, api.ProcessUpdateInput{ID: p.ID, KeepAlive: &keep}))
	watch.process(p.ID, "the change", func(p api.Process) bool { return p.KeepAlive })
	s.ok(api.ProcessSignal.Run(s.ctx, s.Engine, api.ProcessSignalInput{ID: p.ID, Signal: "CONT"}))
	s.ok(api.ProcessStop.Run(s.ctx, s.Engine, api.ProcessStopInput{ID: p.ID}))
	watch.process(p.ID, "the stop", func(p api.Process) bool { return p.State.Ended() })
	s.ok(api.ProcessRestart.Run(s.ctx, s.Engine, api.ProcessRestartInput{ID: p.ID}))
	watch.process(p.ID, "the restart", func(p api.Process) bool { return !p.State.Ended() })
}

func (s *suite) logs() {
	p, print := s.launch("printer")
	print("one\n")
	log := func(in api.ProcessLogInput) api.ProcessLogOutput {
		s.Helper()
		in.ID = p.ID
		out, err := api.ProcessLog.Call(s.ctx, s.Engine, in)
		s.ok(err)
		return out
	}
	at := func(n int64) *int64 { return &n }
	first := log(api.ProcessLogInput{Since: at(0), WaitMS: int(limit.Milliseconds())})
	if first.Data != "one\n" || first.NextCursor != 4 {
		s.Fatalf("the log is %q up to %d", first.Data, first.NextCursor)
	}
	print("two\n")
	if second := log(api.ProcessLogInput{Since: at(first.NextCursor), WaitMS: int(limit.Milliseconds())}); second.Data != "two\n" || second.End != 8 {
		s.Errorf("behind it is %q up to %d", second.Data, second.End)
	}
	if last := log(api.ProcessLogInput{Since: at(-4)}); last.Data != "two\n" {
		s.Errorf("its last four bytes are %q", last.Data)
	}
	if down := log(api.ProcessLogInput{Since: at(1), Grep: "o"}); len(down.Matches) == 0 || down.Matches[0].Offset != 4 {
		s.Errorf("below the first line: %+v", down.Matches)
	}
	if up := log(api.ProcessLogInput{Since: at(8), Grep: "o", Backward: true}); len(up.Matches) == 0 || up.Matches[0].Offset != 4 {
		s.Errorf("above the end: %+v", up.Matches)
	}
	if none := log(api.ProcessLogInput{Since: at(0), Grep: "three"}); len(none.Matches) != 0 {
		s.Errorf("what is not there is found: %+v", none.Matches)
	}
}

func (s *suite) layouts() {
	watch := s.watch()
	layout := api.Layout{Tabs: []api.LayoutTab{{Nodes: []api.LayoutNode{{ID: "0123456789ab", Name: "bash"}}}}}
	first, err := api.LayoutPut.Call(s.ctx, s.Engine, api.LayoutPutInput{Layout: layout})
	s.ok(err)
	watch.until("the layout", func(ev api.Event) bool { return ev.Type == api.EventKept && ev.Revision == first.Revision })
	changed := layout
	changed.Closed = []string{"ba9876543210"}
	second, err := api.LayoutPut.Call(s.ctx, s.Engine, api.LayoutPutInput{Layout: changed, Revision: first.Revision})
	s.ok(err)
	if second.Revision <= first.Revision {
		s.Errorf("the revision was %d and is %d", first.Revision, second.Revision)
	}
	_, err = api.LayoutPut.Call(s.ctx, s.Engine, api.LayoutPutInput{Layout: layout, Revision: first.Revision})
	s.code(api.CodeConflict, err)
	_, err = api.LayoutPut.Call(s.ctx, s.Engine, api.LayoutPutInput{Layout: api.Layout{Tabs: []api.LayoutTab{{}}}})
	s.code(api.CodeInvalid, err)

	for _, name := range []string{"work", "logs"} {
		_, err := api.LayoutPut.Call(s.ctx, s.Engine, api.LayoutPutInput{Name: name, Layout: layout})
		s.ok(err)
	}
	s.ok(api.LayoutRemove.Run(s.ctx, s.Engine, api.LayoutRemoveInput{Name: "work"}))
	out, err := api.LayoutGet.Call(s.ctx, s.Engine, api.Empty{})
	s.ok(err)
	if len(out.Saved) != 1 || out.Saved[0].Name != "logs" {
		s.Errorf("kept are %+v", out.Saved)
	}
	s.code(api.CodeNotFound, api.LayoutRemove.Run(s.ctx, s.Engine, api.LayoutRemoveInput{Name: "work"}))
}

func (s *suite) history() {
	s.Ran(s.T, "true one", 0)
	s.Ran(s.T, "false two", 1)
	s.Ran(s.T, "true one", 0)
	search := func(in api.HistorySearchInput) (api.HistorySearchOutput, []string) {
		s.Helper()
		out, err := api.HistorySearch.Call(s.ctx, s.Engine, in)
		s.ok(err)
		var lines []string
		for _, r := range out.Rows {
			lines = append(lines, r.Command.Command)
		}
		return out, lines
	}
	all, lines := search(api.HistorySearchInput{})
	if want := []string{"true one", "false two", "true one"}; !slices.Equal(lines, want) || all.Total != 3 {
		s.Fatalf("all %d: %q", all.Total, lines)
	}
	if page, lines := search(api.HistorySearchInput{Limit: 1, Offset: 1}); page.Total != 3 || !slices.Equal(lines, []string{"false two"}) {
		s.Errorf("the second of %d: %q", page.Total, lines)
	}
	if unique, lines := search(api.HistorySearchInput{Unique: true}); len(lines) != 2 || unique.Rows[0].Runs != 2 {
		s.Errorf("unique: %+v", unique)
	}
	if _, lines := search(api.HistorySearchInput{Failed: true}); !slices.Equal(lines, []string{"false two"}) {
		s.Errorf("failed: %q", lines)
	}
	if one, _ := search(api.HistorySearchInput{Query: "two"}); one.Total != 1 || !slices.Equal(one.Rows[0].Matched, []int{6, 7, 8}) {
		s.Errorf("searched: %+v", one)
	}

	dir := s.TempDir()
	file := filepath.Join(dir, "history.txt")
	_, err := api.HistoryLoad.Call(s.ctx, s.Engine, api.HistoryLoadInput{Path: file})
	s.code(api.CodeNotFound, err)
	s.ok(os.WriteFile(file, nil, 0o600))
	_, err = api.HistorySave.Call(s.ctx, s.Engine, api.HistorySaveInput{Path: file})
	s.code(api.CodeConflict, err)
	saved, err := api.HistorySave.Call(s.ctx, s.Engine, api.HistorySaveInput{Path: file, Overwrite: true})
	s.ok(err)
	if saved.Count != 3 {
		s.Errorf("saved %d", saved.Count)
	}

	gone, err := api.HistoryRemove.Call(s.ctx, s.Engine, api.HistoryRemoveInput{Command: "true one"})
	s.ok(err)
	if _, left := search(api.HistorySearchInput{}); gone.Count != 2 || !slices.Equal(left, []string{"false two"}) {
		s.Errorf("removed %d; left is %q", gone.Count, left)
	}
}
