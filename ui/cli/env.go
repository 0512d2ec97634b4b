package cli

import (
	"strings"

	"tandem/engine/api"
	"tandem/ui/cli/output"

	"github.com/spf13/cobra"
)

type envFlags struct{ reveal bool }

func envCommand(a *app) *cobra.Command {
	var f envFlags
	list := func(cmd *cobra.Command, _ []string) error { return a.listEnv(cmd, f) }
	cmd := &cobra.Command{
		Use:   "env [set K=V… | unset K… | get K | list] [--reveal]",
		Short: "Set variables for everything started from now on",
		Long: "Sets environment variables for everything started from now on. What already\nruns is not affected. " +
			"Values of names that look like those of secrets are hidden\nunless --reveal is given.",
		Example: "tandem env set PORT=8080 NODE_ENV=production\ntandem env get API_KEY --reveal\ntandem env unset PORT",
		RunE:    list,
	}
	cmd.PersistentFlags().BoolVar(&f.reveal, "reveal", false, "show the values of secrets")
	cmd.AddCommand(
		&cobra.Command{Use: "set K=V…", Short: "Set variables", Example: "tandem env set PORT=8080",
			Args:              atLeast(1, "set what? Give K=V."),
			ValidArgsFunction: cobra.NoFileCompletions, RunE: a.setEnv},
		&cobra.Command{Use: "unset K…", Short: "Remove variables that were set", Example: "tandem env unset PORT",
			Args:              atLeast(1, "which variable? Give a name."),
			ValidArgsFunction: a.completeEnv, RunE: a.unsetEnv},
		&cobra.Command{Use: "get K", Short: "Print the value of a variable", Example: "tandem env get PORT",
			Args: exactly(1, "which variable? Give a name."), ValidArgsFunction: first(a.completeEnv),
			RunE: func(cmd *cobra.Command, args []string) error { return a.getEnv(cmd, args[0], f) }},
		&cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List the variables", Example: "tandem env list --json",
			RunE: list},
	)
	return cmd
}

func (a *app) listEnv(cmd *cobra.Command, f envFlags) error {
	out, err := call(cmd.Context(), a, api.EnvList, api.EnvListInput{Reveal: f.reveal})
	if err != nil {
		return err
	}
	paint := a.out.Painter()
	return output.AnswerList(a.out, out.Variables, "no variables; set one with `tandem env set K=V`", func() string {
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

func (a *app) getEnv(cmd *cobra.Command, name string, f envFlags) error {
	v, err := call(cmd.Context(), a, api.EnvGet, api.EnvInput{Name: name, Reveal: f.reveal})
	if err != nil {
		return err
	}
	if a.out.JSON {
		return a.out.Answer(v, nil)
	}
	if v.Redacted {
		return api.Errorf(api.CodeConflict, "get variable %s: its value is hidden because its name looks like that of a secret", v.Name).
			WithHint("--reveal shows it")
	}
	value := v.Value
	if _, ok := output.Terminal(a.Stdout); ok {
		value = output.VisibleLines(value)
	}
	return a.out.Print(value + "\n")
}

func (a *app) setEnv(cmd *cobra.Command, args []string) error {
	// Parse all arguments before the first change, so that a usage error changes nothing.
	settings := make([]api.EnvSetInput, len(args))
	for i, arg := range args {
		name, value, given := strings.Cut(arg, "=")
		if !given || name == "" {
			return output.Usagef(cmd, "set %s: must be K=V", output.Visible(arg))
		}
		settings[i] = api.EnvSetInput{Name: name, Value: value}
	}
	conn, err := a.connectRetrying(cmd.Context())
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, s := range settings {
		if _, err := api.EnvSet.Call(cmd.Context(), conn, s); err != nil {
			return err
		}
	}
	return a.out.Answer(api.Empty{}, func() string { return "" })
}

func (a *app) unsetEnv(cmd *cobra.Command, args []string) error {
	conn, err := a.connectRetrying(cmd.Context())
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, name := range args {
		if _, err := api.EnvUnset.Call(cmd.Context(), conn, api.EnvInput{Name: name}); err != nil {
			return err
		}
	}
	return a.out.Answer(api.Empty{}, func() string { return "" })
}
