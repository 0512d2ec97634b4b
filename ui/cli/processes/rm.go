package processes

import (
	"context"
	"time"

	"tandem/engine/api"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"

	"github.com/spf13/cobra"
)

// NewRemove returns the command rm.
func NewRemove(f *factory.Factory) *cobra.Command {
	var exited bool
	var olderThan time.Duration
	cmd := &cobra.Command{
		Use:     "rm ID… | rm --exited [--older-than D]",
		Aliases: []string{"remove"},
		Short:   "Delete exited sessions and processes with their logs",
		Long: "Deletes the named sessions and processes, which must have exited, with their logs.\n" +
			"--exited deletes all that have exited, failed or been stopped.",
		Example:     "tandem rm build\ntandem rm --exited --older-than 1d",
		Annotations: factory.One.Naming(factory.AllNames),
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case exited && len(args) > 0:
				return output.Usagef(cmd, "rm takes ids or --exited, not both")
			case !exited && olderThan > 0:
				return output.Usagef(cmd, "--older-than requires --exited")
			case exited:
				return nil
			}
			return factory.AtLeast(1, "which session or process? Give an id or name, or --exited.")(cmd, args)
		},
		ValidArgsFunction: f.CompleteProcesses(factory.HasExited),
		RunE: func(cmd *cobra.Command, args []string) error {
			if exited {
				return removeExited(f, cmd, olderThan)
			}
			return factory.CallEach(cmd, f, args, 1, factory.ByID(api.ProcessRemove), func(api.Empty) string { return "" })
		},
	}
	cmd.Flags().BoolVar(&exited, "exited", false, "all exited sessions and processes")
	cmd.Flags().Func("older-than", "with --exited: minimum `time` since exit, such as 12h or 7d", setTo(&olderThan, parseAge))
	factory.CompleteFlag(cmd, "older-than", "1h", "1d", "7d", "30d")
	return cmd
}

// removeExited deletes the records of processes that exited at least olderThan ago. If olderThan is
// not zero, it keeps those with an unknown exit time.
func removeExited(f *factory.Factory, cmd *cobra.Command, olderThan time.Duration) error {
	all, err := factory.Call(cmd.Context(), f, api.ProcessList, api.ProcessListInput{})
	if err != nil {
		return err
	}
	var ids []string
	names := map[string]string{}
	limit := time.Now().Add(-olderThan)
	for _, p := range all.Processes {
		if p.State.Ended() && (olderThan == 0 || p.ExitedAt != nil && !p.ExitedAt.After(limit)) {
			ids = append(ids, p.ID)
			// The answer of a deletion has no name, so keep it.
			names[p.ID] = p.Name
		}
	}
	if len(ids) == 0 {
		return output.AnswerList(f.Out, []deletedRecord{}, "nothing to delete", nil)
	}
	return factory.CallEach(cmd, f, ids, maxConcurrent, func(ctx context.Context, e api.Engine, id string) (deletedRecord, error) {
		_, err := api.ProcessRemove.Call(ctx, e, api.IDInput{ID: id})
		return deletedRecord{ID: id, Name: names[id]}, err
	}, func(r deletedRecord) string { return output.Visible(r.Name) + ": deleted\n" })
}

// A deletedRecord is an element of the output of rm --exited --json.
type deletedRecord struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}
