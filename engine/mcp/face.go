package mcp

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/api"
	"tandem/engine/api/client"
)

const (
	// watchAgain is how long after a lost watch another one is tried, at first
	// and at most.
	watchAgain     = 50 * time.Millisecond
	watchAgainMost = 5 * time.Second
)

// A face is one connected agent: who the engine knows it as, and what it may
// reach.
type face struct {
	o      *Options
	engine *client.Client
	actor  string   // agent:NAME/VERSION
	owner  string   // id of this client, to which leases are bound too
	roots  []string // folders that file tools are confined to

	environ map[string]string // what programs that it starts inherit

	readers readers

	lost atomic.Bool // the engine has gone since it was last heard of
}

// scope is where this agent's file tools may reach.
func (f *face) scope() api.FileScope {
	return api.FileScope{Roots: f.roots, Base: f.o.CWD}
}

// folder is an absolute folder: below this agent's own unless it is given so.
func (f *face) folder(cwd string) string { return absolute(cwd, f.o.CWD, f.o.Home) }

// absolute is a path that may begin in a folder, or with ~ in the home folder.
func absolute(path, base, home string) string {
	switch {
	case path == "~" || strings.HasPrefix(path, "~/"):
		return filepath.Join(home, path[1:])
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

// connect makes a face for an agent. While its presence runs, the engine
// counts the agent as there.
func (s *server) connect(ctx context.Context, actor, owner string) (*face, error) {
	f := &face{o: &s.o, actor: actor, owner: owner, roots: s.o.Roots, environ: api.Environ(os.Environ())}
	engine, err := s.o.Connect(ctx, f.actor, f.owner, s.o.bounds())
	if err != nil {
		return nil, err
	}
	f.engine = engine
	return f, nil
}

// attend keeps a watch open until ctx ends, across engines.
func (f *face) attend(ctx context.Context, heard func(api.Event)) {
	defer f.engine.Close()
	for pause := watchAgain; ; pause = min(2*pause, watchAgainMost) {
		for e, err := range f.engine.WatchFor(ctx, api.WatchInput{Lasting: true}) {
			if err != nil {
				break
			}
			pause = watchAgain
			f.lost.Store(false)
			heard(e)
		}
		f.lost.Store(true)
		again := time.NewTimer(pause)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return
		}
	}
}

// revive sees to it that there is an engine for an agent that has lost its own:
// a call could reach what is left of the old one.
func (f *face) revive(ctx context.Context) error {
	if !f.lost.Load() {
		return nil
	}
	engine, err := f.o.Connect(ctx, f.actor, f.owner, f.o.bounds())
	if err != nil {
		return err
	}
	engine.Close() // the face's own client reaches the same socket
	f.lost.Store(false)
	return nil
}

// readers remember how far each session's output was read by the tools that
// give what is new since the last call.
type readers struct {
	mu      sync.Mutex
	cursors map[string]int64
}

// at tells where to read on; 0 at first.
func (r *readers) at(id string) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cursors[id]
}

// set remembers how far was read.
func (r *readers) set(id string, cursor int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cursors == nil {
		r.cursors = make(map[string]int64)
	}
	r.cursors[id] = cursor
}

// actorOf names an agent after what it says of itself.
func actorOf(info *sdk.Implementation) string {
	name, version := "unknown", ""
	if info != nil && plainName(info.Name) != "" {
		name, version = plainName(info.Name), plainName(info.Version)
	}
	if version != "" {
		name += "/" + version
	}
	return "agent:" + name
}

// plainName is what may stand in an actor's name of what a client says.
func plainName(s string) string {
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

// newOwner is the id of a client that is there as long as its connection is.
func newOwner() string {
	b := make([]byte, 6)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// lastingOwner is the id of a client that has no connection: it is known by its
// token and its name, however long it was away.
func lastingOwner(token, actor string) string {
	sum := sha256.Sum256([]byte("tandem client\x00" + token + "\x00" + actor))
	return hex.EncodeToString(sum[:6])
}
