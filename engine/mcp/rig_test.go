package mcp

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/client/retry"
	"tandem/engine/mcp/toolkit"
)

// testTimeout bounds how long a test waits for something that must come.
const testTimeout = 60 * time.Second

// A rig is a real engine on a data folder of its own, and an agent of it.
type rig struct {
	testing.TB
	dir   string // the data folder
	home  string // the agent's home and working folder
	agent *toolkit.Agent
	tools []toolkit.Tool

	people *client.Client
}

// newRig starts an engine for an agent with the tools of a profile.
func newRig(t testing.TB, profiles ...toolkit.Profile) *rig {
	t.Helper()
	dir, err := os.MkdirTemp("", "td") // short, for the sockets
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{TB: t, dir: dir, home: t.TempDir()}
	o := &toolkit.Options{Connect: r.connect, Version: "1.2.3", Profiles: profiles, CWD: r.home, Home: r.home, Roots: []string{r.home}}
	environ := append(os.Environ(), "HOME="+r.home)
	r.agent = &toolkit.Agent{Options: o, Actor: "agent:test/1", Owner: api.NewID(), Roots: o.Roots, Environ: api.Environ(environ)}
	r.hold()
	r.tools = selectTools(*o)
	t.Cleanup(r.end)
	return r
}

func (r *rig) connect(ctx context.Context, name, owner string, bounds *api.Bounds) (*client.Client, error) {
	return client.Activate(ctx, client.Options{DataDir: r.dir, Version: "1.2.3", Name: name, Owner: owner, Bounds: bounds})
}

// person is the person's client.
func (r *rig) person() *client.Client {
	r.Helper()
	if r.people == nil {
		var err error
		if r.people, err = r.connect(context.Background(), "cli", "", nil); err != nil {
			r.Fatal(err)
		}
	}
	return r.people
}

// hold connects the agent anew, within the bounds of the rig's options as they
// are now.
func (r *rig) hold() {
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
	r.agent.Engine = engine
}

// end ends everything that runs on the rig and sees that nothing is left.
func (r *rig) end() {
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	info, err := api.EngineInfo.Call(ctx, r.agent.Engine, api.Empty{})
	if err != nil {
		r.Errorf("find the engine: %v", err)
	}
	if _, err := api.EngineStop.Call(ctx, r.person(), api.EngineStopInput{All: true}); err != nil {
		r.Errorf("stop the engine: %v", err)
	}
	r.person().Close()
	r.agent.Engine.Close()
	for _, pid := range []int{info.EnginePID, info.KeeperPID} {
		r.eventually("the end of engine and keeper", func() bool { return !alive(pid) })
	}
	if r.Failed() {
		text, _ := os.ReadFile(filepath.Join(r.dir, "engine.log"))
		r.Logf("%s", text[max(0, len(text)-8000):])
	}
	os.RemoveAll(r.dir)
}

func alive(pid int) bool { return pid > 0 && unix.Kill(pid, 0) == nil }

// eventually waits until something holds.
func (r *rig) eventually(what string, holds func() bool) {
	r.Helper()
	begin := time.Now()
	for !holds() {
		waited := time.Since(begin)
		if waited > testTimeout {
			r.Fatalf("waited in vain for %s", what)
		}
		time.Sleep(min(max(waited/16, 5*time.Millisecond), 200*time.Millisecond))
	}
}

// An object is a tool's arguments, or its structured result.
type object = map[string]any

// call calls a tool as the server does.
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
		ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
		defer cancel()
		answer, err := t.Call(ctx, r.agent, b)
		if err != nil {
			return toolkit.Failure(err)
		}
		return answer
	}
	r.Fatalf("there is no tool %s", name)
	return toolkit.Result{}
}

// said is all text of a result.
func said(answer toolkit.Result) string {
	var b strings.Builder
	for _, c := range answer.Content {
		if t, ok := c.(*sdk.TextContent); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

// object calls a tool whose text is a JSON object.
func (r *rig) object(name string, args object) object {
	r.Helper()
	answer := r.call(name, args)
	var o object
	if err := json.Unmarshal([]byte(said(answer)), &o); err != nil {
		r.Fatalf("%s answers with no JSON object: %v\n%s", name, err, said(answer))
	}
	return o
}

// process asks the engine about one.
func (r *rig) process(id string) api.Process {
	r.Helper()
	p, err := api.ProcessGet.Call(context.Background(), r.agent.Engine, api.IDInput{ID: id})
	if err != nil {
		r.Fatal(err)
	}
	return p
}

// ended waits for the end of a process.
func (r *rig) ended(id string) api.Process {
	r.Helper()
	in := api.ProcessWaitInput{ID: id, Exit: true, TimeoutMS: int(testTimeout.Milliseconds())}
	out, err := api.ProcessWait.Call(context.Background(), r.agent.Engine, in)
	if err != nil || !out.Process.State.Ended() {
		r.Fatalf("wait for the end of %s: %v, it is %s", id, err, out.Process.State)
	}
	return out.Process
}

// kill ends a process of ours at once.
func kill(t testing.TB, pid int) {
	t.Helper()
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// keyringOf is a keyring of tokens that stay as they are.
func keyringOf(tokens []token) *keyring {
	k := &keyring{}
	k.replaceTokens(tokens)
	return k
}
