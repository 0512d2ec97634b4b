package cli

import (
	"context"
	"strings"
	"time"

	"tandem/engine/api"

	"github.com/spf13/cobra"
)

// completeLimit is how long a press of tab may wait for the engine.
const completeLimit = 500 * time.Millisecond

// completeSession offers names and ids for the first argument, those of live
// sessions or all.
func (a *app) completeSession(live bool) cobra.CompletionFunc {
	return first(a.completeSessions(live))
}

// completeSessions offers sessions for every argument.
func (a *app) completeSessions(live bool) cobra.CompletionFunc {
	return a.complete(live, func(ctx context.Context, c *api.Client) ([]api.Process, error) {
		out, err := api.SessionList.Call(ctx, c, api.Empty{})
		return out.Sessions, err
	})
}

// completeProcesses offers sessions and processes for every argument.
func (a *app) completeProcesses(live bool) cobra.CompletionFunc {
	return a.complete(live, func(ctx context.Context, c *api.Client) ([]api.Process, error) {
		out, err := api.ProcessList.Call(ctx, c, api.ProcessListInput{})
		return out.Processes, err
	})
}

// completeProcess offers them for the first argument.
func (a *app) completeProcess(live bool) cobra.CompletionFunc {
	return first(a.completeProcesses(live))
}

// first offers nothing behind the first argument.
func first(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, toComplete)
	}
}

// complete offers what is in a list, those alive or all. It starts no engine.
func (a *app) complete(live bool, list func(context.Context, *api.Client) ([]api.Process, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(context.Background(), completeLimit)
		defer cancel()
		client, err := a.Reach(ctx)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer client.Close()
		all, err := list(ctx, client)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return candidates(liveFirst(all), live, toComplete), cobra.ShellCompDirectiveNoFileComp
	}
}

// candidates offers names, and ids where the person has begun to type one, or
// where a name is no word of a shell.
func candidates(list []api.Process, live bool, toComplete string) []cobra.Completion {
	var found []cobra.Completion
	for _, p := range list {
		if live && p.State.Ended() {
			continue
		}
		about := stateText(p) + ": " + visible(p.Command)
		simple := p.Name != "" && visible(p.Name) == p.Name && !strings.ContainsAny(p.Name, " \t'\"\\$`*?:;&|<>()[]{}!#~")
		if simple && strings.HasPrefix(p.Name, toComplete) {
			found = append(found, cobra.CompletionWithDesc(p.Name, about))
		}
		if strings.HasPrefix(p.ID, toComplete) && (toComplete != "" || !simple) {
			found = append(found, cobra.CompletionWithDesc(p.ID, visible(p.Name)+", "+about))
		}
	}
	return found
}

// completeEnv offers the variables that are set.
func (a *app) completeEnv(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(context.Background(), completeLimit)
	defer cancel()
	client, err := a.Reach(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer client.Close()
	out, err := api.EnvList.Call(ctx, client, api.EnvListInput{})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var found []cobra.Completion
	for _, v := range out.Variables {
		found = append(found, v.Name)
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}
