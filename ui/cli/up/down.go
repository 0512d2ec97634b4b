package up

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
	"tandem/ui/cli/project"
)

// NewDown returns the command down.
func NewDown(f *factory.Factory) *cobra.Command {
	var file string
	var forget, trust bool
	cmd := &cobra.Command{
		Use:   "down [NAME…] [-f FILE] [--forget] [--trust]",
		Short: "Stop what a project file started",
		Long: "Stops the sessions and processes that `tandem up` started from a project file, in\nreverse order of their dependencies, or only those named. " +
			"Anything started some\nother way is left alone.",
		Example:           "tandem down\ntandem down web\ntandem down --forget",
		Annotations:       factory.Several.Annotations(),
		ValidArgsFunction: completeEntries(f, &file, &trust),
		Args:              cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runDown(cmd.Context(), f, file, args, forget, trust)
		},
	}
	cmd.Flags().StringVarP(&file, "file", "f", "", "the project `file` (default: the next one above)")
	cmd.Flags().BoolVar(&forget, "forget", false, "also delete their records and logs")
	addTrust(cmd, &trust)
	completeFileFlag(cmd)
	return cmd
}

// runDown stops the processes started from a project file. The file itself may be missing or invalid
// by now.
func runDown(ctx context.Context, f *factory.Factory, path string, names []string, forget, trust bool) error {
	list, err := f.ListIfRunning(ctx, api.ProcessListInput{Metrics: true})
	if err != nil {
		return err
	}
	path, err = project.Locate(path, list, trust, "give one with -f")
	if err != nil {
		return err
	}
	file, broken := project.Read(path, f.Env)
	if broken != nil {
		f.Out.Tell("%s", output.Visible(broken.Error()))
		file = nil
	}
	ours, err := projectProcesses(path, list, names, forget)
	if err != nil {
		return err
	}
	if len(ours) == 0 {
		return output.AnswerList(f.Out, ours, "nothing in "+output.Visible(path)+" is running", nil)
	}
	if broken != nil && len(ours) > 1 {
		f.Out.Tell("The dependencies are unknown, so the processes are stopped in the reverse order of their starts.")
	}
	conn, err := f.DialRetrying(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	outs, errs := project.StopAll(ctx, conn, ours, project.StopLast(project.Dependents(file, ours), ours, f.Env(factory.OwnSession)), forget)
	if !forget {
		return output.AnswerAll(f.Out, outs, errs, output.Outcome)
	}
	if !slices.ContainsFunc(ours, func(p api.Process) bool { return p.IsAlive() }) && !f.Out.JSON {
		f.Out.Tell("nothing in %s was running", output.Visible(path))
	}
	return output.AnswerAll(f.Out, outs, errs, func(p api.Process) string { return deletedLine(p, ours) })
}

// deletedLine formats the line about a deleted process; former lists the processes as they were
// when the command began.
func deletedLine(p api.Process, former []api.Process) string {
	if slices.ContainsFunc(former, func(q api.Process) bool { return q.ID == p.ID && !q.IsAlive() }) {
		return output.Visible(p.Name) + ": deleted\n"
	}
	return strings.TrimSuffix(output.Outcome(p), "\n") + ", deleted\n"
}

// projectProcesses returns the processes started from the project file at path, limited to names if
// any are given. It leaves out ended ones with nothing running, unless ended is set.
func projectProcesses(path string, list []api.Process, names []string, ended bool) ([]api.Process, error) {
	var ours []api.Process
	known := map[string]bool{}
	for _, p := range list {
		if p.Project == nil || p.Project.File != path {
			continue
		}
		known[p.Project.Name] = true
		if (ended || p.IsAlive()) && (len(names) == 0 || slices.Contains(names, p.Project.Name)) {
			ours = append(ours, p)
		}
	}
	for _, name := range names {
		if !known[name] {
			return nil, api.Errorf(api.CodeNotFound, "stop %s: nothing with this name was started from %s", output.Visible(name), output.Visible(path))
		}
	}
	return ours, nil
}
