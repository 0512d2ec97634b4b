// Package enginetest is a conformance suite for the engine as the dashboard uses it. The
// dashboard's own tests use a fake engine in memory. The suite runs on the fake and on the real
// engine, to keep their behaviour alike.
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

// maxWait limits the wait for an expected event.
const maxWait = 20 * time.Second

// A Subject is an empty engine for the tests. Its functions do what the tests cannot do through the
// interface panes.Engine.
type Subject struct {
	Engine panes.Engine
	Echo   []string // prints a prompt, then echoes its input
	// Printer returns a command running until it is stopped, and a function that makes it print.
	Printer func(t *testing.T) (command []string, print func(text string))
	// RecordRun records a run of a command in the history.
	RecordRun func(t *testing.T, command string, code int)
}

// Run runs the tests, each on an engine of its own.
func Run(t *testing.T, open func(*testing.T) Subject) {
	for name, test := range map[string]func(*suite){
		"events":          (*suite).testEvents,
		"unknown ids":     (*suite).testUnknownIDs,
		"screens":         (*suite).testScreens,
		"exited sessions": (*suite).testExitedSessions,
		"keyboard lock":   (*suite).testKeyboard,
		"search and text": (*suite).testScrollback,
		"processes":       (*suite).testProcesses,
		"logs":            (*suite).testLogs,
		"layouts":         (*suite).testLayouts,
		"history":         (*suite).testHistory,
		"files":           (*suite).testFiles,
		"file transfers":  (*suite).testTransfers,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// A test waiting in vain must fail, not hang.
			ctx, cancel := context.WithTimeout(t.Context(), maxWait)
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

// check fails the test at once on an error.
func (s *suite) check(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// wantCode checks that an error has a code.
func (s *suite) wantCode(want api.Code, err error) {
	s.Helper()
	var e *api.Error
	if !errors.As(err, &e) || e.Code != want {
		s.Errorf("error %v, want one with code %s", err, want)
	}
}

func (s *suite) startEcho() api.Process {
	s.Helper()
	p, err := api.SessionStart.Call(s.ctx, s.Engine, api.SessionStartInput{Command: s.Echo, CWD: s.TempDir(), Cols: 40, Rows: 10})
	s.check(err)
	return p
}

// An eventStream is a watched engine.
type eventStream struct {
	*suite
	next func() (api.Event, error, bool)
}

func (s *suite) watchEvents() eventStream {
	next, stop := iter.Pull2(s.Engine.Watch(s.ctx))
	s.Cleanup(stop)
	e := eventStream{s, next}
	// The snapshot comes first, so later events are about the test's own actions.
	first, err, _ := e.next()
	s.check(err)
	if first.Type != api.EventSnapshot || first.Info == nil {
		s.Fatalf("the first event is %+v, want a snapshot", first)
	}
	return e
}

// waitFor returns the first event meant.
func (e eventStream) waitFor(what string, match func(api.Event) bool) api.Event {
	e.Helper()
	for {
		ev, err, more := e.next()
		if err != nil || !more {
			e.Fatalf("waiting for the event of %s: %v", what, err)
		}
		if match(ev) {
			return ev
		}
	}
}

// waitForProcess waits for an event about process id for whose state match returns true. label
// names that event in errors.
func (e eventStream) waitForProcess(id, label string, match func(api.Process) bool) {
	e.Helper()
	e.waitFor(label, func(ev api.Event) bool {
		return ev.Type == api.EventProcess && ev.Process.ID == id && match(*ev.Process)
	})
}

func (s *suite) testEvents() {
	watch := s.watchEvents()
	p := s.startEcho()
	if p.Kind != api.KindSession || p.Terminal == nil || p.State.Ended() {
		s.Errorf("started %+v", p)
	}
	watch.waitForProcess(p.ID, "the start", func(api.Process) bool { return true })

	renamed, err := api.SessionRename.Call(s.ctx, s.Engine, api.SessionRenameInput{ID: p.ID, Name: "letters"})
	s.check(err)
	if renamed.Name != "letters" {
		s.Errorf("it is called %q", renamed.Name)
	}
	watch.waitForProcess(p.ID, "the new name", func(p api.Process) bool { return p.Name == "letters" })

	_, err = api.SessionKill.Call(s.ctx, s.Engine, api.IDInput{ID: p.ID})
	s.check(err)
	watch.waitForProcess(p.ID, "the end", func(p api.Process) bool { return p.State.Ended() })

	s.check(api.ProcessRemove.Run(s.ctx, s.Engine, api.IDInput{ID: p.ID}))
	watch.waitFor("the removal", func(ev api.Event) bool { return ev.Type == api.EventRemoved && ev.ID == p.ID })
	s.wantCode(api.CodeNotFound, api.ProcessRemove.Run(s.ctx, s.Engine, api.IDInput{ID: p.ID}))
}

func (s *suite) testUnknownIDs() {
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
		s.wantCode(api.CodeNotFound, err)
	}
}

// A viewer is an attachment with its screen.
type viewer struct {
	*suite
	panes.Attachment
	input  *outbox.Outbox
	screen map[int64]string
}

func (s *suite) attachViewer(o api.AttachOptions) *viewer {
	s.Helper()
	a, err := s.Engine.Attach(s.ctx, o)
	s.check(err)
	s.Cleanup(func() { a.Close() })
	v := &viewer{suite: s, Attachment: a, input: new(outbox.Outbox), screen: map[int64]string{}}
	a.SendFrom(v.input)
	first := v.waitFor("the first frame", func(out api.Output) bool { return out.Frame != nil })
	// A new viewer knows nothing of the screen, so its first frame must be complete.
	if f := first.Frame; !f.Full || len(f.Lines) != f.Rows {
		s.Errorf("the first frame has %d of %d lines (full: %v)", len(f.Lines), f.Rows, f.Full)
	}
	return v
}

// waitFor returns the first output meant.
func (v *viewer) waitFor(what string, match func(api.Output) bool) api.Output {
	v.Helper()
	for {
		out, err := v.Receive()
		if err != nil {
			v.Fatalf("waiting for %s: %v; the screen shows %v", what, err, v.screen)
		}
		if f := out.Frame; f != nil {
			v.applyFrame(f)
		}
		if match(out) {
			return out
		}
	}
}

func (v *viewer) applyFrame(f *api.Frame) {
	if f.Full {
		clear(v.screen)
	}
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

// waitForText waits until a line of the screen contains text.
func (v *viewer) waitForText(text string) {
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
		v.waitFor("the screen with "+text, func(api.Output) bool { return has() })
	}
}

func (v *viewer) typeText(text string) {
	v.Helper()
	for _, r := range text {
		v.check(v.input.Send(api.Input{Key: &keys.Key{Code: keys.Code(r), Text: string(r)}}))
	}
}

func (s *suite) testScreens() {
	p := s.startEcho()
	v := s.attachViewer(api.AttachOptions{ID: p.ID, Cols: 40, Rows: 10})
	v.waitForText("$")
	v.typeText("hello")
	v.waitForText("hello")

	other := s.attachViewer(api.AttachOptions{ID: p.ID, Lines: api.LineRange{From: 0, Count: 5}})
	other.waitForText("hello")
	s.check(v.input.Send(api.Input{Resize: &api.Size{Cols: 50, Rows: 12}}))
	v.waitFor("the new size", func(out api.Output) bool { return out.Frame != nil && out.Frame.Cols == 50 && out.Frame.Rows == 12 })
	paste := "pasted"
	s.check(v.input.Send(api.Input{Paste: &paste}))
	other.waitForText("pasted")

	s.check(v.Close())
	if _, err := v.Receive(); err == nil {
		s.Error("a closed attachment still receives output")
	}
	if v.input.Connected() {
		s.Error("a closed attachment still accepts input")
	}
	other.typeText("still")
	other.waitForText("still")
}

func (s *suite) testExitedSessions() {
	p := s.startEcho()
	v := s.attachViewer(api.AttachOptions{ID: p.ID, Cols: 40, Rows: 10})
	v.waitForText("$")
	killed, err := api.SessionKill.Call(s.ctx, s.Engine, api.IDInput{ID: p.ID})
	s.check(err)
	if !killed.State.Ended() {
		s.Errorf("a killed session is %s", killed.State)
	}
	isEnd := func(out api.Output) bool { return out.Ended != nil && out.Ended.State.Ended() }
	v.waitFor("the end", isEnd)
	// The last screen of an exited session must stay readable.
	again := s.attachViewer(api.AttachOptions{ID: p.ID})
	again.waitForText("$")
	again.waitFor("the end, told again", isEnd)
}

func (s *suite) testKeyboard() {
	p := s.startEcho()
	watch := s.watchEvents()
	taken, err := api.SessionKeyboard.Call(s.ctx, s.Engine, api.SessionKeyboardInput{ID: p.ID, Take: true})
	s.check(err)
	if taken.Terminal.Keyboard == "" {
		s.Error("nobody holds the keyboard")
	}
	watch.waitForProcess(p.ID, "the keyboard taken", func(p api.Process) bool { return p.Terminal.Keyboard != "" })
	given, err := api.SessionKeyboard.Call(s.ctx, s.Engine, api.SessionKeyboardInput{ID: p.ID})
	s.check(err)
	if given.Terminal.Keyboard != "" {
		s.Errorf("after it was given back, the keyboard is held by %q", given.Terminal.Keyboard)
	}
}

func (s *suite) testScrollback() {
	p := s.startEcho()
	v := s.attachViewer(api.AttachOptions{ID: p.ID, Cols: 40, Rows: 10})
	v.waitForText("$")
	v.typeText("needle")
	v.waitForText("needle")
	from := api.Place{Line: -1}
	found, err := api.SessionFind.Call(s.ctx, s.Engine, api.SessionFindInput{ID: p.ID, Pattern: api.Pattern{Text: "prompt"}, From: from})
	s.check(err)
	if found.Total != 0 || found.Match != nil {
		s.Errorf("found a match for missing text: %+v", found)
	}
	text, err := api.SessionText.Call(s.ctx, s.Engine, api.SessionTextInput{ID: p.ID, From: api.Place{Line: 0}, To: api.Place{Line: 0, Cell: 1}})
	s.check(err)
	if text.Text != "$" {
		s.Errorf("the first cell is %q", text.Text)
	}
}

func (s *suite) startPrinter(name string) (p api.Process, print func(string)) {
	s.Helper()
	command, print := s.Printer(s.T)
	p, err := api.ProcessStart.Call(s.ctx, s.Engine, api.ProcessStartInput{Command: command, CWD: s.TempDir(), Name: name})
	s.check(err)
	return p, print
}

func (s *suite) testProcesses() {
	watch := s.watchEvents()
	p, _ := s.startPrinter("printer")
	if p.Kind != api.KindProcess || p.Terminal != nil || p.Name != "printer" {
		s.Errorf("started %+v", p)
	}
	watch.waitForProcess(p.ID, "the start", func(api.Process) bool { return true })

	all, err := api.ProcessList.Call(s.ctx, s.Engine, api.ProcessListInput{Metrics: true})
	s.check(err)
	i := slices.IndexFunc(all.Processes, func(q api.Process) bool { return q.ID == p.ID })
	if i < 0 || all.Processes[i].Metrics == nil {
		s.Errorf("no metrics of the process in %+v", all)
	}

	keep := true
	s.check(api.ProcessUpdate.Run(s.ctx, s.Engine, api.ProcessUpdateInput{ID: p.ID, KeepAlive: &keep}))
	watch.waitForProcess(p.ID, "the change", func(p api.Process) bool { return p.KeepAlive })
	s.check(api.ProcessSignal.Run(s.ctx, s.Engine, api.ProcessSignalInput{ID: p.ID, Signal: "CONT"}))
	s.check(api.ProcessStop.Run(s.ctx, s.Engine, api.ProcessStopInput{ID: p.ID}))
	watch.waitForProcess(p.ID, "the stop", func(p api.Process) bool { return p.State.Ended() })
	s.check(api.ProcessRestart.Run(s.ctx, s.Engine, api.ProcessRestartInput{ID: p.ID}))
	watch.waitForProcess(p.ID, "the restart", func(p api.Process) bool { return !p.State.Ended() })
}

func (s *suite) testLogs() {
	p, print := s.startPrinter("printer")
	print("one\n")
	log := func(in api.ProcessLogInput) api.ProcessLogOutput {
		s.Helper()
		in.ID = p.ID
		out, err := api.ProcessLog.Call(s.ctx, s.Engine, in)
		s.check(err)
		return out
	}
	at := func(n int64) *int64 { return &n }
	first := log(api.ProcessLogInput{Since: at(0), WaitMS: int(maxWait.Milliseconds())})
	if first.Data != "one\n" || first.NextCursor != 4 {
		s.Fatalf("the log is %q up to %d", first.Data, first.NextCursor)
	}
	print("two\n")
	if second := log(api.ProcessLogInput{Since: at(first.NextCursor), WaitMS: int(maxWait.Milliseconds())}); second.Data != "two\n" || second.End != 8 {
		s.Errorf("after the first line, the log is %q up to %d", second.Data, second.End)
	}
	if last := log(api.ProcessLogInput{Since: at(-4)}); last.Data != "two\n" {
		s.Errorf("the last four bytes of the log are %q", last.Data)
	}
	if down := log(api.ProcessLogInput{Since: at(1), Grep: "o"}); len(down.Matches) == 0 || down.Matches[0].Offset != 4 {
		s.Errorf("searching down found %+v, want a match at 4", down.Matches)
	}
	if up := log(api.ProcessLogInput{Since: at(8), Grep: "o", Backward: true}); len(up.Matches) == 0 || up.Matches[0].Offset != 4 {
		s.Errorf("searching up found %+v, want a match at 4", up.Matches)
	}
	if none := log(api.ProcessLogInput{Since: at(0), Grep: "three"}); len(none.Matches) != 0 {
		s.Errorf("found a match for missing text: %+v", none.Matches)
	}
}

func (s *suite) testLayouts() {
	watch := s.watchEvents()
	node := api.LayoutNode{ID: "0123456789ab", Name: "bash"}
	change := func(c ...api.LayoutChange) (api.LayoutChangeOutput, error) {
		return api.LayoutChanges.Call(s.ctx, s.Engine, api.LayoutChangeInput{Changes: c})
	}
	open := api.LayoutChange{Do: api.LayoutArrange, Nodes: []api.LayoutNode{node}, Own: api.OwnEnd}
	first, err := change(open)
	s.check(err)
	watch.waitFor("the layout", func(ev api.Event) bool { return ev.Type == api.EventLayout && ev.Revision == first.Revision })
	if again, err := change(open); err != nil || again.Revision != first.Revision {
		s.Errorf("a repeated change of revision %d returned revision %d, %v", first.Revision, again.Revision, err)
	}
	second, err := change(api.LayoutChange{Do: api.LayoutRename, ID: node.ID, Name: "x"})
	s.check(err)
	if second.Revision <= first.Revision {
		s.Errorf("the revision was %d and is %d", first.Revision, second.Revision)
	}
	_, err = change(api.LayoutChange{Do: api.LayoutArrange})
	s.wantCode(api.CodeInvalid, err)
	layout := api.Layout{Tabs: []api.LayoutTab{{Nodes: []api.LayoutNode{node}}}}
	_, err = api.LayoutPut.Call(s.ctx, s.Engine, api.LayoutPutInput{Layout: layout})
	s.wantCode(api.CodeConflict, err)

	for _, name := range []string{"work", "logs"} {
		_, err := api.LayoutPut.Call(s.ctx, s.Engine, api.LayoutPutInput{Name: name, Layout: layout})
		s.check(err)
	}
	s.check(api.LayoutRemove.Run(s.ctx, s.Engine, api.LayoutRemoveInput{Name: "work"}))
	out, err := api.LayoutGet.Call(s.ctx, s.Engine, api.Empty{})
	s.check(err)
	if len(out.Saved) != 1 || out.Saved[0].Name != "logs" {
		s.Errorf("kept are %+v", out.Saved)
	}
	s.wantCode(api.CodeNotFound, api.LayoutRemove.Run(s.ctx, s.Engine, api.LayoutRemoveInput{Name: "work"}))
}

func (s *suite) testHistory() {
	s.RecordRun(s.T, "true one", 0)
	s.RecordRun(s.T, "false two", 1)
	s.RecordRun(s.T, "true one", 0)
	search := func(in api.HistorySearchInput) (api.HistorySearchOutput, []string) {
		s.Helper()
		out, err := api.HistorySearch.Call(s.ctx, s.Engine, in)
		s.check(err)
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
	// Total counts all matches, not only those of the page.
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
	s.wantCode(api.CodeNotFound, err)
	s.check(os.WriteFile(file, nil, 0o600))
	_, err = api.HistorySave.Call(s.ctx, s.Engine, api.HistorySaveInput{Path: file})
	s.wantCode(api.CodeConflict, err)
	saved, err := api.HistorySave.Call(s.ctx, s.Engine, api.HistorySaveInput{Path: file, Overwrite: true})
	s.check(err)
	if saved.Count != 3 {
		s.Errorf("saved %d", saved.Count)
	}

	removed, err := api.HistoryRemove.Call(s.ctx, s.Engine, api.HistoryRemoveInput{Command: "true one"})
	s.check(err)
	if _, left := search(api.HistorySearchInput{}); removed.Count != 2 || !slices.Equal(left, []string{"false two"}) {
		s.Errorf("removed %d; left is %q", removed.Count, left)
	}
}
