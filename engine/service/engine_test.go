package service

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tandem/engine/agent/approval"
	"tandem/engine/api"
	"tandem/engine/system/keeper"
	"tandem/persist/store"
)

// A replacingKeeper ends the engine before it confirms the replacement.
type replacingKeeper struct {
	Keeper
	end context.CancelFunc
}

func (k replacingKeeper) Replace(ctx context.Context, _ *os.File) error {
	k.end()
	return ctx.Err()
}

func TestReplacingTheEngineAnswersThoughItExits(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	defer end()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := replaceThroughKeeper(ctx, replacingKeeper{end: end}, exe); err != nil {
		t.Error(err)
	}
}

// A fakeKeeper returns the given errors, one for each call, and nil after them.
type fakeKeeper struct {
	errs     []error
	paused   int
	replaced []string
}

func (k *fakeKeeper) answer() error {
	if len(k.errs) == 0 {
		return nil
	}
	err := k.errs[0]
	k.errs = k.errs[1:]
	return err
}

func (k *fakeKeeper) Pause(context.Context) error {
	k.paused++
	return k.answer()
}

func (k *fakeKeeper) Replace(_ context.Context, f *os.File) error {
	k.replaced = append(k.replaced, filepath.Base(f.Name()))
	return k.answer()
}

func TestEngineStopReportsEachFailure(t *testing.T) {
	dir := t.TempDir()
	program, text := filepath.Join(dir, "tandem"), filepath.Join(dir, "text")
	writeFile(t, program, "")
	writeFile(t, text, "")
	if err := os.Chmod(program, 0o700); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("it broke")
	for name, c := range map[string]struct {
		in       api.EngineStopInput
		keeper   fakeKeeper
		noKeeper error
		cannot   bool  // the engine leaves the replacement to the keeper
		failure  error // of the engine
		remains  error // of what ended processes left running
		code     api.Code
		stopped  bool
		replaced []string // by the keeper
		upgraded int
		paused   int
		closing  bool // no start is accepted any more
	}{
		"stop":                    {stopped: true, paused: 1},
		"stop, keeper lost":       {keeper: fakeKeeper{errs: []error{keeper.ErrLost}}, stopped: true, paused: 2},
		"stop, keeper refuses":    {keeper: fakeKeeper{errs: []error{broken}}, code: api.CodeUnavailable, paused: 1},
		"stop, no keeper":         {noKeeper: api.Errorf(api.CodeUnavailable, "no keeper"), code: api.CodeUnavailable},
		"all":                     {in: api.EngineStopInput{All: true}, stopped: true, paused: 1, closing: true},
		"all, something is left":  {in: api.EngineStopInput{All: true}, remains: broken, code: api.CodeConflict},
		"all, keeper refuses":     {in: api.EngineStopInput{All: true}, keeper: fakeKeeper{errs: []error{broken}}, code: api.CodeUnavailable, paused: 1},
		"all and restart":         {in: api.EngineStopInput{All: true, Restart: true}, code: api.CodeInvalid},
		"all and replace":         {in: api.EngineStopInput{All: true, Replace: program}, code: api.CodeInvalid},
		"replace and restart":     {in: api.EngineStopInput{Replace: program, Restart: true}, code: api.CodeInvalid},
		"restart":                 {in: api.EngineStopInput{Restart: true}, upgraded: 1},
		"in place":                {in: api.EngineStopInput{Replace: program, InPlace: true}, upgraded: 1},
		"by an older program":     {in: api.EngineStopInput{Replace: program}, replaced: []string{"tandem"}},
		"replace by the keeper":   {in: api.EngineStopInput{Replace: program, InPlace: true}, cannot: true, upgraded: 1, replaced: []string{"tandem"}},
		"replace, keeper refuses": {in: api.EngineStopInput{Replace: program, InPlace: true}, cannot: true, upgraded: 1, replaced: []string{"tandem"}, keeper: fakeKeeper{errs: []error{broken}}, code: api.CodeUnavailable},
		"replace, engine is busy": {in: api.EngineStopInput{Replace: program, InPlace: true}, failure: api.Errorf(api.CodeConflict, "busy"), upgraded: 1, code: api.CodeConflict},
		"replace, no such file":   {in: api.EngineStopInput{Replace: program + "x"}, code: api.CodeInvalid},
		"replace, a folder":       {in: api.EngineStopInput{Replace: dir}, code: api.CodeInvalid},
		"replace, not executable": {in: api.EngineStopInput{Replace: text}, code: api.CodeInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			p := r.start(api.ProcessStartInput{})
			stopped, upgraded := false, 0
			s := &Engine{
				Control: r.control, Log: slog.New(slog.DiscardHandler),
				Keeper: func(context.Context) (Keeper, error) { return &c.keeper, c.noKeeper },
				Stop:   func(bool) { stopped = true },
				Upgrade: func(context.Context, *os.File) (bool, error) {
					upgraded++
					return !c.cannot, c.failure
				},
				StopRemains: func(context.Context, []store.Record, string) (int, error) { return 0, c.remains },
			}
			s.Handle(r.mux)
			_, err := api.EngineStop.Call(t.Context(), r, c.in)
			if (err == nil) != (c.code == "") || err != nil && !errors.Is(err, c.code) {
				t.Errorf("answered %v, want %q", err, c.code)
			}
			if stopped != c.stopped || upgraded != c.upgraded || c.keeper.paused != c.paused || !slices.Equal(c.keeper.replaced, c.replaced) {
				t.Errorf("stopped %v, upgraded %d times, paused %d times, replaced by %q", stopped, upgraded, c.keeper.paused, c.keeper.replaced)
			}
			wantStopped := c.in.All && c.code != api.CodeInvalid
			if state := call(t, r, api.ProcessGet, api.IDInput{ID: p.ID}).State; (state == api.StateStopped) != wantStopped {
				t.Errorf("the process is %s", state)
			}
			_, err = api.ProcessStart.Call(t.Context(), r, api.ProcessStartInput{Command: []string{"x"}, CWD: r.work})
			if api.IsEnding(err) != c.closing || !c.closing && err != nil {
				t.Errorf("a later start: %v", err)
			}
		})
	}
}

// Agents must not see other agents' requests, nor problems reported to the user.
func TestEventsForTheUserAreHiddenFromAgents(t *testing.T) {
	r := newRig(t)
	layouts, c, _ := newLayouts(t, memoryLayouts{}, nil)
	revision := call(t, c, api.LayoutChanges, api.LayoutChangeInput{Changes: []api.LayoutChange{addTab("a")}}).Revision
	s := &Engine{
		Control: r.control, Layouts: layouts, Arbiter: approval.New(filepath.Join(r.work, "policy.toml"), slog.New(slog.DiscardHandler), func(api.Event) {}),
		Info: func() api.Info { return api.Info{Version: "1"} }, Unsaved: func() string { return "" },
		Machines: func() []api.Machine { return []api.Machine{{Name: "build1"}} },
		Problems: []string{"a problem"},
	}
	p := r.start(api.ProcessStartInput{})
	watch := func(c client) (texts []string) {
		t.Helper()
		ctx, cancel := context.WithCancel(c.makeContext(t))
		defer cancel()
		err := s.watchEvents(ctx, api.WatchInput{}, func(e api.Event) error {
			switch e.Type {
			case api.EventSnapshot:
				if e.Info.Running != 1 || len(e.Processes) != 1 || e.Processes[0].ID != p.ID || e.Revision != revision || e.Layout == nil {
					t.Errorf("snapshot %+v", e)
				}
				r.control.Publish(api.Event{Type: api.EventRequest, Request: &api.Request{ID: "1"}})
				r.control.Publish(api.Event{Type: api.EventPolicy, Fault: "line 1"})
				r.control.Publish(api.Event{Type: api.EventNotice, Notice: "end"})
			case api.EventNotice:
				texts = append(texts, e.Notice)
				if e.Notice == "end" {
					cancel()
				}
			default:
				texts = append(texts, string(e.Type))
			}
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		return texts
	}
	for _, c := range []struct {
		who  string
		by   client
		want []string
	}{
		{"an agent", r.agent(), []string{"machine", "end"}},
		{"the user", r.client, []string{"machine", "a problem", "request", "policy", "end"}},
		{"the next user", r.client, []string{"machine", "request", "policy", "end"}},
	} {
		if got := watch(c.by); !slices.Equal(got, c.want) {
			t.Errorf("%s is told %q, want %q", c.who, got, c.want)
		}
	}
}
