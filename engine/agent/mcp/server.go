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

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/engine/base/sleep"
)

const (
	// progressInterval is the time between progress notifications.
	progressInterval = 5 * time.Second
	// largeResult is the minimum size of results after which memory is freed. tidyDelay is the pause
	// before memory is freed, so that the result has been sent by then.
	largeResult = 1 << 20
	tidyDelay   = 300 * time.Millisecond
)

// Serve speaks the protocol on in and out until in has ended and its calls are answered, until the
// reader of out hangs up, or until ctx ends. Processes started by agents keep running.
func Serve(ctx context.Context, o toolkit.Options, in io.ReadCloser, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	s := newServer(ctx, o.HideSecrets())
	s.store = &toolkit.ResultStore{}
	defer s.close()
	defer cancel()
	unwatch := watchHangup(out, cancel)
	defer unwatch()
	session, err := s.sdk.Connect(ctx, &lineTransport{in: in, out: out, store: s.store}, nil)
	if err != nil {
		return fmt.Errorf("serve agents: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { session.Close() })
	defer stop()
	if err := session.Wait(); err != nil && ctx.Err() == nil && !isDisconnect(err) {
		return fmt.Errorf("serve agents: %w", err)
	}
	return nil
}

// isDisconnect reports whether an error means that the client has disconnected.
func isDisconnect(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, syscall.EPIPE)
}

// A server offers the tools of its profiles to connecting agents.
type server struct {
	o        toolkit.Options
	sdk      *sdk.Server
	log      *slog.Logger
	stateful bool // sessions last, and each is an agent of its own

	ctx    context.Context // ends with the server
	agents agents
	rounds rounds
	tasks  sync.WaitGroup // goroutines that end with ctx

	store        *toolkit.ResultStore // large results written by the transport; nil if the SDK writes them
	largeResults atomic.Int64         // number since memory was last freed

	names     map[string]bool // tool names, with the prefix
	list      []listedTool    // reply to tools/list
	resources resources
}

func newServer(ctx context.Context, o toolkit.Options) *server {
	s := &server{o: o.WithDefaults(), ctx: ctx, stateful: true, names: map[string]bool{}, list: []listedTool{}, log: o.Log}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.agents.byKey = map[any]*connection{}
	tools := selectTools(s.o)
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "tandem", Title: "Tandem", Version: o.Version}, &sdk.ServerOptions{
		Instructions:       instructions(s.o.ToolPrefix, tools),
		Capabilities:       s.capabilities(),
		InitializedHandler: s.handleInitialized,
		CompletionHandler:  s.completeArgument,
		SubscribeHandler:   s.subscribe,
		UnsubscribeHandler: s.unsubscribe,
	})
	for _, t := range tools {
		l := describeTool(s.o.ToolPrefix, t)
		s.names[l.Name] = true
		s.list = append(s.list, l)
		// The SDK needs no schemas, because listTools replaces its list. Reading them all would take
		// it 1 ms.
		s.sdk.AddTool(&sdk.Tool{Name: l.Name, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return s.dispatch(ctx, t, req)
		})
	}
	s.addResources()
	s.addPrompts()
	s.sdk.AddReceivingMiddleware(s.receiveMiddleware)
	return s
}

func (s *server) capabilities() *sdk.ServerCapabilities {
	return &sdk.ServerCapabilities{
		Tools:     &sdk.ToolCapabilities{},
		Prompts:   &sdk.PromptCapabilities{},
		Resources: &sdk.ResourceCapabilities{ListChanged: true, Subscribe: true},
	}
}

// close closes all sessions and waits for the server's goroutines. The caller has ended s.ctx.
func (s *server) close() {
	for session := range s.sdk.Sessions() {
		session.Close()
	}
	s.tasks.Wait()
}

// handleRequest runs before the SDK's handlers: it accepts alternative tool names, and answers the
// list requests itself.
func (s *server) handleRequest(ctx context.Context, method string, req sdk.Request, next sdk.MethodHandler) (sdk.Result, error) {
	switch r := req.(type) {
	case *sdk.CallToolRequest:
		r.Params.Name = s.canonicalName(r.Params.Name)
		if s.o.ReadOnly && !s.names[r.Params.Name] {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("unknown tool %q: this server is read-only and has only tools that change nothing", r.Params.Name)}
		}
		answer, err := next(ctx, method, req)
		if full, ok := answer.(*sdk.CallToolResult); ok && err == nil && full != nil {
			return toolkit.EncodeLarge(full, s.store), nil
		}
		return answer, err
	case *sdk.ServerRequest[*sdk.DiscoverParams]:
		s.preconnect(identifyCaller(r))
	case *sdk.ListToolsRequest:
		return s.listTools(r), nil
	case *sdk.ListResourcesRequest:
		return s.listResources(ctx, r)
	}
	return next(ctx, method, req)
}

// canonicalName returns a tool's own name: a client may have written it with underscores instead of
// hyphens.
func (s *server) canonicalName(name string) string {
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

// A call is one call of a tool.
type call struct {
	own    *toolkit.Agent
	agent  *toolkit.Agent // the agent to call it as: own, or its counterpart on another machine
	host   string         // the other machine; "" for this one
	remote *remoteAgent   // set for calls on other machines
	tool   toolkit.Tool
	args   json.RawMessage // without the machine
	req    *sdk.CallToolRequest
}

// dispatch runs one call and returns its result.
func (s *server) dispatch(ctx context.Context, t toolkit.Tool, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	f, err := s.agentOf(ctx, identifyCaller(req))
	if err != nil {
		return toolResult(s.failureResult(err)), nil
	}
	c := call{own: f, agent: f, tool: t, args: req.Params.Arguments, req: req}
	if err := s.routeCall(ctx, &c); err != nil {
		return toolResult(s.failureResult(err)), nil
	}
	var r toolkit.Result
	more, err := s.runPermitted(ctx, c, func(ctx context.Context) (err error) {
		defer reportProgress(ctx, req)()
		r, err = s.runTool(ctx, c.agent, t, c.args)
		return err
	})
	if more != nil {
		return toolResult(*more), nil
	}
	if errors.Is(err, api.CodeUnavailable) {
		c.agent.EngineLost.Store(true)
	}
	if err != nil {
		r = s.failureResult(toolkit.AddAdvice(t, err))
	}
	s.freeMemoryLater(r.Size())
	return toolResult(c.agent.FitToClient(r, req.ProtocolVersion())), nil
}

// failureResult returns the result for an error.
func (s *server) failureResult(err error) toolkit.Result {
	if e := api.AsError(err); e.Hint != "" {
		if hint := s.rewriteHint(e.Hint); hint != e.Hint {
			err = e.WithHint(hint)
		}
	}
	return toolkit.FailureResult(err)
}

// rewriteHint adapts a hint to this server: its tools' names get the prefix, and tools it does not
// have are left out.
func (s *server) rewriteHint(hint string) string {
	return toolkit.RewriteHint(hint, func(tool string) (string, bool) {
		name := s.o.ToolPrefix + tool
		return name, s.names[name]
	})
}

// freeMemoryLater returns the memory of a large result to the system shortly after the last one: an
// agent's server then idles for hours.
func (s *server) freeMemoryLater(size int) {
	if size < largeResult || s.largeResults.Add(1) > 1 {
		return // the first caller's goroutine handles it
	}
	s.tasks.Go(func() {
		for seen := int64(1); ; seen = s.largeResults.Load() {
			_ = sleep.For(s.ctx, tidyDelay)
			if s.largeResults.CompareAndSwap(seen, 0) {
				break
			}
		}
		// Pooled encoder buffers survive one collection.
		runtime.GC()
		runtime.GC()
		debug.FreeOSMemory()
	})
}

// runTool calls a tool. A panic fails only this call.
func (s *server) runTool(ctx context.Context, f *toolkit.Agent, t toolkit.Tool, args json.RawMessage) (r toolkit.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("tool panicked", "tool", t.Name, "panic", p, "stack", string(debug.Stack()))
			r, err = toolkit.Result{}, api.Errorf(api.CodeInternal, "call %s: internal error: %v", t.Name, p)
		}
	}()
	return t.Call(ctx, f, args)
}

func toolResult(r toolkit.Result) *sdk.CallToolResult {
	if r.Content == nil && r.Input == nil {
		r.Content = []sdk.Content{}
	}
	return &sdk.CallToolResult{Content: r.Content, StructuredContent: r.Structured, IsError: r.Failed,
		InputRequests: r.Input, RequestState: r.State}
}

// reportProgress sends progress notifications for a call that requests them. quiet stops them and
// waits until none is being sent.
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
				// The client may have disconnected.
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

// Options configures a server.
type Options = toolkit.Options

// Profiles returns the names of the tool profiles.
func Profiles() []toolkit.Profile { return toolkit.Profiles() }

// ParseProfiles parses profile names; each string may hold several, separated by commas.
func ParseProfiles(names []string) ([]toolkit.Profile, error) { return toolkit.ParseProfiles(names) }
