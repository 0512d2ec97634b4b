package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/ui/cli/ls"
	"tandem/ui/cli/output"
)

// completeLimit is the time that completion may wait for the engine.
const completeLimit = 500 * time.Millisecond

// Filters for completion, by process.
func anyProcess(api.Process) bool  { return true }
func isLive(p api.Process) bool    { return !p.State.Ended() }
func hasExited(p api.Process) bool { return p.State.Ended() }
func hasProgram(p api.Process) bool {
	return p.State == api.StateRunning || p.State == api.StateStopping
}

// A completer completes arguments with names known to the engine.
type completer struct {
	reach func(context.Context) (*client.Client, error) // connects to a running engine
}

// completeSession completes the first argument with names and ids of sessions.
func (c completer) completeSession(which func(api.Process) bool) cobra.CompletionFunc {
	return first(c.completeSessions(which))
}

// completeSessions completes every argument with sessions.
func (c completer) completeSessions(which func(api.Process) bool) cobra.CompletionFunc {
	return c.complete(which, func(ctx context.Context, engine *client.Client) ([]api.Process, error) {
		out, err := api.SessionList.Call(ctx, engine, api.Empty{})
		return out.Sessions, err
	})
}

// completeProcess completes the first argument with sessions and processes.
func (c completer) completeProcess(which func(api.Process) bool) cobra.CompletionFunc {
	return first(c.completeProcesses(which))
}

// completeProcesses completes every argument with sessions and processes.
func (c completer) completeProcesses(which func(api.Process) bool) cobra.CompletionFunc {
	return c.complete(which, func(ctx context.Context, engine *client.Client) ([]api.Process, error) {
		out, err := api.ProcessList.Call(ctx, engine, api.ProcessListInput{})
		return out.Processes, err
	})
}

// first restricts complete to the first argument.
func first(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, toComplete)
	}
}

// completeFrom completes with the items that list returns, formatted by offers. It starts no engine
// and hides errors: the user is in the middle of a line.
func completeFrom[T any](c completer, list func(context.Context, *client.Client) ([]T, error), offers func([]T) []cobra.Completion) ([]cobra.Completion, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp
	ctx, cancel := context.WithTimeout(context.Background(), completeLimit)
	defer cancel()
	conn, err := c.reach(ctx)
	if err != nil {
		return nil, directive
	}
	defer conn.Close()
	all, err := list(ctx, conn)
	if err != nil {
		return nil, directive
	}
	return offers(all), directive
}

// complete completes with the processes of list accepted by which, except those already in args.
func (c completer) complete(which func(api.Process) bool, list func(context.Context, *client.Client) ([]api.Process, error)) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return completeFrom(c, list, func(all []api.Process) (found []cobra.Completion) {
			// The first candidates should be the likeliest ones.
			all = ls.LiveFirst(all)
			byName := make(map[string]api.Process, len(all)) // the running process, else the newest
			for _, p := range all {
				if other, known := byName[p.Name]; !known || hasExited(other) {
					byName[p.Name] = p
				}
			}
			for _, p := range all {
				if which(p) && !slices.Contains(args, p.Name) && !slices.Contains(args, p.ID) {
					found = append(found, candidates(p, byName[p.Name].ID == p.ID, toComplete)...)
				}
			}
			return found
		})
	}
}

// candidates returns the completions for p: its name, and its id. The id appears only if toComplete
// begins with it, or if the name needs quoting or refers to another process (isNamed is false).
func candidates(p api.Process, isNamed bool, toComplete string) (found []cobra.Completion) {
	about := output.StateText(p) + ": " + output.Visible(p.Command)
	simple := isNamed && p.Name != "" && output.Visible(p.Name) == p.Name && !strings.ContainsAny(p.Name, " \t'\"\\$`*?:;&|<>()[]{}!#~")
	if simple && strings.HasPrefix(p.Name, toComplete) {
		found = append(found, cobra.CompletionWithDesc(p.Name, about))
	}
	if strings.HasPrefix(p.ID, toComplete) && (toComplete != "" || !simple) {
		found = append(found, cobra.CompletionWithDesc(p.ID, output.Visible(p.Name)+", "+about))
	}
	return found
}

// completeEnv completes with the variables in the engine's environment.
func (c completer) completeEnv(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return completeFrom(c, func(ctx context.Context, engine *client.Client) ([]api.EnvVar, error) {
		out, err := api.EnvList.Call(ctx, engine, api.EnvListInput{})
		return out.Variables, err
	}, func(all []api.EnvVar) (found []cobra.Completion) {
		for _, v := range all {
			found = append(found, v.Name)
		}
		return found
	})
}

// completeRequest completes with the ids of open requests.
func (c completer) completeRequest(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return completeFrom(c, func(ctx context.Context, engine *client.Client) ([]api.Request, error) {
		out, err := api.RequestList.Call(ctx, engine, api.Empty{})
		return out.Requests, err
	}, func(all []api.Request) (found []cobra.Completion) {
		for _, r := range all {
			found = append(found, cobra.CompletionWithDesc(r.ID, output.Visible(r.Actor+": "+requestSummary(r))))
		}
		return found
	})
}
