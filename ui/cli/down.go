package cli

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/ui/cli/output"
	"tandem/ui/cli/project"
)

func downCommand(a *app) *cobra.Command {
	var file string
	var forget, trust bool
	cmd := &cobra.Command{
		Use:   "down [NAME…] [-f FILE] [--forget] [--trust]",
		Short: "Stop what a project file started",
		Long: "Stops the sessions and processes that `tandem up` started from a project file, in\nreverse order of their dependencies, or only those named. " +
			"Anything started some\nother way is left alone.",
		Example:           "tandem down\ntandem down web\ntandem down --forget",
		ValidArgsFunction: a.completeEntries(&file, &trust),
		Args:              cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.down(cmd.Context(), file, args, forget, trust)
		},
	}
	cmd.Flags().StringVarP(&file, "file", "f", "", "the project `file` (default: the next one above)")
	cmd.Flags().BoolVar(&forget, "forget", false, "also delete their records and logs")
	addTrust(cmd, &trust)
	completeFileFlag(cmd)
	return cmd
}

// down stops the processes started from a project file. The file itself may be missing or invalid
// by now.
func (a *app) down(ctx context.Context, path string, names []string, forget, trust bool) error {
	list, err := a.listIfRunning(ctx)
	if err != nil {
		return err
	}
	path, err = a.projectPath(path, list, trust, "give one with -f")
	if err != nil {
		return err
	}
	file, err := project.Read(path, a.env)
	if err != nil {
		// Without the file the dependencies are unknown; the order of start respects them.
		a.out.Tell("%s; stopping in reverse order of start", output.Visible(err.Error()))
		file = nil
	}
	ours, err := projectProcesses(path, list, names, forget)
	if err != nil {
		return err
	}
	if len(ours) == 0 {
		return output.AnswerList(a.out, ours, "nothing of "+output.Visible(path)+" is running", nil)
	}
	conn, err := a.connectRetrying(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	outs, errs := project.StopAll(ctx, conn, ours, project.Dependents(file, ours), forget)
	if !forget {
		return output.AnswerAll(a.out, outs, errs, outcome)
	}
	if !slices.ContainsFunc(ours, func(p api.Process) bool { return !p.State.Ended() }) && !a.out.JSON {
		a.out.Tell("nothing of %s was running", output.Visible(path))
	}
	return output.AnswerAll(a.out, outs, errs, func(p api.Process) string { return deletedLine(p, ours) })
}

// deletedLine formats the line about a deleted process; before lists the processes as they
// were when down began.
func deletedLine(p api.Process, before []api.Process) string {
	if slices.ContainsFunc(before, func(q api.Process) bool { return q.ID == p.ID && q.State.Ended() }) {
		return output.Visible(p.Name) + ": deleted\n"
	}
	return strings.TrimSuffix(outcome(p), "\n") + ", deleted\n"
}

// projectPath returns the path of the project file: path if given, else the nearest one in this
// folder or above. Processes started from a file since deleted count too, if that file was nearer.
func (a *app) projectPath(path string, list []api.Process, trust bool, hint string) (string, error) {
	if path != "" {
		return filepath.Abs(path)
	}
	here, err := filepath.Abs(".")
	if err != nil {
		return "", err
	}
	found, err := findProject(here, trust)
	if err != nil && !errors.Is(err, project.ErrNone) {
		return "", err
	}
	for dir := here; ; dir = filepath.Dir(dir) {
		for _, p := range list {
			if p.Project != nil && filepath.Dir(p.Project.File) == dir && (err != nil || len(dir) > len(filepath.Dir(found))) {
				return p.Project.File, nil
			}
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if errors.Is(err, project.ErrNone) {
		return "", api.Errorf(api.CodeNotFound, "%v", err).WithHint(hint)
	}
	return found, err
}

// projectProcesses returns the processes started from the project file at path, limited to names if
// any are given. With ended it includes those that have exited.
func projectProcesses(path string, list []api.Process, names []string, ended bool) ([]api.Process, error) {
	var ours []api.Process
	known := map[string]bool{}
	for _, p := range list {
		if p.Project == nil || p.Project.File != path {
			continue
		}
		known[p.Project.Name] = true
		if (ended || !p.State.Ended()) && (len(names) == 0 || slices.Contains(names, p.Project.Name)) {
			ours = append(ours, p)
		}
	}
	for _, name := range names {
		if !known[name] {
			return nil, api.Errorf(api.CodeNotFound, "stop %s: %s has started nothing with this name", output.Visible(name), output.Visible(path))
		}
	}
	return ours, nil
}
