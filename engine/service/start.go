package service

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"tandem/engine/agent/access"
	"tandem/engine/api"
	"tandem/engine/base/names"
	"tandem/engine/base/sleep"
	"tandem/engine/control/readiness"
	"tandem/engine/control/supervise"
	"tandem/engine/service/startrules"
	"tandem/engine/system/proctree"
	"tandem/persist/store"
)

// A Starter converts requests of clients to records, and starts programs from them.
type Starter struct {
	Control  *supervise.Control
	Store    *store.Store
	Env      *Env
	Closed   []string                                 // directories closed to writes from every sandbox
	CgroupOf func(store.Record) string                // returns the cgroup for a record's child, or ""
	Privacy  *startrules.Privacy                      // of sessions
	Shell    func(environ map[string]string) []string // program started by an empty command; with a nil environ, the engine's is used
}

// maxLogLimit is practically unlimited, but small enough to calculate with.
const maxLogLimit = 1 << 60

// sessionRecord checks a request to start a session and converts it to a record.
func (s *Starter) sessionRecord(kind api.Kind, in api.SessionStartInput) (store.Record, error) {
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
	if r.CWD, err = startrules.Folder(in.CWD); err != nil {
		return none, err
	}
	if r.Name = in.Name; r.Name == "" {
		r.Name = names.OfProgram(r.Argv)
	}
	if err := api.Invalid(names.Check(r.Name)); err != nil {
		return none, err
	}
	if r.Cols, r.Rows, err = startrules.Size(in.Cols, in.Rows); err != nil {
		return none, err
	}
	if in.Actor != "" {
		r.Actor = in.Actor
	}
	if names.CheckLabel(r.Actor) != nil {
		return none, api.Errorf(api.CodeInvalid, "start %s: actor %q is not a valid name", kind, names.Shown(r.Actor))
	}
	r.Env, r.Environ, r.Umask = in.Env, in.Environ, in.Umask
	if err := startrules.CheckUmask(in.Umask); err != nil {
		return none, err
	}
	if err := checkEnv(in.Environ); err != nil {
		return none, err
	}
	return r, checkEnv(in.Env)
}

// processRecord checks a request to start a process and converts it to a record.
func (s *Starter) processRecord(in api.ProcessStartInput) (store.Record, error) {
	none := store.Record{}
	if len(in.Command) == 0 && !in.TTY {
		return none, api.Errorf(api.CodeInvalid, "start process: no command given")
	}
	kind := api.KindProcess
	if in.TTY {
		kind = api.KindSession
	}
	r, err := s.sessionRecord(kind, api.SessionStartInput{
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
	if in.NoStdin && (in.Stdin || in.TTY) {
		return none, api.Errorf(api.CodeInvalid, "start process: no_stdin cannot be combined with stdin or tty")
	}
	// A one-shot command must end, so it must not wait for input that nobody will write.
	r.Stdin, r.NoStdin = in.Stdin, in.NoStdin || in.Transient && !in.Stdin
	if in.StopTimeoutMS < 0 || in.LogLimit < 0 {
		return none, api.Errorf(api.CodeInvalid, "start process: stop_timeout_ms and log_limit cannot be negative")
	}
	if err := startrules.SetProject(&r, in.Project); err != nil {
		return none, err
	}
	if r.After, err = supervise.DependenciesOf(in.After); err != nil {
		return none, err
	}
	r.StopSignal, r.StopTimeoutMS = in.StopSignal, in.StopTimeoutMS
	if in.TTY && r.StopSignal == "" { // the default would be SIGHUP
		r.StopSignal = "SIGTERM"
	}
	r.SplitLog, r.LogLimit, r.Transient = in.SplitLog && !in.TTY, min(in.LogLimit, maxLogLimit), in.Transient
	return r, nil
}

// setOwner records who requested a start. If an agent did, it becomes the owner; records of the
// user have none.
func setOwner(ctx context.Context, r *store.Record, lease api.Lease) error {
	switch lease {
	case "", api.LeaseDetached, api.LeaseSession, api.LeaseForever:
	default:
		return api.Errorf(api.CodeInvalid, "unknown lease %s", names.Shown(string(lease))).
			WithHint("must be detached, session or forever")
	}
	caller := api.CallerOf(ctx)
	r.From = caller.Origin.From
	if !caller.Agent() {
		return nil
	}
	if names.CheckLabel(caller.Owner) != nil && !names.IsID(caller.Owner) {
		return api.Errorf(api.CodeInvalid, "start: owner %s is not a valid name", names.Shown(caller.Owner))
	}
	if lease == "" {
		lease = api.LeaseDetached
	}
	r.Actor = caller.Actor()
	if names.CheckLabel(r.Actor) != nil {
		r.Actor = api.AgentPrefix + "unknown"
	}
	r.Owner, r.Lease = caller.Owner, string(lease)
	return nil
}

// beginStart gives a new record its owner, id and sandbox, and begins to start it. If the call is
// repeated with the same id, it waits for the first start instead. The answer comes when
// until(state) is true for the announced state, or when the start has failed.
func (s *Starter) beginStart(ctx context.Context, r *store.Record, in request, until func(api.State) bool) (supervise.Pending, error) {
	none := supervise.Pending{}
	if err := setOwner(ctx, r, in.lease); err != nil {
		return none, err
	}
	if err := s.Privacy.Apply(ctx, r, startrules.Start{Private: in.private, Named: in.named, Sandbox: in.sandbox != nil}); err != nil {
		return none, err
	}
	r.ID = cmp.Or(in.id, r.ID)
	switch again, ok, err := s.claimID(ctx, *r, until); {
	case err != nil:
		return none, err
	case ok:
		return again, nil
	}
	answer, err := none, s.saveSandbox(r, access.Layers(ctx, in.sandbox))
	if err == nil {
		answer, err = s.enterRecord(ctx, *r, in.named, until)
	}
	if err != nil && ctx.Err() == nil && !api.IsEnding(err) { // otherwise the record may still be entered
		err = s.releaseID(r.ID, err)
	}
	return answer, err
}

// releaseID frees an id after a failed start, so that a retry can use it.
func (s *Starter) releaseID(id string, why error) error {
	if err := s.Store.Discard(id); err != nil {
		return errors.Join(why, err)
	}
	return why
}

// A request holds the parts of a start that are not saved in its record.
type request struct {
	id      string // chosen by the client; "" for a new one
	named   bool   // the name was chosen by the client
	private bool   // the session is to be private
	lease   api.Lease
	sandbox *api.Sandbox
}

const (
	// claimWait is how long a call waits for the record of another call that has claimed the same
	// id.
	claimWait = 2 * time.Second
	claimPoll = 2 * time.Millisecond
)

// claimID reserves an id chosen by a client. If the same start was requested under this id before,
// ok is true and earlier waits for the answer to that request. That happens if an engine exits
// before it answers a client.
func (s *Starter) claimID(ctx context.Context, r store.Record, until func(api.State) bool) (earlier supervise.Pending, ok bool, err error) {
	err = s.Store.Claim(r.ID)
	for began := time.Now(); errors.Is(err, fs.ErrExist) && time.Since(began) < claimWait; err = s.Store.Claim(r.ID) {
		earlier, ok, err = s.Control.FindEarlierStart(ctx, r, until)
		if ok || err != nil {
			return earlier, ok, err
		}
		// Another call has claimed the id, but has not entered its record yet.
		if err := sleep.For(ctx, claimPoll); err != nil {
			return earlier, false, err
		}
	}
	switch {
	case errors.Is(err, store.ErrNoID):
		err = api.Errorf(api.CodeInvalid, "start session: id %q is not 12 lower-case hex digits", names.Shown(r.ID))
	// A record exists but cannot be read now, so the start may have succeeded.
	case errors.Is(err, fs.ErrExist):
		err = api.Errorf(api.CodeConflict, "start session: id %s is taken", r.ID)
		if _, unread := s.Store.LoadRecord(r.ID); unread != nil {
			err = api.Errorf(api.CodeUnsure, "start %s: it may have been started as %s: %v", r.Name, r.ID, unread)
		}
	case err != nil:
		err = api.Errorf(api.CodeUnavailable, "start session: %v", err)
	}
	return earlier, false, err
}

// startAndWait starts a new record. It waits until the process runs, has already exited, or fails
// to start.
func (s *Starter) startAndWait(ctx context.Context, r store.Record, in request) (api.Process, error) {
	answer, err := s.beginStart(ctx, &r, in, supervise.HasStarted)
	if err != nil {
		return api.Process{}, err
	}
	return answer.Wait(ctx)
}

// enterRecord begins to start a new record. The answer comes when until(state) is true for the
// announced state, or when the start has failed.
func (s *Starter) enterRecord(ctx context.Context, rec store.Record, named bool, until func(api.State) bool) (supervise.Pending, error) {
	rec.Cgroup = s.CgroupOf(rec)
	answer, err := s.Control.StartNew(ctx, rec, s.Store.LogPath(rec), named, until)
	if err != nil && !errors.Is(err, ctx.Err()) { // which callers test for
		err = api.AsError(err)
	}
	return answer, err
}

// saveSandbox saves the sandbox of a process next to its record. It consists of all layers that are
// not nil; without any, the process is not confined. It rejects layers that this system cannot
// enforce.
func (s *Starter) saveSandbox(r *store.Record, layers []*api.Sandbox) error {
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
