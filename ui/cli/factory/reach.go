package factory

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// A Reach says on which machines a command can run.
type Reach string

const (
	Here    Reach = "here"    // on this machine only
	One     Reach = "one"     // on another machine, one at a time
	Several Reach = "several" // on several machines at once
)

// Keys of a command's annotations.
const (
	reachKey = "reach"
	asksKey  = "asks"  // flags for which a machine of the fleet itself must be asked
	namesKey = "names" // how many arguments are names of processes
)

// Annotations returns the annotations of a command with reach r. Subcommands without their own have
// those of their parent.
func (r Reach) Annotations() map[string]string { return map[string]string{reachKey: string(r)} }

// AllNames is the count of a command whose arguments are all names of processes.
const AllNames = math.MaxInt

// Naming returns the annotations of a command with reach r. Its first count arguments are names of
// processes, which refer to those of the current project first.
func (r Reach) Naming(count int) map[string]string {
	return map[string]string{reachKey: string(r), namesKey: strconv.Itoa(count)}
}

// CountNames returns how many arguments of a command, from the first on, are names of processes.
func CountNames(cmd *cobra.Command) int {
	n, _ := strconv.Atoi(cmd.Annotations[namesKey]) // 0 without any
	return n
}

// ListAnnotations returns the annotations of a command that only lists processes, on several
// machines. For such a command the hub's record of a machine of the fleet is enough, unless one of
// the flags named in asks is given.
func ListAnnotations(asks ...string) map[string]string {
	return map[string]string{reachKey: string(Several), asksKey: strings.Join(asks, ",")}
}

// ReachOf returns the reach of a command; "" if neither it nor a parent has any.
func ReachOf(cmd *cobra.Command) Reach {
	for ; cmd != nil; cmd = cmd.Parent() {
		if r := cmd.Annotations[reachKey]; r != "" {
			return Reach(r)
		}
	}
	return ""
}

// OnlyLists reports whether the hub's records are enough to answer a command.
func OnlyLists(cmd *cobra.Command) bool {
	flags, ok := cmd.Annotations[asksKey]
	return ok && !slices.ContainsFunc(strings.Split(flags, ","), cmd.Flags().Changed)
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
