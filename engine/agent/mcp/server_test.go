package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"tandem/engine/api/sockets"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/engine/api/client"
	apiserver "tandem/engine/api/server"
	"tandem/tests/needs"
	"tandem/tests/wait"
)

// A fakeEngine answers the operations used by these tests.
type fakeEngine struct {
	dir    string
	denied string // tool; set before the first call

	mu         sync.Mutex
	callers    []api.Caller   // callers of process.list
	watchers   map[string]int // by owner
	agents     chan int       // number of agents watching events, after each change
	sends      []chan api.Event
	logCallers []api.Caller // callers of process.log
	log        string
	grown      chan struct{}
	follows    chan struct{}        // calls of process.log that wait for output
	waits      chan context.Context // contexts of process.wait, which returns when its context ends
}

func newFakeEngine(t testing.TB) *fakeEngine {
	t.Helper()
	dir, err := os.MkdirTemp("", "td") // short, because socket paths are limited
	if err != nil {
		t.Fatal(err)
	}
	e := &fakeEngine{dir: dir, watchers: map[string]int{}, agents: make(chan int, 1000), grown: make(chan struct{}), follows: make(chan struct{}, 1000), waits: make(chan context.Context, 1)}
	m := apiserver.NewMux(func(ctx context.Context, name string, effect api.Effect, _ any) error {
		if api.CallerOf(ctx).Bounds.ReadOnly && effect != api.Read {
			return api.Errorf(api.CodeForbidden, "call %s: this agent may only read", name)
		}
		return nil
	})
	apiserver.Handle(m, api.EngineInfo, func(context.Context, api.Empty) (api.Info, error) {
		return api.Info{Version: "1.2.3", Protocol: api.Protocol}, nil
	})
	apiserver.Handle(m, api.ProcessList, e.processList)
	apiserver.Handle(m, api.ProcessGet, func(_ context.Context, in api.IDInput) (api.Process, error) {
		if in.ID != "abc" {
			return api.Process{}, api.Errorf(api.CodeNotFound, "get process %s: there is none", in.ID)
		}
		return api.Process{ID: "abc", State: api.StateRunning}, nil
	})
	apiserver.Handle(m, api.ProcessLog, e.processLog)
	apiserver.Handle(m, api.ProcessWait, func(ctx context.Context, _ api.ProcessWaitInput) (api.ProcessWaitOutput, error) {
		e.waits <- ctx
		<-ctx.Done()
		return api.ProcessWaitOutput{}, ctx.Err()
	})
	apiserver.Handle(m, api.SessionList, func(context.Context, api.Empty) (api.SessionListOutput, error) {
		return api.SessionListOutput{}, nil
	})
	apiserver.Handle(m, api.SessionKill, func(context.Context, api.IDInput) (api.Process, error) {
		return api.Process{ID: "abc", Name: "web", State: api.StateStopped}, nil
	})
	apiserver.Handle(m, api.PolicyCheck, func(context.Context, api.PolicyCheckInput) (api.Empty, error) { return api.Empty{}, nil })
	m.Policy = func(ctx context.Context, _ api.Entry, _ api.Effect, _ any) error {
		if e.denied != "" && slices.Contains(api.CallerOf(ctx).Tools, e.denied) {
			return api.Errorf(api.CodeForbidden, "call %s: not allowed: private", e.denied)
		}
		return nil
	}
	m.HandleWatch(e.watch)
	m.HandleOpen(func(context.Context, api.OpenOptions) (io.ReadWriteCloser, api.Info, error) {
		near, far := net.Pipe()
		far.Close()
		return near, api.Info{Version: "1.2.3"}, nil
	})
	socket, _ := sockets.Paths(dir)
	l, err := apiserver.Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = m.Serve(ctx, l)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		os.RemoveAll(dir)
	})
	return e
}

func (e *fakeEngine) processList(ctx context.Context, _ api.ProcessListInput) (api.ProcessListOutput, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.callers = append(e.callers, api.CallerOf(ctx))
	return api.ProcessListOutput{Processes: []api.Process{
		{ID: "abc", Kind: api.KindProcess, Name: "web", Command: "serve"}, {ID: "def", Kind: api.KindSession, Name: "sh", Command: "bash"},
	}}, nil
}

// processLog returns once there is output after since, or at once if not asked to wait.
func (e *fakeEngine) processLog(ctx context.Context, in api.ProcessLogInput) (api.ProcessLogOutput, error) {
	e.mu.Lock()
	e.logCallers = append(e.logCallers, api.CallerOf(ctx))
	e.mu.Unlock()
	for {
		e.mu.Lock()
		log, grown := e.log, e.grown
		e.mu.Unlock()
		start := int64(0)
		if in.Since != nil && *in.Since >= 0 {
			start = min(*in.Since, int64(len(log)))
		}
		if in.WaitMS == 0 || start < int64(len(log)) {
			end := min(int64(len(log)), start+int64(max(in.Max, 1)))
			out := api.ProcessLogOutput{Data: log[start:end], Start: start, NextCursor: end, End: int64(len(log)), State: api.StateRunning}
			if in.Exact && !utf8.ValidString(out.Data) {
				out.Data, out.DataBytes = "", base64.StdEncoding.EncodeToString([]byte(out.Data))
			}
			return out, nil
		}
		e.follows <- struct{}{}
		select {
		case <-grown:
		case <-ctx.Done():
			return api.ProcessLogOutput{}, ctx.Err()
		}
	}
}

func (e *fakeEngine) appendLog(text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.log += text
	close(e.grown)
	e.grown = make(chan struct{})
}

func (e *fakeEngine) watch(ctx context.Context, _ api.WatchInput, send func(api.Event) error) error {
	owner := api.CallerOf(ctx).Owner
	events := make(chan api.Event, 8)
	e.mu.Lock()
	e.watchers[owner]++
	e.sends = append(e.sends, events)
	e.countAgents()
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.watchers[owner]--
		e.countAgents()
	}()
	if err := send(api.Event{Type: api.EventSnapshot}); err != nil {
		return err
	}
	for {
		select {
		case ev := <-events:
			if err := send(ev); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// countAgents reports the number of agents watching events. The caller holds e.mu.
func (e *fakeEngine) countAgents() {
	n := 0
	for owner, watches := range e.watchers {
		if owner != "" && watches > 0 {
			n++
		}
	}
	e.agents <- n
}

// awaitAgents waits until n agents watch events.
func (e *fakeEngine) awaitAgents(t testing.TB, n int) {
	t.Helper()
	for wait.Receive(t, fmt.Sprintf("%d agents", n), e.agents) != n {
	}
}

func (e *fakeEngine) sendEvent(ev api.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.sends {
		c <- ev
	}
}

func (e *fakeEngine) options() toolkit.Options {
	return toolkit.Options{Version: "1.2.3", CWD: "/", Home: "/", Connect: func(ctx context.Context, name, owner string, bounds *api.Bounds) (*client.Client, error) {
		return client.Connect(ctx, client.Options{DataDir: e.dir, Version: "1.2.3", Name: name, Owner: owner, Bounds: bounds})
	}}
}

// withHandshake is the last protocol version with a handshake.
const withHandshake = "2025-11-25"

// serveClient runs a server on pipes and returns an SDK client of it.
func serveClient(t testing.TB, o toolkit.Options, version string, client *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	return serveTo(t, o, sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "7"}, client), version)
}

// serveTo runs a server on pipes for a given client.
func serveTo(t testing.TB, o toolkit.Options, c *sdk.Client, version string) *sdk.ClientSession {
	t.Helper()
	ours, theirs := net.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, o, ours, ours) }()
	session, err := c.Connect(ctx, &sdk.IOTransport{Reader: theirs, Writer: theirs}, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		if err := <-done; err != nil {
			t.Errorf("Serve = %v", err)
		}
		cancel()
	})
	return session
}

func TestAgentIsPresentFromHandshakeToDisconnect(t *testing.T) {
	t.Parallel()
	for _, version := range []string{withHandshake, toolkit.WithoutSessions} {
		t.Run(version, func(t *testing.T) {
			e := newFakeEngine(t)
			session := serveClient(t, e.options(), version, &sdk.ClientOptions{})
			e.awaitAgents(t, 1)
			if _, err := session.ListResources(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			if got := e.callers[0]; got.Name != "agent:tester/7" || !got.Agent() {
				t.Errorf("the engine sees %+v", got)
			}
			session.Close()
			e.awaitAgents(t, 0)
		})
	}
}

func TestToolListNeedsNoEngine(t *testing.T) {
	t.Parallel()
	o := toolkit.Options{CWD: "/", Connect: func(ctx context.Context, _, _ string, _ *api.Bounds) (*client.Client, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	session := serveClient(t, o, withHandshake, nil)
	list, err := session.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) == 0 {
		t.Fatalf("%v tools, %v", list, err)
	}
}

func TestUnreachableEngineFailsTheCall(t *testing.T) {
	t.Parallel()
	o := toolkit.Options{CWD: "/", Connect: func(context.Context, string, string, *api.Bounds) (*client.Client, error) {
		return nil, api.Errorf(api.CodeUnavailable, "no engine today").WithHint("tomorrow")
	}}
	session := serveClient(t, o, withHandshake, nil)
	r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "session_list"})
	if err != nil || !r.IsError || !strings.Contains(r.Content[0].(*sdk.TextContent).Text, "no engine today\nhint: tomorrow") {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestCancelledCallStopsWaiting(t *testing.T) {
	t.Parallel()
	e := newFakeEngine(t)
	session := serveClient(t, e.options(), withHandshake, nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "process_wait", Arguments: map[string]any{"id": "abc"}})
		done <- err
	}()
	engine := <-e.waits
	cancel()
	<-done
	<-engine.Done()
}

func TestChangedResourceListIsAnnounced(t *testing.T) {
	t.Parallel()
	for _, version := range []string{withHandshake, toolkit.WithoutSessions} {
		t.Run(version, func(t *testing.T) { testListChanged(t, version) })
	}
}

func testListChanged(t *testing.T, version string) {
	e := newFakeEngine(t)
	told := make(chan struct{}, 8)
	session := serveClient(t, e.options(), version, &sdk.ClientOptions{ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) {
		told <- struct{}{}
	}})
	e.awaitAgents(t, 1)
	e.sendEvent(api.Event{Type: api.EventProcess, Process: &api.Process{ID: "new", Name: "n"}})
	<-told
	list, err := session.ListResources(t.Context(), nil)
	if err != nil || len(list.Resources) != 2 || list.Resources[1].URI != "tandem://session/def/screen" {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestSubscribedLogReportsOutputUntilUnsubscribed(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	e := newFakeEngine(t)
	updated := make(chan string, 8)
	session := serveClient(t, e.options(), withHandshake, &sdk.ClientOptions{ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) {
		updated <- r.Params.URI
	}})
	const uri = "tandem://process/abc/log"
	if err := session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "tandem://process/none/log"}); err == nil {
		t.Error("a process that is not there can be watched")
	}
	if err := session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
		t.Fatal(err)
	}
	wait.Receive(t, "the server to follow the log", e.follows)
	e.appendLog("more\n")
	if got := wait.Receive(t, "news", updated); got != uri {
		t.Errorf("news of %q", got)
	}
	read, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
	if err != nil || !strings.HasPrefix(read.Contents[0].Text, "more\n") {
		t.Errorf("%+v, %v", read, err)
	}
	if err := session.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: uri}); err != nil {
		t.Fatal(err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, by := range e.logCallers {
		if !by.Agent() || by.Name != "agent:tester/7" || by.Bounds.Base != "/" {
			t.Errorf("somebody without bounds looks for it: %+v", by)
		}
	}
}

func TestToolRuleAppliesToEquivalentResource(t *testing.T) {
	t.Parallel()
	e := newFakeEngine(t)
	e.denied = "process_log"
	session := serveClient(t, e.options(), withHandshake, &sdk.ClientOptions{})
	uri := "tandem://process/abc/log"
	_, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
	if err == nil || !strings.Contains(err.Error(), "not allowed: private") {
		t.Errorf("reading: %v", err)
	}
	err = session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri})
	if err == nil || !strings.Contains(err.Error(), "not allowed: private") {
		t.Errorf("subscribing: %v", err)
	}
}

// Both kinds of protocol versions, and both places where clients show text.
func TestLargeOutputArrivesUnchanged(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	e := newFakeEngine(t)
	e.log = strings.Repeat("<&> \"quoted\" é 😀\u2028\n", 3*toolkit.LargeResultSize/16)
	for _, name := range []string{"tester", "claude-code"} {
		for _, version := range []string{withHandshake, toolkit.WithoutSessions} {
			session := serveTo(t, e.options(), sdk.NewClient(&sdk.Implementation{Name: name, Version: "7"}, nil), version)
			for range 2 {
				r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "process_log",
					Arguments: map[string]any{"id": "abc", "since": 0, "max_output": 2 * len(e.log)}})
				if err != nil {
					t.Fatal(err)
				}
				if len(r.Content) != 1 {
					t.Fatalf("%s, %s: %d blocks", name, version, len(r.Content))
				}
				got := r.Content[0].(*sdk.TextContent).Text
				facts, _ := r.StructuredContent.(map[string]any)
				if got != e.log+"[running]" || name == "tester" && facts["next_cursor"] != float64(len(e.log)) || name == "claude-code" && r.StructuredContent != nil {
					t.Errorf("%s, %s: %d bytes of %d, %v", name, version, len(got), len(e.log), r.StructuredContent)
				}
			}
		}
	}
}

// Clients of versions without structured content get everything in the text, whatever their name.
func TestOlderClientGetsEverythingAsText(t *testing.T) {
	t.Parallel()
	e := newFakeEngine(t)
	e.log = "ready\n"
	session := serveTo(t, e.options(), sdk.NewClient(&sdk.Implementation{Name: "claude-code", Version: "1"}, nil), "2025-03-26")
	r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "process_log", Arguments: map[string]any{"id": "abc", "since": 0}})
	if err != nil {
		t.Fatal(err)
	}
	var text string
	for _, c := range r.Content {
		text += c.(*sdk.TextContent).Text
	}
	if r.StructuredContent != nil || text != "ready\n[running]" {
		t.Errorf("it gets %q, %v", text, r.StructuredContent)
	}
}

func TestUnknownToolErrorReportsThatTheServerIsReadOnly(t *testing.T) {
	t.Parallel()
	o := newFakeEngine(t).options()
	o.ReadOnly = true
	session := serveClient(t, o, withHandshake, nil)
	_, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "exec", Arguments: map[string]any{"command": "true"}})
	if err == nil || !strings.Contains(err.Error(), `unknown tool "exec": this server is read-only`) {
		t.Errorf("exec: %v", err)
	}
}

func TestPromptErrorsNameTheArgument(t *testing.T) {
	t.Parallel()
	session := serveClient(t, newFakeEngine(t).options(), withHandshake, nil)
	for _, r := range recipes() {
		got, err := session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: r.name, Arguments: map[string]string{r.argument: "x-y-z"}})
		if err != nil || !strings.Contains(got.Messages[0].Content.(*sdk.TextContent).Text, "x-y-z") {
			t.Errorf("%s: %+v, %v", r.name, got, err)
		}
		if _, err := session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: r.name}); err == nil {
			t.Errorf("%s needs no argument", r.name)
		}
	}
}

func TestOutputIsPlacedWhereTheClientShowsIt(t *testing.T) {
	t.Parallel()
	facts := struct {
		Code int `json:"code"`
	}{3}
	image := toolkit.Result{Content: []sdk.Content{&sdk.ImageContent{}}, Structured: facts}
	const (
		both       = `{"content":[{"type":"text","text":"out <&>\n"}],"structuredContent":{"code":3}}`
		structured = `{"content":[],"structuredContent":{"code":3,"text":"out <&>\n"}}`
		text       = `{"content":[{"type":"text","text":"out <&>\n"},{"type":"text","text":"{\"code\":3}"}]}`
	)
	for _, tc := range []struct {
		actor, version, want string
		told                 string // wanted if the text already holds every fact
	}{
		{"agent:tester/1", withHandshake, both, `{"content":[{"type":"text","text":"code: 3"}]}`},
		{"agent:tester/1", "", both, `{"content":[{"type":"text","text":"code: 3"}]}`},
		{"agent:claude-code/2.1", withHandshake, structured, `{"content":[],"structuredContent":{"code":3}}`},
		{"agent:codex-mcp-client/1", toolkit.WithoutSessions, structured, `{"content":[],"structuredContent":{"code":3}}`},
		{"agent:Cursor-vscode/1", withHandshake, text, `{"content":[{"type":"text","text":"code: 3"}]}`},
		{"agent:claude-code/1.0", "2025-03-26", text, `{"content":[{"type":"text","text":"code: 3"}]}`},
		{"agent:tester/1", "2024-11-05", text, `{"content":[{"type":"text","text":"code: 3"}]}`},
	} {
		f := &toolkit.Agent{Actor: tc.actor}
		for want, r := range map[string]toolkit.Result{
			tc.want: toolkit.Text("out <&>\n").WithFacts(facts), tc.told: toolkit.Text("code: 3").WithSameFacts(facts),
		} {
			got, err := toolkit.Encode(toolResult(f.FitToClient(r, tc.version)))
			if err != nil || canonicalJSON(t, string(got)) != canonicalJSON(t, want) {
				t.Errorf("%s gets %s, %v", tc.actor, got, err)
			}
		}
		if failed := f.FitToClient(toolkit.Text("no").WithFacts(facts).AsFailure(), tc.version); len(failed.Content) != 1 || failed.Structured != nil {
			t.Errorf("%s does not see why it failed", tc.actor)
		}
		if picture := f.FitToClient(image, tc.version); len(picture.Content) != 1 || picture.Structured != nil {
			t.Errorf("%s does not see a picture", tc.actor)
		}
	}
}

func canonicalJSON(t *testing.T, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
