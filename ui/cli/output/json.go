package output

import (
	"slices"

	"github.com/spf13/cobra"
)

// WantsJSON reports whether to print an error as JSON. If parsing of the command line stopped
// early, it searches args for --json.
func WantsJSON(root *cobra.Command, args []string, err error) bool {
	on, _ := root.PersistentFlags().GetBool("json")
	return on || ExitStatus(err) == StatusUsage && slices.Contains(args, "--json")
}

// withoutJSON maps commands without JSON output to what they do instead.
var withoutJSON = map[string]string{
	"attach":    "shows a session on the terminal",
	"bridge":    "speaks the protocol between machines",
	"with-tmux": "passes on what its program prints",
}

// CheckJSON rejects --json, if wanted is set, for a command without JSON output.
func CheckJSON(cmd *cobra.Command, wanted bool) error {
	if why, ok := withoutJSON[cmd.Name()]; ok && wanted {
		return Usagef(cmd, "%s takes no --json: it %s", cmd.CommandPath(), why)
	}
	return nil
}

// A PictureFile is the JSON output of a command that writes a picture to a file.
type PictureFile struct {
	File string `json:"file"`
}
