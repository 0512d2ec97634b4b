package mcp

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

const (
	logURI    = "tandem://process/{id}/log"
	screenURI = "tandem://session/{id}/screen"

	// resourceBytes is the size of the end of a log returned as a resource.
	resourceBytes = 32 << 10
)

// addResources offers the logs of processes and the screens of sessions. Adding them again makes the
// SDK notify every agent of a changed list of resources.
func (s *server) addResources() {
	s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "process-log", Title: "Log of a process", URITemplate: logURI, MIMEType: "text/plain",
		Description: "The latest output of a process or session, stdout and stderr in order. The id may be a name.",
	}, s.readResource)
	s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "session-screen", Title: "Screen of a session", URITemplate: screenURI, MIMEType: "text/plain",
		Description: "What a session's terminal shows now. The id may be a name.",
	}, s.readResource)
}

// A resourceURI identifies the log or screen of a process or session.
type resourceURI struct {
	id     string
	screen bool
}

var resourcePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^tandem://(?:process/([^/]+)/log|session/([^/]+)/screen)$`)
})

// parseResource parses the URI of a resource and reports whether it is one of ours.
func parseResource(uri string) (resourceURI, bool) {
	m := resourcePattern().FindStringSubmatch(uri)
	if m == nil {
		return resourceURI{}, false
	}
	return resourceURI{id: m[1] + m[2], screen: m[2] != ""}, true
}

// tool returns the tool that reads the same data, whose policy rules apply.
func (r resourceURI) tool() string {
	if r.screen {
		return "session_screen"
	}
	return "process_log"
}

// listResources lists the log or screen of every process and session.
func (s *server) listResources(ctx context.Context, req *sdk.ListResourcesRequest) (sdk.Result, error) {
	list := &sdk.ListResourcesResult{Resources: []*sdk.Resource{}}
	list.CacheScope = "private"
	f, err := s.agentOf(ctx, identifyCaller(req))
	if err != nil {
		return nil, err
	}
	processes, err := listableProcesses(ctx, f)
	if err != nil {
		return nil, err
	}
	for _, p := range processes {
		list.Resources = append(list.Resources, describeResource(p))
	}
	return list, nil
}

// isTransient reports whether a process is a one-shot command, too short-lived to list.
func isTransient(p api.Process) bool { return p.Supervision != nil && p.Supervision.Transient }

func describeResource(p api.Process) *sdk.Resource {
	r := &sdk.Resource{URI: "tandem://process/" + p.ID + "/log", Name: p.Name + " log", MIMEType: "text/plain",
		Description: "Log of " + p.Command}
	if p.Kind == api.KindSession {
		r.URI, r.Name, r.Description = "tandem://session/"+p.ID+"/screen", p.Name+" screen", "Screen of "+p.Command
	}
	return r
}

// readResource returns the current log or screen.
func (s *server) readResource(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	what, ok := parseResource(req.Params.URI)
	if !ok {
		return nil, sdk.ResourceNotFoundError(req.Params.URI)
	}
	f, err := s.agentOf(ctx, identifyCaller(req))
	if err != nil {
		return nil, err
	}
	text, err := resourceText(ctx, f, what)
	if err != nil {
		return nil, resourceError(err, req.Params.URI)
	}
	r := &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: req.Params.URI, MIMEType: "text/plain", Text: text}}}
	r.CacheScope = "private"
	return r, nil
}

// resourceError returns the protocol's error if a resource does not exist, and others unchanged.
func resourceError(err error, uri string) error {
	if errors.Is(err, api.CodeNotFound) {
		return sdk.ResourceNotFoundError(uri)
	}
	return err
}

// listableProcesses returns the processes an agent may list, without one-shot commands. It returns
// none if a rule denies the listing tool or asks the user about it, because clients list resources
// on their own.
func listableProcesses(ctx context.Context, f *toolkit.Agent) ([]api.Process, error) {
	out, err := api.ProcessList.Call(withRead(ctx, "process_list"), f.Engine, api.ProcessListInput{})
	if errors.Is(err, api.CodeForbidden) {
		return nil, nil
	}
	return slices.DeleteFunc(out.Processes, isTransient), err
}

func resourceText(ctx context.Context, f *toolkit.Agent, what resourceURI) (string, error) {
	ctx = withRead(ctx, what.tool())
	if what.screen {
		out, err := api.SessionScreen.Call(ctx, f.Engine, api.SessionScreenInput{ID: what.id})
		return strings.Join(out.Lines, "\n"), err
	}
	end := int64(-resourceBytes)
	out, err := api.ProcessLog.Call(ctx, f.Engine, api.ProcessLogInput{ID: what.id, Stream: "both", Since: &end, Max: resourceBytes})
	return toolkit.PlainText(out.Data), err
}
