package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/project"
)

// preferProject makes names in cmd's arguments refer to the current project first.
func preferProject(f *factory.Factory, cmd *cobra.Command) {
	count, run := factory.CountNames(cmd), cmd.RunE
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
		list, err := f.ListIfRunning(cmd.Context(), api.ProcessListInput{})
		if err != nil {
			return err
		}
		n := min(count, len(args))
		return run(cmd, slices.Concat(project.ResolveNames(path, list, args[:n], onlyReads(cmd), f.Out.Tell), args[n:]))
	}
}

// onlyReads reports whether a command changes nothing, so that names may be given by their beginning.
func onlyReads(cmd *cobra.Command) bool {
	readOnly, _ := cmd.Flags().GetBool("read-only") // false without that flag
	return readOnly || slices.Contains([]string{"logs", "screen", "wait", "ps", "ls", "info"}, cmd.Name())
}
