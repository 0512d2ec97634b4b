// Package toolkit is what a tool of the agents' server is made of: its entry in
// the list, its arguments and results, and the agent that calls it. What tools
// there are is the profiles'.
package toolkit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/api"
	"tandem/engine/api/client/retry"
	"tandem/engine/sleep"
)

const (
	// watchAgain is how long after a lost watch another one is tried, at first
	// and at most.
	watchAgain     = 50 * time.Millisecond
	WatchAgainMost = 5 * time.Second
)

// An Agent is one connected agent: who the engine knows it as, and what it may
// reach.
type Agent struct {
	Options *Options
	Engine  *retry.Conn // goes on with the next engine when one is lost
	Actor   string      // agent:NAME/VERSION
	Owner   string      // id of this client, to which leases are bound too
	Roots   []string    // folders that file tools are confined to
	Shell   string      // what runs command lines, on another machine

	Environ map[string]string // what programs that it starts inherit, but for what was unset
	Umask   string            // that of programs that it starts, in octal
	unset   unset

	Seen Seen

	Lost atomic.Bool // the engine has gone since it was last heard of
}

// scope is where this agent's file tools may reach.
func (f *Agent) scope() api.FileScope {
	return api.FileScope{Roots: f.Roots, Base: f.Options.CWD}
}

// Folder is an absolute folder: below this agent's own unless it is given so.
func (f *Agent) Folder(cwd string) string { return Absolute(cwd, f.Options.CWD, f.Options.Home) }

// StartError returns err, the error of a start in cwd. If cwd is "", so that the agent's own folder
// could not be used, it adds a hint to pass another folder.
func (f *Agent) StartError(cwd string, err error) error {
	e := api.AsError(err)
	if cwd == "" && e.Code == api.CodeInvalid && strings.HasPrefix(e.Message, "start in ") {
		return e.WithHint("this is the server's own folder; pass another one as cwd")
	}
	return err
}

// Absolute is a path that may begin in a folder, or with ~ in the home folder.
func Absolute(path, base, home string) string {
	switch {
	case path == "~" || strings.HasPrefix(path, "~/"):
		return filepath.Join(home, path[1:])
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

// Attend keeps a watch open until ctx ends, across engines.
func (f *Agent) Attend(ctx context.Context, heard func(api.Event)) {
	defer f.Engine.Close()
	for pause := watchAgain; ; pause = min(2*pause, WatchAgainMost) {
		for e, err := range f.Engine.WatchFor(ctx, api.WatchInput{Lasting: true}) {
			if err != nil {
				break
			}
			pause = watchAgain
			f.Lost.Store(false)
			if e.Type == api.EventRemoved {
				f.Seen.Forget(e.ID)
			}
			heard(e)
		}
		f.Lost.Store(true)
		if sleep.For(ctx, pause) != nil {
			return
		}
	}
}

// Revive sees to it that there is an engine for an agent that has lost its own:
// a call could reach what is left of the old one.
func (f *Agent) Revive(ctx context.Context) error {
	if !f.Lost.Load() {
		return nil
	}
	engine, err := f.Options.Connect(ctx, f.Actor, f.Owner, f.Options.Bounds())
	if err != nil {
		return err
	}
	engine.Close() // the agent's own client reaches the same socket
	f.Lost.Store(false)
	return nil
}

// agentPrefix is what the names of all agents begin with, once.
const agentPrefix = "agent:"

// ActorOf names an agent after what it says of itself.
func ActorOf(info *sdk.Implementation) string {
	name, version := "unknown", ""
	if info != nil {
		if own := PlainName(strings.TrimPrefix(info.Name, agentPrefix)); own != "" {
			name, version = own, PlainName(info.Version)
		}
	}
	if version != "" {
		name += "/" + version
	}
	return agentPrefix + name
}

// PlainName is what may stand in an actor's name of what a client says.
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

// LastingOwner is the id of a client that has no connection: it is known by its
// token and its name, however long it was away.
func LastingOwner(token, actor string) string {
	sum := sha256.Sum256([]byte("tandem client\x00" + token + "\x00" + actor))
	return hex.EncodeToString(sum[:6])
}
