package mcp

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sys/unix"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/client/retry"
	"tandem/tests/places"
	"tandem/tests/wait"
)

// A rig is a real engine with its own data directory, and an agent of it.
type rig struct {
	testing.TB
	dir   string // the data directory
	home  string // the agent's home and working folder
	agent *toolkit.Agent
	tools []toolkit.Tool

	people *client.Client
	shared bool // the machine is used by other tests later
}

// newRig starts an agent with the tools of the profiles on a machine of its own.
func newRig(t testing.TB, profiles ...toolkit.Profile) *rig {
	t.Helper()
	places.Take(t)
	r := startAgent(t, newDataDir(t), profiles)
	t.Cleanup(r.cleanUp)
	return r
}

// newSharedRig is newRig on a machine that tests use one after the other. The test must not change
// more than the machine's processes, commands and variables.
func newSharedRig(t testing.TB, profiles ...toolkit.Profile) *rig {
	t.Helper()
	places.Take(t)
	dir := idle.take()
	if dir == "" {
		dir = newDataDir(t)
	}
	r := startAgent(t, dir, profiles)
	r.shared = true
	t.Cleanup(r.release)
	return r
}

func newDataDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "td") // short, because socket paths are limited
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func startAgent(t testing.TB, dir string, profiles []toolkit.Profile) *rig {
	t.Helper()
	r := &rig{TB: t, dir: dir, home: t.TempDir()}
	o := &toolkit.Options{Connect: r.connect, Version: "1.2.3", Profiles: profiles, CWD: r.home, Home: r.home, Roots: []string{r.home}}
	environ := append(os.Environ(), "HOME="+r.home)
	r.agent = &toolkit.Agent{Options: o, Actor: "agent:test/1", Owner: api.NewID(), Roots: o.Roots, Environ: api.Environ(environ)}
	r.reconnect()
	r.tools = selectTools(*o)
	return r
}

func (r *rig) connect(ctx context.Context, name, owner string, bounds *api.Bounds) (*client.Client, error) {
	return client.Activate(ctx, client.Options{DataDir: r.dir, Version: "1.2.3", Name: name, Owner: owner, Bounds: bounds})
}

// userClient returns the user's client.
func (r *rig) userClient() *client.Client {
	r.Helper()
	if r.people == nil {
		var err error
		if r.people, err = r.connect(context.Background(), "cli", "", nil); err != nil {
			r.Fatal(err)
		}
	}
	return r.people
}

// reconnect reconnects the agent with the bounds of the rig's current options.
func (r *rig) reconnect() {
	r.Helper()
	engine, err := retry.Connect(context.Background(), func(ctx context.Context) (*client.Client, error) {
		return r.connect(ctx, r.agent.Actor, r.agent.Owner, r.agent.Options.Bounds())
	})
	if err != nil {
		r.Fatal(err)
	}
	if r.agent.Engine != nil {
		r.agent.Engine.Close()
	}
	r.agent.Engine = usesChecker{engine, r}
}

// A usesChecker is an engine that checks that tools call only operations they declare.
type usesChecker struct {
	toolkit.Engine
	t testing.TB
}

// toolKey is the key of the calling tool in a context.
type toolKey struct{}

func (e usesChecker) Do(ctx context.Context, name string, effect api.Effect, in, out any) error {
	if t, ok := ctx.Value(toolKey{}).(toolkit.Tool); ok && !slices.Contains(t.Uses, name) {
		e.t.Errorf("%s calls %s without declaring it", t.Name, name)
	}
	return e.Engine.Do(ctx, name, effect, in, out)
}

// cleanUp stops everything running on the rig and checks that nothing remains.
func (r *rig) cleanUp() {
	r.agent.Engine.Close()
	stopMachine(r, r.userClient())
	r.userClient().Close()
	if r.Failed() {
		text, _ := os.ReadFile(filepath.Join(r.dir, "engine.log"))
		r.Logf("%s", text[max(0, len(text)-8000):])
	}
	os.RemoveAll(r.dir)
}

func isAlive(pid int) bool { return pid > 0 && unix.Kill(pid, 0) == nil }

// An object holds a tool's arguments or its structured result.
type object = map[string]any

// call calls a tool like the server.
func (r *rig) call(name string, args object) toolkit.Result {
	r.Helper()
	b, err := json.Marshal(args)
	if err != nil {
		r.Fatal(err)
	}
	for _, t := range r.tools {
		if t.Name != name {
			continue
		}
		ctx, cancel := context.WithTimeout(context.WithValue(context.Background(), toolKey{}, t), wait.Timeout)
		defer cancel()
		answer, err := t.Call(ctx, r.agent, b)
		if err != nil {
			return toolkit.FailureResult(err)
		}
		return answer
	}
	r.Fatalf("there is no tool %s", name)
	return toolkit.Result{}
}

// resultText returns all text of a result.
func resultText(answer toolkit.Result) string {
	var b strings.Builder
	for _, c := range answer.Content {
		if t, ok := c.(*sdk.TextContent); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

// callObject calls a tool whose text is a JSON object.
func (r *rig) callObject(name string, args object) object {
	r.Helper()
	answer := r.call(name, args)
	var o object
	if err := json.Unmarshal([]byte(resultText(answer)), &o); err != nil {
		r.Fatalf("%s answers with no JSON object: %v\n%s", name, err, resultText(answer))
	}
	return o
}

// getProcess asks the engine about a process.
func (r *rig) getProcess(id string) api.Process {
	r.Helper()
	p, err := api.ProcessGet.Call(context.Background(), r.agent.Engine, api.IDInput{ID: id})
	if err != nil {
		r.Fatal(err)
	}
	return p
}

// waitForExit waits until a process has exited.
func (r *rig) waitForExit(id string) api.Process {
	r.Helper()
	in := api.ProcessWaitInput{ID: id, Exit: true, TimeoutMS: int(wait.Timeout.Milliseconds())}
	out, err := api.ProcessWait.Call(context.Background(), r.agent.Engine, in)
	if err != nil || !out.Process.State.Ended() {
		r.Fatalf("wait for the end of %s: %v, it is %s", id, err, out.Process.State)
	}
	return out.Process
}

// waitForLog waits until a line of a process's log matches pattern.
func (r *rig) waitForLog(id, pattern string) {
	r.Helper()
	in := api.ProcessWaitInput{ID: id, Log: pattern, TimeoutMS: int(wait.Timeout.Milliseconds())}
	if out, err := api.ProcessWait.Call(context.Background(), r.agent.Engine, in); err != nil || out.Met != "log" {
		r.Fatalf("wait for %s in the log of %s: %v, it is %s", pattern, id, err, out.Process.State)
	}
}

// waitForScreen waits until a session's screen matches pattern.
func (r *rig) waitForScreen(id, pattern string) {
	r.Helper()
	in := api.SessionWaitInput{ID: id, Screen: pattern, TimeoutMS: int(wait.Timeout.Milliseconds())}
	if out, err := api.SessionWait.Call(context.Background(), r.agent.Engine, in); err != nil || out.Met != "screen" {
		screen, _ := api.SessionScreen.Call(context.Background(), r.agent.Engine, api.SessionScreenInput{ID: id})
		r.Fatalf("wait for %s on the screen of %s: %v; it shows:\n%s", pattern, id, err, strings.Join(screen.Lines, "\n"))
	}
}

// waitForAgent waits until ok accepts the coding agent of a session, nil for none.
func (r *rig) waitForAgent(id, what string, ok func(*api.CodingAgent) bool) api.Process {
	r.Helper()
	return wait.Watch(r, what, r.userClient().Watch, func() (api.Process, bool) {
		p := r.getProcess(id)
		return p, ok(p.Agent)
	})
}

// fixedKeyring returns a keyring with fixed tokens.
func fixedKeyring(tokens []token) *keyring {
	k := &keyring{}
	k.replaceTokens(tokens)
	return k
}
