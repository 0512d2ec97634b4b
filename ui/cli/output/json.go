package output

import (
	"slices"

	"github.com/spf13/cobra"
)

// WantsJSON reports whether an error is to be printed as JSON. The command line is
// searched for --json if it could not be read that far.
func WantsJSON(root *cobra.Command, args []string, err error) bool {
	on, _ := root.PersistentFlags().GetBool("json")
	return on || Status(err) == StatusUsage && slices.Contains(args, "--json")
}

// withoutJSON names the commands that cannot answer with JSON, and says why.
var withoutJSON = map[string]string{
	"attach":    "shows a session on the terminal",
	"bridge":    "speaks the protocol between machines",
	"with-tmux": "passes on what its program prints",
}

// CheckJSON rejects --json, if it is on, for a command that would print no JSON.
func CheckJSON(cmd *cobra.Command, on bool) error {
	if why, ok := withoutJSON[cmd.Name()]; ok && on {
		return Usagef(cmd, "%s takes no --json: it %s", cmd.CommandPath(), why)
	}
	return nil
}
