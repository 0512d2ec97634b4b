package processes

import (
	"context"
	"strings"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"

	"github.com/spf13/cobra"
)

type envFlags struct{ reveal bool }

// NewEnv returns the command env.
func NewEnv(f *factory.Factory) *cobra.Command {
	var opts envFlags
	list := func(cmd *cobra.Command, _ []string) error { return listEnv(f, cmd, opts) }
	cmd := &cobra.Command{
		Use:   "env [set K=V… | unset K… | get K | list] [--reveal]",
		Short: "Set variables for everything started from now on",
		Long: "Sets environment variables for everything started from now on. What already\nruns is not affected. " +
			"Values of names that look like those of secrets are hidden\nunless --reveal is given.",
		Example:     "tandem env set PORT=8080 NODE_ENV=production\ntandem env get API_KEY --reveal\ntandem env unset PORT",
		Annotations: factory.One.Annotations(),
		RunE:        list,
	}
	cmd.PersistentFlags().BoolVar(&opts.reveal, "reveal", false, "show the values of secrets")
	cmd.AddCommand(
		&cobra.Command{Use: "set K=V…", Short: "Set variables", Example: "tandem env set PORT=8080",
			Args:              factory.AtLeast(1, "set what? Give K=V."),
			ValidArgsFunction: cobra.NoFileCompletions, RunE: func(cmd *cobra.Command, args []string) error { return setEnv(f, cmd, args) }},
		&cobra.Command{Use: "unset K…", Short: "Remove variables that were set", Example: "tandem env unset PORT",
			Args:              factory.AtLeast(1, "which variable? Give a name."),
			ValidArgsFunction: completeEnv(f), RunE: func(cmd *cobra.Command, args []string) error { return unsetEnv(f, cmd, args) }},
		&cobra.Command{Use: "get K", Short: "Print the value of a variable", Example: "tandem env get PORT",
			Args: factory.Exactly(1, "which variable? Give a name."), ValidArgsFunction: factory.First(completeEnv(f)),
			RunE: func(cmd *cobra.Command, args []string) error { return getEnv(f, cmd, args[0], opts) }},
		&cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List the variables", Example: "tandem env list --json",
			RunE: list},
	)
	return cmd
}

func listEnv(f *factory.Factory, cmd *cobra.Command, opts envFlags) error {
	out, err := factory.Call(cmd.Context(), f, api.EnvList, api.EnvListInput{Reveal: opts.reveal})
	if err != nil {
		return err
	}
	paint := f.Out.Painter()
	return output.AnswerList(f.Out, out.Variables, "no variables; set one with `tandem env set K=V`", func() string {
		var b strings.Builder
		for _, v := range out.Variables {
			value := output.Visible(v.Value)
			if v.Redacted {
				value = paint(output.Faint, "(hidden; --reveal shows it)")
			}
			b.WriteString(output.Visible(v.Name) + "=" + value + "\n")
		}
		return b.String()
	})
}

func getEnv(f *factory.Factory, cmd *cobra.Command, name string, opts envFlags) error {
	v, err := factory.Call(cmd.Context(), f, api.EnvGet, api.EnvInput{Name: name, Reveal: opts.reveal})
	if err != nil {
		return err
	}
	if f.Out.JSON {
		return f.Out.Answer(v, nil)
	}
	if v.Redacted {
		return api.Errorf(api.CodeConflict, "get variable %s: its value is hidden because its name looks like that of a secret", v.Name).
			WithHint("--reveal shows it")
	}
	value := v.Value
	if _, ok := output.Terminal(f.Stdout); ok {
		value = output.VisibleLines(value)
	}
	return f.Out.Print(value + "\n")
}

func setEnv(f *factory.Factory, cmd *cobra.Command, args []string) error {
	// Parse all arguments before the first change, so that a usage error changes nothing.
	settings := make([]api.EnvSetInput, len(args))
	for i, arg := range args {
		name, value, given := strings.Cut(arg, "=")
		if !given || name == "" {
			return output.Usagef(cmd, "set %s: must be K=V", output.Visible(arg))
		}
		settings[i] = api.EnvSetInput{Name: name, Value: value}
	}
	return changeEnv(f, cmd, api.EnvSet.Run, settings)
}

func unsetEnv(f *factory.Factory, cmd *cobra.Command, args []string) error {
	names := make([]api.EnvInput, len(args))
	for i, name := range args {
		names[i] = api.EnvInput{Name: name}
	}
	return changeEnv(f, cmd, api.EnvUnset.Run, names)
}

// changeEnv changes one variable after the other.
func changeEnv[In any](f *factory.Factory, cmd *cobra.Command, change func(context.Context, api.Engine, In) error, inputs []In) error {
	conn, err := f.DialRetrying(cmd.Context())
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, in := range inputs {
		if err := change(cmd.Context(), conn, in); err != nil {
			return err
		}
	}
	return f.Out.Answer(api.Empty{}, func() string { return "" })
}

// completeEnv completes with the variables in the engine's environment.
func completeEnv(f *factory.Factory) cobra.CompletionFunc {
	return factory.CompleteFrom(f, func(ctx context.Context, engine *client.Client) ([]api.EnvVar, error) {
		out, err := api.EnvList.Call(ctx, engine, api.EnvListInput{})
		return out.Variables, err
	}, func(all []api.EnvVar, _ []string, _ string) (found []cobra.Completion) {
		for _, v := range all {
			found = append(found, v.Name)
		}
		return found
	})
}
