package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client/retry"
	"tandem/ui/cli/output"
	"tandem/ui/cli/project"

	"github.com/spf13/cobra"
)

type upFlags struct {
	file                               string
	wait, prune, dryRun, replace, list bool
	trust                              bool
	timeout                            duration
}

func upCommand(a *app) *cobra.Command {
	var f upFlags
	cmd := &cobra.Command{
		Use:   "up [NAME…] [-f FILE] [--wait] [--timeout D] [--prune] [--dry-run] [--list] [--trust]",
		Short: "Start what a project file describes",
		Long: "Starts the sessions and processes of a project file, each after what it depends\non, " +
			"or those that are named and what they need. Whatever already runs as described is\nleft alone; what has changed is restarted. " +
			"The file is tandem.yaml, a\nprocess-compose file or a Procfile, here or in a folder above. If there is none, the\n" +
			"scripts of package.json that you name are started. A file that others own or can write\nis refused unless named with -f.",
		Example:           "tandem up\ntandem up web --wait\ntandem up --list\ntandem up -f deploy/tandem.yaml --dry-run",
		ValidArgsFunction: a.completeEntries(&f.file, &f.trust),
		Args:              cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := a.projectFile(f.file, f.trust)
			if err != nil {
				return err
			}
			if f.list {
				return listEntries(a.out, file, args)
			}
			return a.up(cmd.Context(), file, args, f)
		},
	}
	cmd.Flags().StringVarP(&f.file, "file", "f", "", "the project `file` (default: the next one above)")
	cmd.Flags().BoolVar(&f.wait, "wait", false, "return when everything with a readiness check is ready")
	cmd.Flags().Var(&f.timeout, "timeout", "stop watching after this long, and fail (default: never)")
	cmd.Flags().BoolVar(&f.prune, "prune", false, "stop and delete entries that are no longer in the file")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "only show what would be done")
	cmd.Flags().BoolVar(&f.list, "list", false, "only list the file's entries")
	addTrust(cmd, &f.trust)
	cmd.Flags().BoolVar(&f.replace, "recreate", false, "also restart what has not changed")
	completeFileFlag(cmd)
	return cmd
}

func addTrust(cmd *cobra.Command, trust *bool) {
	cmd.Flags().BoolVar(trust, "trust", false, "read the file found even if others own it or can write it")
}

// findProject returns the path of the nearest project file in dir or above. Unless trust is set, it
// returns an error if other users own the file or can write it.
func findProject(dir string, trust bool) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	path, err := project.Find(dir)
	if err != nil || trust {
		return path, err
	}
	return path, withHint(project.CheckTrust(path, dir))
}

// withHint converts a project.Error into an API error with its hint.
func withHint(err error) error {
	var mistake *project.Error
	if errors.As(err, &mistake) {
		return api.Errorf(api.CodeInvalid, "%v", err).WithHint(mistake.Hint)
	}
	return err
}

// projectFile reads the project file at path, or finds one if path is empty.
func (a *app) projectFile(path string, trust bool) (*project.File, error) {
	if path == "" {
		found, err := findProject(".", trust)
		if errors.Is(err, project.ErrNone) {
			return nil, api.Errorf(api.CodeNotFound, "%v", err).WithHint("write a tandem.yaml; see docs/project.md, or give one with -f")
		}
		if err != nil {
			return nil, err
		}
		if err := project.CheckOverride(found); err != nil {
			return nil, withHint(err)
		}
		path = found
	}
	file, err := project.Read(path, a.env)
	return file, withHint(err)
}

// up starts the entries of a project file.
func (a *app) up(ctx context.Context, file *project.File, names []string, f upFlags) error {
	order, err := file.Order(names)
	if err != nil {
		return err
	}
	tellNotices(a.out, file)
	if len(order) == 0 && !f.prune {
		return noAutostartError(file)
	}
	if f.dryRun {
		return a.dryRun(ctx, file, order, names, f)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	conn, err := retry.Connect(ctx, a.connect)
	if err != nil {
		return err
	}
	defer conn.Close()
	list, err := api.ProcessList.Call(ctx, conn, api.ProcessListInput{})
	if err != nil {
		return err
	}
	plan := project.NewPlan(file, order, list.Processes, project.PlanOptions{Named: names, Replace: f.replace})
	r := &project.Run{Out: a.out, Size: a.ownSize, Conn: conn, File: file, Plan: plan, Wait: f.wait, Timeout: time.Duration(f.timeout)}
	// Another machine's engine uses its own environment.
	if a.host() == "" {
		r.Environ, r.Umask = a.Environ, a.umask()
	}
	if on, ok := output.Terminal(a.Stdout); ok && !a.out.JSON && a.env("TERM") != "dumb" {
		r.Live = on
	}
	return r.Up(ctx, f.prune)
}

// dryRun prints what up would do. It starts no engine.
func (a *app) dryRun(ctx context.Context, file *project.File, order []*project.Entry, names []string, f upFlags) error {
	list, err := a.listIfRunning(ctx)
	if err != nil {
		return err
	}
	plan := project.NewPlan(file, order, list, project.PlanOptions{Named: names, Replace: f.replace})
	steps := plan.Results(f.prune)
	return a.out.Answer(steps, func() string {
		var b strings.Builder
		for _, s := range steps {
			line := fmt.Sprintf("%s: %s", output.Visible(s.Name), s.Action.Planned())
			if len(s.After) > 0 {
				line += ", after " + output.Visible(strings.Join(s.After, ", "))
			}
			b.WriteString(line + "\n")
		}
		return b.String()
	})
}

// listIfRunning lists sessions and processes. It starts an engine only if processes are alive
// without one.
func (a *app) listIfRunning(ctx context.Context) ([]api.Process, error) {
	client, err := a.connectIfAlive(ctx, true)
	if err != nil || client == nil {
		return nil, err
	}
	defer client.Close()
	out, err := api.ProcessList.Call(ctx, client, api.ProcessListInput{})
	return out.Processes, err
}

// completeEntries completes with the names of entries in the project file.
func (a *app) completeEntries(path *string, trust *bool) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		file, err := a.projectFile(*path, *trust)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var found []cobra.Completion
		for _, e := range file.Entries {
			if !slices.Contains(args, e.Name) && output.Visible(e.Name) == e.Name {
				found = append(found, cobra.CompletionWithDesc(e.Name, firstLine(e.Line())))
			}
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

func completeFileFlag(cmd *cobra.Command) {
	_ = cmd.MarkFlagFilename("file", "yaml", "yml", "Procfile") // fails only for an unknown flag
}
