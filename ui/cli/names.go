package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"tandem/ui/cli/factory"
	"tandem/ui/cli/project"
)

// references returns how many arguments of verb, from the first on, are names of processes; -1
// means all.
func references(verb string) int {
	switch verb {
	case "stop", "restart", "logs", "kill", "rm":
		return -1
	case "attach", "send", "screen", "signal", "wait", "rec":
		return 1
	}
	return 0
}

// preferProject makes names in cmd's arguments refer to the current project first.
func preferProject(f *factory.Factory, cmd *cobra.Command) {
	count, run := references(cmd.Name()), cmd.RunE
	if count == 0 {
		return
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path, err := project.Find(".")
		// rec takes a session, or a command after --.
		isCommand := cmd.Name() == "rec" && cmd.ArgsLenAtDash() == 0
		if len(args) == 0 || isCommand || err != nil { // no names, or no project
			return run(cmd, args)
		}
		list, err := f.ListIfRunning(cmd.Context())
		if err != nil {
			return err
		}
		n := len(args)
		if count > 0 {
			n = count
		}
		return run(cmd, slices.Concat(project.ResolveNames(path, list, args[:n], f.Out.Tell), args[n:]))
	}
}
