package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/mcp/toolkit"
	"tandem/engine/sleep"
)

const (
	// progressInterval is how often an agent that waits is told that it is not forgotten.
	progressInterval = 5 * time.Second
	// muchMemory is the size of a result after which memory is given back, and
	// tidyDelay how long after: it has been sent by then.
	muchMemory = 1 << 20
	tidyDelay  = 300 * time.Millisecond
)

// Serve speaks the protocol on in and out until in has ended and what came from
// it is answered, until nobody reads out any more, or until ctx ends. What it
// started goes on.
func Serve(ctx context.Context, o toolkit.Options, in io.ReadCloser, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	s := newServer(ctx, o.Hiding())
	s.store = &toolkit.ResultStore{}
	defer s.close()
	defer cancel()
	unwatch := watchReader(out, cancel)
	defer unwatch()
	session, err := s.sdk.Connect(ctx, &lines{in: in, out: out, sent: s.tidy, store: s.store}, nil)
	if err != nil {
		return fmt.Errorf("serve agents: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { session.Close() })
	defer stop()
	if err := session.Wait(); err != nil && ctx.Err() == nil && !gone(err) {
		return fmt.Errorf("serve agents: %w", err)
	}
	return nil
}

// gone reports whether an error says that the client has left.
func gone(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, syscall.EPIPE)
}

// A server offers the tools of its profiles to the agents that connect.
type server struct {
	o        toolkit.Options
	sdk      *sdk.Server
	log      *slog.Logger
	stateful bool // a session lasts, and is an agent of its own

	ctx    context.Context // ends with the server
	agents agents
	rounds rounds
	tasks  sync.WaitGroup // goroutines that end with ctx

	backlog backlog
	store   *toolkit.ResultStore // of the transport that writes large results; nil where the SDK does
	untidy  atomic.Int64         // large results since memory was given back

	names     map[string]bool // of its tools, with the prefix
	list      []listedTool    // what tools/list tells
	resources resources
}

func newServer(ctx context.Context, o toolkit.Options) *server {
	s := &server{o: o.Complete(), ctx: ctx, stateful: true, names: map[string]bool{}, list: []listedTool{}, log: o.Log}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.agents.byKey = map[any]*connection{}
	tools := toolset(s.o)
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "tandem", Title: "Tandem", Version: o.Version}, &sdk.ServerOptions{
		Instructions:       instructions(s.o.ToolPrefix, tools),
		Capabilities:       s.capabilities(),
		InitializedHandler: s.greet,
		CompletionHandler:  s.complete,
		SubscribeHandler:   s.subscribe,
		UnsubscribeHandler: s.unsubscribe,
	})
	for _, t := range tools {
		l := listed(s.o.ToolPrefix, t)
		s.names[l.Name] = true
		s.list = append(s.list, l)
		s.sdk.AddTool(&sdk.Tool{Name: l.Name, InputSchema: l.In}, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return s.dispatch(ctx, t, req)
		})
	}
	s.addResources()
	s.addPrompts()
	s.sdk.AddReceivingMiddleware(s.receive)
	return s
}

func (s *server) capabilities() *sdk.ServerCapabilities {
	return &sdk.ServerCapabilities{
		Tools:     &sdk.ToolCapabilities{},
		Prompts:   &sdk.PromptCapabilities{},
		Resources: &sdk.ResourceCapabilities{ListChanged: true, Subscribe: true},
	}
}

// close ends what belongs to the server and waits for it. Its ctx has ended.
func (s *server) close() {
	for session := range s.sdk.Sessions() {
		session.Close()
	}
	s.tasks.Wait()
}

// handle goes before the SDK's own: it knows tools under their unlisted names,
// and lists what changes all the time.
func (s *server) handle(ctx context.Context, method string, req sdk.Request, next sdk.MethodHandler) (sdk.Result, error) {
	switch r := req.(type) {
	case *sdk.CallToolRequest:
		r.Params.Name = s.canonical(r.Params.Name)
		answer, err := next(ctx, method, req)
		if full, ok := answer.(*sdk.CallToolResult); ok && err == nil && full != nil {
			return toolkit.Light(full, r.ProtocolVersion(), s.store), nil
		}
		return answer, err
	case *sdk.ServerRequest[*sdk.DiscoverParams]:
		s.welcome(identify(r))
	case *sdk.ListToolsRequest:
		return s.listTools(r)
	case *sdk.ListResourcesRequest:
		return s.listResources(ctx, r)
	}
	return next(ctx, method, req)
}

// canonical is the name of a tool that was called with underscores where it
// has hyphens.
func (s *server) canonical(name string) string {
	if s.names[name] {
		return name
	}
	for known := range s.names {
		if strings.ReplaceAll(known, "-", "_") == name {
			return known
		}
	}
	return name
}

// A call is one call of a tool: whose it is, what it is, and where it is done.
type call struct {
	own  *toolkit.Agent
	at   *toolkit.Agent // own, or what it is on another machine
	host string         // that machine; "" for this one
	stay *stay          // there
	tool toolkit.Tool
	args json.RawMessage // without the machine
	req  *sdk.CallToolRequest
}

// dispatch runs one call: the person's policy first, the audit log last. Where it is done
// on another machine, the policy here says whether anything of the kind may be done
// there, and the one there whether it may.
func (s *server) dispatch(ctx context.Context, t toolkit.Tool, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	f, err := s.agentOf(ctx, identify(req))
	if err != nil {
		return answer(s.failure(err)), nil
	}
	c := call{own: f, at: f, tool: t, args: req.Params.Arguments, req: req}
	if err := s.lead(ctx, &c); err != nil {
		s.note(ctx, c, c.args, toolkit.Result{}, err, 0)
		return answer(s.failure(err)), nil
	}
	if c.stay != nil {
		noted := withoutSecret(ctx, c.at, t, c.args)
		if refusal := s.permit(ctx, c, f, noted); refusal != nil {
			return answer(*refusal), nil
		}
	}
	if t.Judged {
		judged, verdict, err := client.WithJudgement(ctx, inquiry(c.at, t, c.args))
		if err != nil {
			return answer(s.failure(err)), nil
		}
		r, took, err := s.timed(judged, c)
		if !verdict.Refused() {
			return s.told(ctx, c, c.args, r, took, err), nil
		}
	}
	noted := withoutSecret(ctx, c.at, t, c.args)
	// What the engine has refused is refused here in words, or asked about.
	if refusal := s.permit(ctx, c, c.at, noted); refusal != nil {
		return answer(*refusal), nil
	}
	r, took, err := s.timed(ctx, c)
	return s.told(ctx, c, noted, r, took, err), nil
}

// timed runs a call, tells the agent meanwhile that it goes on, and how long it
// took.
func (s *server) timed(ctx context.Context, c call) (r toolkit.Result, took time.Duration, err error) {
	began := time.Now()
	quiet := reportProgress(ctx, c.req)
	r, err = s.run(ctx, c.at, c.tool, c.args)
	quiet()
	return r, time.Since(began), err
}

// told is the answer to a call that was made, which goes into the audit log.
func (s *server) told(ctx context.Context, c call, noted json.RawMessage, r toolkit.Result, took time.Duration, err error) *sdk.CallToolResult {
	s.note(ctx, c, noted, r, err, took)
	if errors.Is(err, api.CodeUnavailable) {
		c.at.Lost.Store(true)
	}
	if err != nil {
		r = s.failure(toolkit.Advised(c.tool, err))
	}
	s.tidy(r.Size())
	return answer(c.at.Shaped(r, c.req.ProtocolVersion()))
}

// failure is how an error is told to an agent of this server.
func (s *server) failure(err error) toolkit.Result {
	if e := api.AsError(err); e.Hint != "" {
		if hint := s.hint(e.Hint); hint != e.Hint {
			err = e.WithHint(hint)
		}
	}
	return toolkit.Failure(err)
}

// hint is a hint with the tools that this server has, by their names here.
func (s *server) hint(hint string) string {
	return toolkit.Hinting(hint, func(tool string) (string, bool) {
		name := s.o.ToolPrefix + tool
		return name, s.names[name]
	})
}

// note has a call recorded behind the agent's back, as it ended: the request's
// context and text go on without it. What was done on another machine is recorded there too.
func (s *server) note(ctx context.Context, c call, noted json.RawMessage, r toolkit.Result, err error, took time.Duration) {
	s.noteHere(ctx, c, noted, r, err, took)
	if c.stay != nil {
		there := c
		there.own, there.host = c.at, ""
		s.keep(&c.stay.backlog, there.recorded(ctx, noted, r, err, took))
	}
}

// noteHere is note for what has not been done.
func (s *server) noteHere(ctx context.Context, c call, noted json.RawMessage, r toolkit.Result, err error, took time.Duration) {
	s.keep(&s.backlog, c.recorded(ctx, noted, r, err, took))
}

func (c call) recorded(ctx context.Context, noted json.RawMessage, r toolkit.Result, err error, took time.Duration) recorded {
	if ctx.Err() == nil {
		ctx = context.WithoutCancel(ctx)
	}
	brief, at := toolkit.Result{Failed: r.Failed, Process: r.Process}, time.Now()
	return recorded{c.own, sync.OnceValue(func() api.AuditEntry {
		entry := entryOf(ctx, c.own, c.tool, noted, brief, err, took, at)
		entry.Host = c.host
		return entry
	})}
}

// tidy gives back to the system what a large result took, a moment after the
// last one: an agent's server idles for hours.
func (s *server) tidy(size int) {
	if size < muchMemory || s.untidy.Add(1) > 1 {
		return // who was first sees to it
	}
	s.tasks.Go(func() {
		for seen := int64(1); ; seen = s.untidy.Load() {
			_ = sleep.For(s.ctx, tidyDelay)
			if s.untidy.CompareAndSwap(seen, 0) {
				break
			}
		}
		// What encoders keep for their next use outlives two collections.
		runtime.GC()
		runtime.GC()
		debug.FreeOSMemory()
	})
}

// run calls a tool. One that panics costs nobody else anything.
func (s *server) run(ctx context.Context, f *toolkit.Agent, t toolkit.Tool, args json.RawMessage) (r toolkit.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("tool panicked", "tool", t.Name, "panic", p, "stack", string(debug.Stack()))
			r, err = toolkit.Result{}, api.Errorf(api.CodeInternal, "call %s: internal error: %v", t.Name, p)
		}
	}()
	return t.Call(ctx, f, args)
}

func answer(r toolkit.Result) *sdk.CallToolResult {
	if r.Content == nil && r.Input == nil {
		r.Content = []sdk.Content{}
	}
	return &sdk.CallToolResult{Content: r.Content, StructuredContent: r.Structured, IsError: r.Failed,
		InputRequests: r.Input, RequestState: r.State}
}

// reportProgress tells an agent that asked for it how long a call has been going on.
// The function that comes back ends that.
func reportProgress(ctx context.Context, req *sdk.CallToolRequest) (quiet func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	began := time.Now()
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		clock := time.NewTicker(progressInterval)
		defer clock.Stop()
		for {
			select {
			case <-clock.C:
				passed := time.Since(began).Seconds()
				// Who does not listen any more need not know.
				_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token,
					Progress: passed, Message: fmt.Sprintf("%s: %d s", req.Params.Name, int(passed))})
			case <-ctx.Done():
				return
			case <-done:
				return
			}
		}
	}()
	return func() { close(done); <-gone }
}

// Options configure a server.
type Options = toolkit.Options

// Profiles lists the names of the sets of tools.
func Profiles() []toolkit.Profile { return toolkit.Profiles() }

// ParseProfiles reads names, each of which may be a list with commas.
func ParseProfiles(names []string) ([]toolkit.Profile, error) { return toolkit.ParseProfiles(names) }
