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
	all := a.completeSessions(live)
	return func(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return all(cmd, args, toComplete)
	}
}

// completeSessions offers them for every argument. It starts no engine.
func (a *app) completeSessions(live bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(context.Background(), completeLimit)
		defer cancel()
		client, err := a.Reach(ctx)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer client.Close()
		out, err := api.SessionList.Call(ctx, client, api.Empty{})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return candidates(liveFirst(out.Sessions), live, toComplete), cobra.ShellCompDirectiveNoFileComp
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
