package codingagents

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
	"tandem/ui/cli/setup"
)

func newHooks(f *factory.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hooks",
		Short: "Have agents report their state through their own hooks",
		Long: "Makes coding agents report their state to Tandem. Their hooks are commands that they run when\n" +
			"you give them a task, when they ask you something and when they are done;\noutside Tandem these do nothing.\n\n" +
			"Agents: " + strings.Join(setup.HookNames(), ", ") + ".",
		Example: "tandem agent hooks status\ntandem agent hooks install claude\ntandem agent hooks remove claude",
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	install := changeHooks(f, "install", "Add hooks to an agent's settings",
		"Adds hooks to an agent's settings. It shows the change and asks first; everything else in the file\nstays as it is.", setup.Machine.InstallHooks)
	remove := changeHooks(f, "remove", "Remove the hooks from an agent's settings",
		"Removes the hooks from an agent's settings. Everything else in the file stays as it is.", setup.Machine.RemoveHooks)
	status := &cobra.Command{
		Use:     "status [NAME]",
		Short:   "Show which agents have their hooks installed",
		Example: "tandem agent hooks status\ntandem agent hooks status --json | jq -r '.[] | select(.hooks == \"outdated\").agent'",
		RunE:    func(cmd *cobra.Command, args []string) error { return hookStatus(f, args) },
	}
	for _, c := range []*cobra.Command{install, remove, status} {
		c.Args, c.ValidArgsFunction = factory.Exactly(1, "which agent? Give its name."), factory.First(completeHooks)
		cmd.AddCommand(c)
	}
	status.Args = factory.AtMost(1)
	return cmd
}

// completeHooks completes with the agents that have hooks.
func completeHooks(*cobra.Command, []string, string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
	for _, h := range setup.AllHooks() {
		found = append(found, cobra.CompletionWithDesc(h.Name, h.Title))
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

func findHooks(name string) (setup.Hooks, error) {
	h, known := setup.FindHooks(name)
	if !known {
		return h, output.UsageError(fmt.Sprintf("%q has no hooks that Tandem knows", output.Visible(name)), "known are those of "+strings.Join(setup.HookNames(), ", "))
	}
	return h, nil
}

// A hookAnswer is the JSON output of a change to hooks.
type hookAnswer struct {
	Agent string `json:"agent"`
	change
}

func changeHooks(f *factory.Factory, verb, short, long string, plan func(setup.Machine, setup.Hooks) (*setup.Plan, error)) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: verb + " NAME [--yes]", Short: short, Long: long,
		Example: "tandem agent hooks " + verb + " claude",
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := findHooks(args[0])
			if err != nil {
				return err
			}
			m, err := ThisMachine(f.Env)
			if err != nil {
				return err
			}
			p, err := plan(m, h)
			if err != nil {
				return err
			}
			// "install" becomes "installed", and "remove" becomes "removed".
			made, err := applyPlan(cmd.Context(), f, p, verb+" hooks of "+h.Title, strings.TrimSuffix(verb, "e")+"ed", yes)
			if err != nil {
				return err
			}
			return f.Out.Answer(hookAnswer{h.Name, made}, func() string { return hookText(f, verb, h, made) })
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func hookText(f *factory.Factory, verb string, h setup.Hooks, answer change) string {
	where := output.Visible(f.DisplayPath(answer.Path))
	switch {
	case answer.Status == "unchanged" && verb == "install":
		return fmt.Sprintf("the hooks of %s are already installed in %s\n", h.Title, where)
	case answer.Status == "unchanged":
		return fmt.Sprintf("no hooks of Tandem in %s\n", where)
	case verb == "remove":
		return fmt.Sprintf("removed from %s; restart %s if it is running\n", where, h.Title)
	case h.Note != "":
		return fmt.Sprintf("%s has its hooks; restart it if it is running (%s)\n", h.Title, h.Note)
	}
	return fmt.Sprintf("%s has its hooks; restart it if it is running\n", h.Title)
}

func hookStatus(f *factory.Factory, args []string) error {
	m, err := ThisMachine(f.Env)
	if err != nil {
		return err
	}
	states := m.HookStates()
	if len(args) > 0 {
		h, err := findHooks(args[0])
		if err != nil {
			return err
		}
		states = slices.DeleteFunc(states, func(s setup.HookState) bool { return s.Agent != h.Name })
	}
	return f.Out.Answer(states, func() string {
		t := settingsTable{f.Out.Table("AGENT", "HERE", "HOOKS", "SETTINGS"), ""}
		for _, s := range states {
			t.add(s.Agent, s.Found, hookCell(s), s.Path, s.Error)
		}
		return t.text()
	})
}

func hookCell(s setup.HookState) output.Cell {
	switch s.Hooks {
	case setup.HooksInstalled:
		return output.Tinted(s.Hooks, output.Green)
	case setup.HooksOutdated:
		return output.Tinted(s.Hooks, output.Yellow)
	case setup.HooksMissing:
		return output.Tinted(s.Hooks, output.Faint)
	}
	return output.Tinted("unreadable", output.Red)
}
