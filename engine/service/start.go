package service

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"tandem/engine/access"
	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/names"
	"tandem/engine/proctree"
	"tandem/engine/readiness"
	"tandem/engine/sleep"
	"tandem/engine/supervise"
	"tandem/engine/terminal"
	"tandem/persist/store"
)

const defaultCols, defaultRows = 80, 24

// A Starter makes records of what clients ask to start, and starts them.
type Starter struct {
	Control *supervise.Control
	Store   *store.Store
	Env     *Env
	Closed  []string                                 // folders that nothing confined may write in
	Cgroups string                                   // where those of children go; "" for none
	Shell   func(environ map[string]string) []string // what an empty command starts in an environment; nil is the engine's
}

// mostLog is a limit that no log reaches, small enough to calculate with.
const mostLog = 1 << 60

// recordOf checks what a client asks to start and makes a record of it.
func (s *Starter) recordOf(kind api.Kind, in api.SessionStartInput) (store.Record, error) {
	var err error
	none := store.Record{}
	r := supervise.NewRecord(api.NewID(), kind)
	r.TTY = true
	if r.Argv = in.Command; len(r.Argv) == 0 {
		r.Argv = s.Shell(in.Environ)
	}
	if r.Argv[0] == "" {
		return none, api.Errorf(api.CodeInvalid, "start %s: the program's name is empty", kind)
	}
	if r.CWD, err = workingFolder(in.CWD); err != nil {
		return none, err
	}
	if r.Name = in.Name; r.Name == "" {
		r.Name = names.OfProgram(r.Argv)
	}
	if err := names.Check(r.Name); err != nil {
		return none, err
	}
	if r.Cols, r.Rows, err = startSize(in.Cols, in.Rows); err != nil {
		return none, err
	}
	if in.Actor != "" {
		r.Actor = in.Actor
	}
	if names.Check(r.Actor) != nil {
		return none, api.Errorf(api.CodeInvalid, "start %s: actor %q is not a valid name", kind, names.Shown(r.Actor))
	}
	r.Env, r.Environ, r.Umask = in.Env, in.Environ, in.Umask
	if err := checkUmask(in.Umask); err != nil {
		return none, err
	}
	if err := checkEnv(in.Environ); err != nil {
		return none, err
	}
	return r, checkEnv(in.Env)
}

// processRecord checks what a client asks to start and makes a record of it.
func (s *Starter) processRecord(in api.ProcessStartInput) (store.Record, error) {
	none := store.Record{}
	if len(in.Command) == 0 && !in.TTY {
		return none, api.Errorf(api.CodeInvalid, "start process: no command given")
	}
	kind := api.KindProcess
	if in.TTY {
		kind = api.KindSession
	}
	r, err := s.recordOf(kind, api.SessionStartInput{
		Command: in.Command, Name: in.Name, CWD: in.CWD, Env: in.Env, Environ: in.Environ, Umask: in.Umask, Cols: in.Cols, Rows: in.Rows, Actor: in.Actor,
	})
	if err != nil {
		return none, err
	}
	if r.TTY = in.TTY; !in.TTY {
		r.Cols, r.Rows = 0, 0
	}
	if r.Restart, err = supervise.RestartOf(in.KeepAlive, in.Restart); err != nil {
		return none, err
	}
	if err := readiness.Check(in.Ready); err != nil {
		return none, err
	}
	if in.Ready != nil {
		ready := store.Readiness(*in.Ready)
		r.Ready = &ready
	}
	if in.StopSignal != "" {
		if _, err := proctree.ParseSignal(in.StopSignal); err != nil {
			return none, err
		}
	}
	if in.Stdin && in.TTY {
		return none, api.Errorf(api.CodeInvalid, "start process: stdin is for processes without a terminal").
			WithHint("session.write types into a terminal")
	}
	r.Stdin = in.Stdin
	if in.StopTimeoutMS < 0 || in.LogLimit < 0 {
		return none, api.Errorf(api.CodeInvalid, "start process: stop_timeout_ms and log_limit cannot be negative")
	}
	if err := setProject(&r, in.Project); err != nil {
		return none, err
	}
	if r.After, err = supervise.DependenciesOf(in.After); err != nil {
		return none, err
	}
	r.StopSignal, r.StopTimeoutMS = in.StopSignal, in.StopTimeoutMS
	if in.TTY && r.StopSignal == "" { // without one, a terminal gets SIGHUP
		r.StopSignal = "SIGTERM"
	}
	r.SplitLog, r.LogLimit, r.Transient = in.SplitLog && !in.TTY, min(in.LogLimit, mostLog), in.Transient
	return r, nil
}

func checkUmask(text string) error {
	if text == "" {
		return nil
	}
	if _, err := strconv.ParseUint(text, 8, 9); err != nil {
		return api.Errorf(api.CodeInvalid, "umask %s: must be octal, 0000 to 0777", names.Shown(text))
	}
	return nil
}

// workingFolder checks where a program is to be started.
func workingFolder(path string) (string, error) {
	if path == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "/", nil
		}
		path = home
		if _, err := os.Stat(path); err != nil {
			return "/", nil
		}
	}
	if !filepath.IsAbs(path) {
		return "", api.Errorf(api.CodeInvalid, "start in %s: the path is not absolute", names.ShownPath(path))
	}
	path = filepath.Clean(path)
	info, err := os.Stat(path)
	if err != nil {
		return "", api.Errorf(api.CodeInvalid, "start in %s: %v", names.ShownPath(path), store.Cause(err))
	}
	if !info.IsDir() {
		return "", api.Errorf(api.CodeInvalid, "start in %s: not a directory", names.ShownPath(path))
	}
	return path, nil
}

func startSize(cols, rows int) (int, int, error) {
	if cols == 0 {
		cols = defaultCols
	}
	if rows == 0 {
		rows = defaultRows
	}
	return cols, rows, checkSize(cols, rows)
}

func checkSize(cols, rows int) error {
	if cols != terminal.ClampSide(cols) || rows != terminal.ClampSide(rows) {
		return api.Errorf(api.CodeInvalid, "size %dx%d: both sides must be 1 to %d", cols, rows, terminal.MaxSide)
	}
	return nil
}

// own notes from where something is started, and makes the calling agent the owner of what
// it starts. What a person starts has none.
func own(ctx context.Context, r *store.Record, lease api.Lease) error {
	switch lease {
	case "", api.LeaseDetached, api.LeaseSession, api.LeaseForever:
	default:
		return api.Errorf(api.CodeInvalid, "unknown lease %s", names.Shown(string(lease))).
			WithHint("must be detached, session or forever")
	}
	caller := server.CallerOf(ctx)
	r.From = caller.Origin.From
	if !caller.Agent() {
		return nil
	}
	if names.Check(caller.Owner) != nil && !names.IsID(caller.Owner) {
		return api.Errorf(api.CodeInvalid, "start: owner %s is not a valid name", names.Shown(caller.Owner))
	}
	if lease == "" {
		lease = api.LeaseDetached
	}
	r.Actor = caller.Actor()
	if names.Check(r.Actor) != nil {
		r.Actor = server.AgentPrefix + "unknown"
	}
	r.Owner, r.Lease = caller.Owner, string(lease)
	return nil
}

// begin completes a new record, with whose it is, the id that the client has made for
// it if any, and how it is confined, and begins to start it. What was asked for before
// under the same id is not started again. The answer comes when its announced state
// is as wanted, or it could not be started.
func (s *Starter) begin(ctx context.Context, r *store.Record, in request, until func(api.State) bool) (supervise.Pending, error) {
	none := supervise.Pending{}
	if err := own(ctx, r, in.lease); err != nil {
		return none, err
	}
	r.ID = cmp.Or(in.id, r.ID)
	switch again, ok, err := s.claim(ctx, *r, until); {
	case err != nil:
		return none, err
	case ok:
		return again, nil
	}
	answer, err := none, s.confine(r, access.Layers(ctx, in.sandbox))
	if err == nil {
		answer, err = s.enter(ctx, *r, in.named, until)
	}
	if err != nil && ctx.Err() == nil && !api.IsEnding(err) { // otherwise the record may still be entered
		err = s.release(r.ID, err)
	}
	return answer, err
}

// release frees an id under which nothing was started, so that a retry can use it.
func (s *Starter) release(id string, why error) error {
	if err := s.Store.Discard(id); err != nil {
		return errors.Join(why, err)
	}
	return why
}

// A request is what a client says of a start beside what is started.
type request struct {
	id      string // made by the client; "" for a new one
	named   bool   // the name is the client's wish
	lease   api.Lease
	sandbox *api.Sandbox
}

const (
	// claimWait is how long a call waits for another call with the same id to enter its record.
	claimWait = 2 * time.Second
	claimPoll = 2 * time.Millisecond
)

// claim takes an id that a client has made. If the same was asked for before under it,
// as by somebody whose answer was lost with an engine, that is answered.
func (s *Starter) claim(ctx context.Context, r store.Record, until func(api.State) bool) (again supervise.Pending, ok bool, err error) {
	err = s.Store.Claim(r.ID)
	for began := time.Now(); errors.Is(err, fs.ErrExist) && time.Since(began) < claimWait; err = s.Store.Claim(r.ID) {
		again, ok, err = s.Control.FindEarlierStart(ctx, r, until)
		if ok || err != nil {
			return again, ok, err
		}
		// The call that claimed it has not entered its record yet.
		if err := sleep.For(ctx, claimPoll); err != nil {
			return again, false, err
		}
	}
	switch {
	case errors.Is(err, store.ErrNoID):
		err = api.Errorf(api.CodeInvalid, "start session: id %q is not 12 lower-case hex digits", names.Shown(r.ID))
	case errors.Is(err, fs.ErrExist):
		err = api.Errorf(api.CodeConflict, "start session: id %s is taken", r.ID)
		if _, unread := s.Store.LoadRecord(r.ID); unread != nil {
			err = api.Errorf(api.CodeUnsure, "start %s: it may have been started as %s: %v", r.Name, r.ID, unread)
		}
	case err != nil:
		err = api.Errorf(api.CodeUnavailable, "start session: %v", err)
	}
	return again, false, err
}

// start starts a new record and answers when it runs, has ended already, or could
// not be started.
func (s *Starter) start(ctx context.Context, r store.Record, in request) (api.Process, error) {
	answer, err := s.begin(ctx, &r, in, supervise.HasStarted)
	if err != nil {
		return api.Process{}, err
	}
	return answer.Wait(ctx)
}

// enter begins to start a new record. The answer comes when its announced state
// is as wanted, or it could not be started.
func (s *Starter) enter(ctx context.Context, rec store.Record, named bool, until func(api.State) bool) (supervise.Pending, error) {
	rec.Cgroup = s.cgroupOf(rec)
	answer, err := s.Control.StartNew(ctx, rec, s.Store.LogPath(rec), named, until)
	if err != nil {
		err = api.AsError(err)
	}
	return answer, err
}

// confine writes down how a process is confined, beside what will be its
// record: by all layers that are not nil, and not at all if none is. Layers that
// could not be enforced are refused.
func (s *Starter) confine(r *store.Record, layers []*api.Sandbox) error {
	layers = slices.DeleteFunc(slices.Clone(layers), func(s *api.Sandbox) bool { return s == nil })
	if len(layers) == 0 {
		return nil
	}
	text, parsed, err := access.Encode(layers)
	if err == nil {
		err = parsed.Check(s.Closed...)
	}
	if err == nil {
		err = readiness.CheckSandbox(r.Ready, parsed)
	}
	if err != nil {
		return api.Errorf(api.CodeInvalid, "%v", err)
	}
	if err := s.Store.SaveSandbox(r.ID, text, supervise.StartsAtBoot(r.Restart)); err != nil {
		return api.Errorf(api.CodeUnavailable, "%v", err)
	}
	r.Sandboxed = true
	return nil
}

// cgroupOf is the cgroup that a record's child gets, or "". What somebody starts
// from a shell may leave that for good, so a shell has none.
func (s *Starter) cgroupOf(r store.Record) string {
	if r.TTY && names.IsPlainShell(r.Argv) {
		return ""
	}
	return proctree.CgroupFor(s.Cgroups, r.ID)
}

const (
	mostProjectFile = 4096 // bytes of a path
	mostDigest      = 128  // bytes
)

// setProject notes in a new record which entry of a project file it is for.
func setProject(r *store.Record, in *api.ProjectEntry) error {
	if in == nil {
		return nil
	}
	wrong := func(why string) error {
		return api.Errorf(api.CodeInvalid, "start process: project file %s: %s", names.Shown(in.File), why)
	}
	switch {
	case !filepath.IsAbs(in.File):
		return wrong("its path is not absolute")
	case len(in.File) > mostProjectFile:
		return wrong("its path is too long")
	case names.Check(in.Name) != nil:
		return wrong("the entry has no valid name")
	case in.Project != "" && names.Check(in.Project) != nil:
		return wrong("the project has no valid name")
	case len(in.Digest) > mostDigest:
		return wrong("the digest is too long")
	}
	entry := store.Project(*in)
	r.Project = &entry
	return nil
}
