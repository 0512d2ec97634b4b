package machines

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// A Reach is how a command gets along with other machines.
type Reach int

const (
	Here    Reach = iota // it works on this machine only
	One                  // it works on another machine, on one at a time
	Several              // it works on several at once
)

// reach is how verbs get along with other machines, and commands of theirs that differ.
var reach = map[string]Reach{
	"new": One, "attach": One, "send": One, "screen": One, "rm": One, "signal": One,
	"rec": One, "play": One, "requests": One, "allow": One, "deny": One, "env": One, "worktree": One, "files": One,
	"ps": Several, "ls": Several, "logs": Several, "exec": Several, "history": Several, "wait": Several, "info": Several, "stop": Several, "audit": Several,
	"start": Several, "restart": Several, "up": Several, "down": Several, "kill": Several,
	"agents": Several, "worktree list": Several,
}

// ReachOf is how a command gets along with other machines.
func ReachOf(cmd *cobra.Command) Reach {
	_, words, _ := strings.Cut(cmd.CommandPath(), " ")
	verb, _, _ := strings.Cut(words, " ")
	return cmp.Or(reach[words], reach[verb])
}

// listing are the verbs that only show what runs, and their flags for which a machine has to
// be asked: without them, what it has told the hub of its fleet does.
var listing = map[string][]string{"ps": {"usage", "watch"}, "ls": {"verbose"}}

// OnlyLists reports whether a command shows nothing that a machine of a fleet has not told the hub.
func OnlyLists(cmd *cobra.Command) bool {
	flags, ok := listing[cmd.Name()]
	return ok && cmd.HasParent() && !cmd.Parent().HasParent() && !slices.ContainsFunc(flags, cmd.Flags().Changed)
}

// Refused are those flags about machines that a command does not take.
func Refused(cmd *cobra.Command) []string {
	switch how := ReachOf(cmd); {
	case how == One:
		return []string{"all-hosts", "parallel"}
	case how == Several || !cmd.HasParent():
		return nil
	}
	return []string{"all-hosts", "host", "label", "parallel"}
}
