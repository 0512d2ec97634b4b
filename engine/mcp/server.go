package mcp

import (
	"context"
	"io"
	"os"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/api"
)

// Serve speaks the protocol on in and out until in ends or ctx does. What it
// started goes on.
func Serve(ctx context.Context, o Options, in io.ReadCloser, out io.WriteCloser) error {
	s := newServer(o)
	return s.sdk.Run(ctx, &sdk.IOTransport{Reader: in, Writer: out})
}

// A server offers the tools of its profiles to every client.
type server struct {
	o   Options
	sdk *sdk.Server

	mu    sync.Mutex
	faces map[*sdk.ServerSession]*face
}

func newServer(o Options) *server {
	s := &server{o: o, faces: map[*sdk.ServerSession]*face{}}
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "tandem", Version: o.Version}, nil)
	for _, t := range toolset(o) {
		s.sdk.AddTool(s.listed(t), func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return s.dispatch(ctx, t, req)
		})
	}
	return s
}

// listed is how a tool stands in tools/list.
func (s *server) listed(t tool) *sdk.Tool {
	yes, no := true, false
	a := &sdk.ToolAnnotations{ReadOnlyHint: t.effect == api.Read, IdempotentHint: t.idempotent, OpenWorldHint: &no, DestructiveHint: &no}
	if t.effect == api.Destructive {
		a.DestructiveHint = &yes
	}
	return &sdk.Tool{
		Name:         s.o.ToolPrefix + t.name,
		Description:  t.doc,
		Annotations:  a,
		InputSchema:  inputSchema(t.in),
		OutputSchema: outputSchema(t.out),
	}
}

// dispatch runs one call: the person's policy first, the audit log last.
func (s *server) dispatch(ctx context.Context, t tool, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	f, err := s.faceOf(ctx, req.Session)
	if err != nil {
		return s.answer(failure(err)), nil
	}
	r, err := t.call(ctx, f, req.Params.Arguments)
	if err != nil {
		r = failure(err)
	}
	return s.answer(r), nil
}

func (s *server) answer(r result) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: r.content, StructuredContent: r.structured, IsError: r.failed}
}

// faceOf is the agent behind a session.
func (s *server) faceOf(ctx context.Context, session *sdk.ServerSession) (*face, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.faces[session]; f != nil {
		return f, nil
	}
	f := &face{o: &s.o, owner: newOwner(), roots: s.o.Roots, environ: api.Environ(os.Environ())}
	var info *sdk.Implementation
	if p := session.InitializeParams(); p != nil {
		info = p.ClientInfo
	}
	f.actor = actorOf(info)
	engine, err := s.o.Connect(ctx, f.actor, f.owner)
	if err != nil {
		return nil, err
	}
	f.engine = engine
	s.faces[session] = f
	return f, nil
}
