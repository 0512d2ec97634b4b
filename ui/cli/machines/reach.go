package machines

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// A Reach says on which machines a command can run.
type Reach int

const (
	Here    Reach = iota // on this machine only
	One                  // on another machine, one at a time
	Several              // on several machines at once
)

// reachOf maps commands, and subcommands with a different reach, to their reach.
var reachOf = map[string]Reach{
	"new": One, "attach": One, "send": One, "screen": One, "rm": One, "signal": One,
	"rec": One, "play": One, "requests": One, "allow": One, "deny": One, "env": One, "worktree": One, "files": One,
	"ps": Several, "ls": Several, "logs": Several, "exec": Several, "history": Several, "wait": Several, "info": Several, "stop": Several, "audit": Several,
	"start": Several, "restart": Several, "up": Several, "down": Several, "kill": Several,
	"agents": Several, "worktree list": Several,
}

// ReachOf returns the reach of a command.
func ReachOf(cmd *cobra.Command) Reach {
	_, words, _ := strings.Cut(cmd.CommandPath(), " ")
	verb, _, _ := strings.Cut(words, " ")
	return cmp.Or(reachOf[words], reachOf[verb])
}

// listing maps commands that only list processes to the flags for which the machine itself must be
// asked. Without those flags, the hub's record of a fleet's machine is enough.
var listing = map[string][]string{"ps": {"usage", "watch"}, "ls": {"verbose"}}

// OnlyLists reports whether the hub's records are enough to answer a command.
func OnlyLists(cmd *cobra.Command) bool {
	flags, ok := listing[cmd.Name()]
	return ok && cmd.HasParent() && !cmd.Parent().HasParent() && !slices.ContainsFunc(flags, cmd.Flags().Changed)
}

// UnsupportedFlags returns the machine flags that a command does not support.
func UnsupportedFlags(cmd *cobra.Command) []string {
	switch how := ReachOf(cmd); {
	case how == One:
		return []string{"all-hosts", "parallel"}
	case how == Several || !cmd.HasParent():
		return nil
	}
	return []string{"all-hosts", "host", "label", "parallel"}
}
