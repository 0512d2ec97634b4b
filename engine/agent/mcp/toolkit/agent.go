// Package toolkit holds the building blocks of agents' tools: a tool's entry in the list, its
// arguments and results, and the calling agent. The tools themselves belong to the profiles.
package toolkit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/api"
	"tandem/engine/base/sleep"
)

const (
	// minWatchPause is the first pause before reconnecting a lost watch, and MaxWatchPause the
	// longest.
	minWatchPause = 50 * time.Millisecond
	MaxWatchPause = 5 * time.Second
)

// An Engine carries out an agent's calls. It reconnects to the next engine when one exits, like
// retry.Conn.
type Engine interface {
	api.Engine
	Once() api.Engine // the same without retries
	WatchFor(ctx context.Context, in api.WatchInput) iter.Seq2[api.Event, error]
	Reach(ctx context.Context) error
	Close()
}

// An Agent is a connected agent: its identity in the engine, and its limits.
type Agent struct {
	Options *Options
	Engine  Engine
	Actor   string   // agent:NAME/VERSION
	Owner   string   // id of this client, also the owner of its leases
	Roots   []string // folders open to file tools
	Shell   string   // runs command lines; set on other machines only

	Environ map[string]string // variables inherited by its programs, except unset ones
	Umask   string            // of its programs, in octal
	unset   unsetVariables

	Seen Seen

	EngineLost atomic.Bool // the engine has exited since its last event
}

func (f *Agent) fileScope() api.FileScope {
	return api.FileScope{Roots: f.Roots, Base: f.Options.CWD}
}

// Folder returns the absolute path of cwd, which may be relative to the agent's own folder.
func (f *Agent) Folder(cwd string) string {
	return api.AbsolutePath(cwd, f.Options.CWD, f.Options.Home)
}

// StartError returns err, the error of a start in cwd. If cwd is "", so that the agent's own folder
// could not be used, it adds a hint to pass another folder.
func (f *Agent) StartError(cwd string, err error) error {
	e := api.AsError(err)
	if cwd == "" && e.Reason == api.ReasonBadCWD {
		return e.WithHint("this is the server's own folder; pass another one as cwd")
	}
	return err
}

// WatchEvents watches events until ctx ends, reconnecting when an engine exits, and closes the
// agent's connection. It calls onEvent with each event.
func (f *Agent) WatchEvents(ctx context.Context, onEvent func(api.Event)) {
	defer f.Engine.Close()
	for pause := minWatchPause; ; pause = min(2*pause, MaxWatchPause) {
		for e, err := range f.Engine.WatchFor(ctx, api.WatchInput{Lasting: true}) {
			if err != nil {
				break
			}
			// A working engine resets the back-off.
			pause = minWatchPause
			f.EngineLost.Store(false)
			if e.Type == api.EventRemoved {
				f.Seen.Remove(e.ID)
			}
			onEvent(e)
		}
		f.EngineLost.Store(true)
		if sleep.For(ctx, pause) != nil {
			return
		}
	}
}

// EnsureEngine connects to an engine after the agent has lost its own. Otherwise a call might reach
// the remains of the old one.
func (f *Agent) EnsureEngine(ctx context.Context) error {
	if !f.EngineLost.Load() {
		return nil
	}
	engine, err := f.Options.Connect(ctx, f.Actor, f.Owner, f.Options.Bounds())
	if err != nil {
		return err
	}
	engine.Close() // the agent's own client reaches the same socket
	f.EngineLost.Store(false)
	return nil
}

// agentPrefix starts the name of every agent.
const agentPrefix = "agent:"

// ActorOf returns an agent's name in the engine, based on its own name and version.
func ActorOf(info *sdk.Implementation) string {
	name, version := "unknown", ""
	if info != nil {
		// Drop a prefix sent by the client, so that names cannot start with it twice.
		if own := PlainName(strings.TrimPrefix(info.Name, agentPrefix)); own != "" {
			name, version = own, PlainName(info.Version)
		}
	}
	if version != "" {
		name += "/" + version
	}
	return agentPrefix + name
}

// PlainName replaces characters not allowed in an actor's name and truncates it to 64 bytes.
func PlainName(s string) string {
	keep := func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.+", r) {
			return r
		}
		return '-'
	}
	s = strings.Map(keep, strings.ToValidUTF8(s, ""))
	for i, r := range s {
		if i+utf8.RuneLen(r) > 64 {
			return s[:i]
		}
	}
	return s
}

// LastingOwner returns the id of a client without a connection. It depends only on its token and
// name, and so is the same every time the client returns.
func LastingOwner(token, actor string) string {
	sum := sha256.Sum256([]byte("tandem client\x00" + token + "\x00" + actor))
	return hex.EncodeToString(sum[:6])
}
