package factory

import (
	"testing"

	"github.com/spf13/cobra"
)

func TestSubcommandsInheritTheReachOfTheirParent(t *testing.T) {
	root := &cobra.Command{Use: "tandem", Annotations: Here.Annotations()}
	worktree := &cobra.Command{Use: "worktree", Annotations: One.Annotations()}
	list := &cobra.Command{Use: "list", Annotations: Several.Annotations()}
	merge, help := &cobra.Command{Use: "merge"}, &cobra.Command{Use: "help"}
	root.AddCommand(worktree, help)
	worktree.AddCommand(list, merge)
	for cmd, want := range map[*cobra.Command]Reach{root: Here, help: Here, worktree: One, list: Several, merge: One, {Use: "alone"}: ""} {
		if got := ReachOf(cmd); got != want {
			t.Errorf("%s reaches %q, want %q", cmd.Name(), got, want)
		}
	}
}

func TestCommandsWithFlagsTheHubCannotAnswerAskTheMachines(t *testing.T) {
	list := func(args ...string) bool {
		cmd := &cobra.Command{Use: "ps", Annotations: ListAnnotations("usage", "watch")}
		cmd.Flags().Bool("usage", false, "")
		cmd.Flags().Bool("all", false, "")
		if err := cmd.Flags().Parse(args); err != nil {
			t.Fatal(err)
		}
		return OnlyLists(cmd)
	}
	if !list() || !list("--all") || list("--usage") {
		t.Errorf("the hub is enough: %v, with --all %v, with --usage %v; want true, true, false", list(), list("--all"), list("--usage"))
	}
	if OnlyLists(&cobra.Command{Use: "logs", Annotations: Several.Annotations()}) {
		t.Error("the hub is enough for a command that does not only list processes")
	}
}
