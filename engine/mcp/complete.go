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

// completeMost is how many values an answer has at most (MCP 2025-11-25,
// Completion).
const completeMost = 100

// processArgument is the argument of prompts that names a process.
const processArgument = "process"

// complete offers names and ids of what there is for an argument of a prompt or
// a resource's address.
func (s *server) complete(ctx context.Context, req *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	fits, err := fitting(req.Params.Ref, req.Params.Argument.Name)
	if err != nil {
		return nil, err
	}
	values := []string{}
	if fits != nil {
		f, err := s.agentOf(ctx, identify(req))
		if err != nil {
			return nil, err
		}
		all, err := listable(ctx, f)
		if err != nil {
			return nil, err
		}
		values = completions(slices.DeleteFunc(all, func(p api.Process) bool { return transient(p) || !fits(p) }),
			req.Params.Argument.Value, req.Params.Ref.URI != "")
	}
	return &sdk.CompleteResult{Completion: completion(values)}, nil
}

// completion is an answer with as many values as it may have.
func completion(values []string) sdk.CompletionResultDetails {
	n := len(values)
	return sdk.CompletionResultDetails{Values: values[:min(n, completeMost)], Total: n, HasMore: n > completeMost}
}

// fitting tells which processes an argument can mean; nil if it names none.
func fitting(ref *sdk.CompleteReference, argument string) (func(api.Process) bool, error) {
	whatever := func(api.Process) bool { return true }
	switch {
	case ref.URI == logURI && argument == "id":
		return whatever, nil
	case ref.URI == screenURI && argument == "id":
		return func(p api.Process) bool { return p.Kind == api.KindSession }, nil
	case ref.URI == logURI, ref.URI == screenURI:
		return nil, api.Errorf(api.CodeInvalid, "completion/complete: %s has no %q; it has id", ref.URI, toolkit.Brief(argument))
	case ref.URI != "" || ref.Name == "":
		return nil, api.Errorf(api.CodeInvalid, "completion/complete: no resource is at %q; resources/templates/list lists them", toolkit.Brief(ref.URI))
	}
	for _, r := range recipes() {
		switch {
		case r.name != ref.Name:
		case r.argument != argument:
			return nil, api.Errorf(api.CodeInvalid, "completion/complete: %s has no argument %q; it takes %s", r.name, toolkit.Brief(argument), r.argument)
		case argument == processArgument:
			return whatever, nil
		default:
			return nil, nil
		}
	}
	return nil, api.Errorf(api.CodeInvalid, "completion/complete: no prompt is named %q; prompts/list lists them", toolkit.Brief(ref.Name))
}

// completions are the names of processes that begin so, those that live first;
// and ids, where they were begun or where a process has no name that would do.
func completions(all []api.Process, prefix string, inURI bool) []string {
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
