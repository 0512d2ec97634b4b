package service

import (
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/remote/fleet"
	"tandem/engine/remote/hosts/transport"
)

// Visitors choose these texts, which are then shown in a terminal.
func TestOriginOfAVisitorIsOneHarmlessLine(t *testing.T) {
	for _, c := range []struct {
		v           fleet.Visitor
		from, agent string
	}{
		{fleet.Visitor{Person: "ann"}, "ann", ""},
		{fleet.Visitor{Person: "ann", Preface: transport.Preface{Origin: "ann@laptop", Agent: "claude"}}, "ann (ann@laptop)", "claude"},
		{fleet.Visitor{Person: "ann", Preface: transport.Preface{Origin: "a\x1b[2J\nb", Agent: "x\r\x7fy"}}, "ann (a?[2J?b)", "x??y"},
		{fleet.Visitor{Person: "ann", Preface: transport.Preface{Origin: "ann@ä €", Agent: "a\u009b2J\u202eb\u2028c\u200bd"}}, "ann (ann@ä €)", "a?2J?b?c?d"},
		{fleet.Visitor{Person: "ann", Preface: transport.Preface{Origin: "https://me:s3cret@host/"}}, "ann (https://", ""},
		{fleet.Visitor{Person: "ann", Preface: transport.Preface{Agent: strings.Repeat("ä", 1000)}}, "ann", strings.Repeat("ä", 200)},
		{fleet.Visitor{Person: "ann", Preface: transport.Preface{Agent: "\xff"}}, "ann", "\uFFFD"},
	} {
		got := OriginOf(c.v)
		if !strings.HasPrefix(got.From, c.from) || strings.Contains(got.From, "s3cret") || got.Agent != c.agent || got.Person != "ann" {
			t.Errorf("%+v: %+v", c.v, got)
		}
	}
}

func TestInvalidAddressesOfPeersAreRejected(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct{ client, server, want string }{
		{"", "127.0.0.1:1", "read client"},
		{"localhost:1", "127.0.0.1:1", "read client"},
		{"127.0.0.1:65536", "127.0.0.1:1", "read client"},
		{"\x1b:1", "127.0.0.1:1", "read client"},
		{"127.0.0.1:1", "127.0.0.1", "read server"},
		{"[::1]:1", "::1", "read server"},
	} {
		wantError(t, r, api.EnginePeer, api.EnginePeerInput{Client: c.client, Server: c.server}, api.CodeInvalid, c.want)
	}
	// A process of another machine cannot be an agent of this one.
	if out := call(t, r, api.EnginePeer, api.EnginePeerInput{Client: "192.0.2.1:1", Server: "127.0.0.1:1"}); out.Agent != "" {
		t.Errorf("%+v", out)
	}
}

func TestPathsOfWorktreesMustBeAbsolute(t *testing.T) {
	s := &Worktrees{}
	c := client{mux: server.NewMux(nil)}
	s.Handle(c.mux)
	for _, path := range []string{"", "repo", "./repo", "~/repo"} {
		wantError(t, c, api.WorktreeAdd, api.WorktreeAddInput{CWD: path}, api.CodeInvalid, "is not an absolute path")
		wantError(t, c, api.WorktreeList, api.WorktreeListInput{CWD: path}, api.CodeInvalid, "is not an absolute path")
		wantError(t, c, api.WorktreeRemove, api.WorktreeRemoveInput{Path: path}, api.CodeInvalid, "is not an absolute path")
		if path != "" {
			wantError(t, c, api.WorktreeRemove, api.WorktreeRemoveInput{Path: "/repo", CWD: path}, api.CodeInvalid, "is not an absolute path")
		}
	}
	none := t.TempDir() // not a repository
	wantError(t, c, api.WorktreeAdd, api.WorktreeAddInput{CWD: none}, api.CodeInvalid, "add worktree")
	wantError(t, c, api.WorktreeList, api.WorktreeListInput{CWD: none}, api.CodeInvalid, "list worktrees")
	wantError(t, c, api.WorktreeRemove, api.WorktreeRemoveInput{Path: none}, api.CodeInvalid, "remove worktree")
}
