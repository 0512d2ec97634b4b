package factory

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/base/cellwidth"
	"tandem/ui/cli/output"
)

// completeLimit is the time that completion may wait for the engine.
const completeLimit = 500 * time.Millisecond

// CompletionFilter returns a writer for cobra's answers to the completion scripts; toComplete is the
// word to complete. Every candidate passes through it, whichever command offers it. It drops what the
// shell could take for more than a word, because bash inserts the common prefix of several
// candidates without quotes, and evaluates the line at the next tab.
func CompletionFilter(to io.Writer, toComplete string) io.Writer {
	return &completionFilter{to, strings.HasPrefix(toComplete, "-") && !strings.Contains(toComplete, "="), map[string]bool{}}
}

type completionFilter struct {
	to      io.Writer
	flags   bool            // candidates may be flags
	offered map[string]bool // bash would insert what the descriptions of equal candidates have in common
}

// Write implements io.Writer for one line: a candidate and its description, or a directive.
func (c *completionFilter) Write(line []byte) (int, error) {
	candidate, about, described := strings.Cut(strings.TrimSuffix(string(line), "\n"), "\t")
	word := candidate
	if c.flags {
		word = strings.TrimLeft(word, "-")
	}
	directive := !described && len(candidate) > 1 && candidate[0] == ':' && strings.Trim(candidate[1:], "0123456789") == ""
	if !directive && (!isPlainWord(word) || c.offered[candidate]) {
		return len(line), nil
	}
	c.offered[candidate] = true
	if described {
		candidate += "\t" + output.Visible(about)
	}
	_, err := io.WriteString(c.to, candidate+"\n")
	return len(line), err
}

// isPlainWord reports whether a name is the same word in every shell without quotes, and no flag.
func isPlainWord(name string) bool {
	return name != "" && name[0] != '-' && name[0] != ':' && !strings.ContainsAny(name, "'\"\\$`*?;&|<>()[]{}!#~^") &&
		!strings.ContainsFunc(name, func(r rune) bool { return r == ' ' || cellwidth.Invisible(r) })
}

// AnyProcess is a filter for completion that accepts every process.
func AnyProcess(api.Process) bool { return true }

// IsLive accepts processes that have not exited.
func IsLive(p api.Process) bool { return !p.State.Ended() }

// HasExited accepts processes that have exited.
func HasExited(p api.Process) bool { return p.State.Ended() }

// CompleteSession completes the first argument with names and ids of sessions.
func (f *Factory) CompleteSession(accepts func(api.Process) bool) cobra.CompletionFunc {
	return First(f.CompleteSessions(accepts))
}

// CompleteSessions completes every argument with sessions.
func (f *Factory) CompleteSessions(accepts func(api.Process) bool) cobra.CompletionFunc {
	return f.complete(accepts, func(ctx context.Context, engine *client.Client) ([]api.Process, error) {
		out, err := api.SessionList.Call(ctx, engine, api.Empty{})
		return out.Sessions, err
	})
}

// CompleteProcess completes the first argument with sessions and processes.
func (f *Factory) CompleteProcess(accepts func(api.Process) bool) cobra.CompletionFunc {
	return First(f.CompleteProcesses(accepts))
}

// CompleteProcesses completes every argument with sessions and processes.
func (f *Factory) CompleteProcesses(accepts func(api.Process) bool) cobra.CompletionFunc {
	return f.complete(accepts, func(ctx context.Context, engine *client.Client) ([]api.Process, error) {
		out, err := api.ProcessList.Call(ctx, engine, api.ProcessListInput{})
		return out.Processes, err
	})
}

// First restricts complete to the first argument.
func First(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, toComplete)
	}
}

// CompleteFrom returns a function that completes with items: list fetches them, and offers formats
// them. It starts no engine and hides errors, as the user is in the middle of a line.
func CompleteFrom[T any](f *Factory, list func(context.Context, *client.Client) ([]T, error), offers func(all []T, args []string, toComplete string) []cobra.Completion) cobra.CompletionFunc {
	const directive = cobra.ShellCompDirectiveNoFileComp
	return func(_ *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(context.Background(), completeLimit)
		defer cancel()
		conn, err := f.DialRunning(ctx)
		if err != nil {
			return nil, directive
		}
		defer conn.Close()
		all, err := list(ctx, conn)
		if err != nil {
			return nil, directive
		}
		return offers(all, args, toComplete), directive
	}
}

// complete returns a function that completes with processes. It offers those in the result of list
// for which accepts returns true, except those already in args.
func (f *Factory) complete(accepts func(api.Process) bool, list func(context.Context, *client.Client) ([]api.Process, error)) cobra.CompletionFunc {
	return CompleteFrom(f, list, func(all []api.Process, args []string, toComplete string) (found []cobra.Completion) {
		// The first candidates should be the likeliest ones.
		all = output.LiveFirst(all)
		byName := make(map[string]api.Process, len(all)) // the running process, else the newest
		for _, p := range all {
			if other, known := byName[p.Name]; !known || HasExited(other) {
				byName[p.Name] = p
			}
		}
		for _, p := range all {
			if accepts(p) && !slices.Contains(args, p.Name) && !slices.Contains(args, p.ID) {
				found = append(found, candidates(p, byName[p.Name].ID == p.ID, toComplete)...)
			}
		}
		return found
	})
}

// candidates returns the completions for p: its name, and its id. The id appears only if toComplete
// begins with it, or if the name needs quoting or refers to another process (isNamed is false).
func candidates(p api.Process, isNamed bool, toComplete string) (found []cobra.Completion) {
	about := output.StateText(p) + ": " + p.Command
	simple := isNamed && isPlainWord(p.Name)
	if simple && strings.HasPrefix(p.Name, toComplete) {
		found = append(found, cobra.CompletionWithDesc(p.Name, about))
	}
	if strings.HasPrefix(p.ID, toComplete) && (toComplete != "" || !simple) {
		found = append(found, cobra.CompletionWithDesc(p.ID, p.Name+", "+about))
	}
	return found
}
