package mcp

import (
	"context"
	"net/url"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/api"
	"tandem/engine/mcp/toolkit"
)

// maxCompletions is the maximum number of values in a reply (MCP 2025-11-25, Completion).
const maxCompletions = 100

// processArgument is the name of prompt arguments that take a process.
const processArgument = "process"

// completeArgument suggests process names and ids for an argument of a prompt or of a resource URI.
func (s *server) completeArgument(ctx context.Context, req *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	matches, err := processFilter(req.Params.Ref, req.Params.Argument.Name)
	if err != nil {
		return nil, err
	}
	values := []string{}
	if matches != nil {
		f, err := s.agentOf(ctx, identifyCaller(req))
		if err != nil {
			return nil, err
		}
		all, err := listableProcesses(ctx, f)
		if err != nil {
			return nil, err
		}
		values = completionValues(slices.DeleteFunc(all, func(p api.Process) bool { return isTransient(p) || !matches(p) }),
			req.Params.Argument.Value, req.Params.Ref.URI != "")
	}
	return &sdk.CompleteResult{Completion: completionDetails(values)}, nil
}

// completionDetails returns the first maxCompletions values and the total.
func completionDetails(values []string) sdk.CompletionResultDetails {
	n := len(values)
	return sdk.CompletionResultDetails{Values: values[:min(n, maxCompletions)], Total: n, HasMore: n > maxCompletions}
}

// processFilter returns a filter for the processes an argument can mean, or nil if the argument
// takes no process.
func processFilter(ref *sdk.CompleteReference, argument string) (func(api.Process) bool, error) {
	anyProcess := func(api.Process) bool { return true }
	switch {
	case ref.URI == logURI && argument == "id":
		return anyProcess, nil
	case ref.URI == screenURI && argument == "id":
		return func(p api.Process) bool { return p.Kind == api.KindSession }, nil
	case ref.URI == logURI, ref.URI == screenURI:
		return nil, api.Errorf(api.CodeInvalid, "completion/complete: %s has no %q; it has id", ref.URI, toolkit.Abbreviate(argument))
	case ref.URI != "" || ref.Name == "":
		return nil, api.Errorf(api.CodeInvalid, "completion/complete: no resource is at %q; resources/templates/list lists them", toolkit.Abbreviate(ref.URI))
	}
	for _, r := range recipes() {
		switch {
		case r.name != ref.Name:
		case r.argument != argument:
			return nil, api.Errorf(api.CodeInvalid, "completion/complete: %s has no argument %q; it takes %s", r.name, toolkit.Abbreviate(argument), r.argument)
		case argument == processArgument:
			return anyProcess, nil
		default:
			return nil, nil
		}
	}
	return nil, api.Errorf(api.CodeInvalid, "completion/complete: no prompt is named %q; prompts/list lists them", toolkit.Abbreviate(ref.Name))
}

// completionValues returns the names of processes starting with prefix, running ones first. Ids are
// included once the user has typed something, and for processes without a usable name.
func completionValues(all []api.Process, prefix string, inURI bool) []string {
	slices.SortStableFunc(all, func(a, b api.Process) int {
		switch {
		case a.State.Ended() == b.State.Ended():
			return 0
		case a.State.Ended():
			return 1
		}
		return -1
	})
	values, known := []string{}, map[string]bool{}
	offer := func(value string) {
		if strings.HasPrefix(value, prefix) && !known[value] {
			known[value] = true
			values = append(values, value)
		}
	}
	for _, p := range all {
		named := p.Name != "" && !known[p.Name] && (!inURI || url.PathEscape(p.Name) == p.Name)
		if named {
			offer(p.Name)
		}
		if prefix != "" || !named {
			offer(p.ID)
		}
	}
	return values
}
