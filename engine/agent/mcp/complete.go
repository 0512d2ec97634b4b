package mcp

import (
	"context"
	"net/url"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

// maxCompletions is the maximum number of values in a reply (MCP 2025-11-25, Completion).
const maxCompletions = 100

// processArgument is the name of prompt arguments that take a process.
const processArgument = "process"

// completeArgument suggests process names and ids for an argument of a prompt or of a resource URI.
func (s *server) completeArgument(ctx context.Context, req *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	ref, argument := req.Params.Ref, req.Params.Argument
	inURI := argument.Name == "id" && (ref.URI == logURI || ref.URI == screenURI)
	inPrompt := hasArgument(ref.Name, argument.Name)
	values := []string{}
	switch {
	case inURI, inPrompt && argument.Name == processArgument:
		f, err := s.agentOf(ctx, identifyCaller(req))
		if err != nil {
			return nil, err
		}
		all, err := listableProcesses(ctx, f)
		if err != nil {
			return nil, err
		}
		all = slices.DeleteFunc(all, func(p api.Process) bool { return ref.URI == screenURI && p.Kind != api.KindSession })
		values = completionValues(all, argument.Value, inURI)
	case !inPrompt:
		return nil, api.Errorf(api.CodeInvalid, "completion/complete: %q has no argument %q; prompts/list and resources/templates/list show the arguments",
			toolkit.Abbreviate(ref.Name+ref.URI), toolkit.Abbreviate(argument.Name))
	}
	return &sdk.CompleteResult{Completion: completionDetails(values)}, nil
}

// completionDetails returns the first maxCompletions values and the total.
func completionDetails(values []string) sdk.CompletionResultDetails {
	n := len(values)
	return sdk.CompletionResultDetails{Values: values[:min(n, maxCompletions)], Total: n, HasMore: n > maxCompletions}
}

// hasArgument reports whether a prompt has an argument.
func hasArgument(prompt, argument string) bool {
	return slices.ContainsFunc(recipes(), func(r recipe) bool { return r.name == prompt && r.argument == argument })
}

// completionValues returns the names of processes starting with prefix, running ones first. Ids are
// included once the user has typed something, and for processes without a usable name.
func completionValues(all []api.Process, prefix string, inURI bool) []string {
	values := []string{}
	offer := func(value string) {
		if strings.HasPrefix(value, prefix) && !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	for _, ended := range []bool{false, true} {
		for _, p := range all {
			if p.State.Ended() != ended {
				continue
			}
			named := p.Name != "" && !slices.Contains(values, p.Name) && (!inURI || url.PathEscape(p.Name) == p.Name)
			if named {
				offer(p.Name)
			}
			if prefix != "" || !named {
				offer(p.ID)
			}
		}
	}
	return values
}
