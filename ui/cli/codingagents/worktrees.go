package codingagents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tandem/engine/api"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
)

// A NewTree is the worktree for a session started by `tandem new --worktree`.
type NewTree struct {
	wanted     bool
	name, base string // "" for none
}

// Add adds the flags --worktree and --base.
func (n *NewTree) Add(flags *pflag.FlagSet) {
	flags.BoolFunc("worktree", "start it in a new git worktree and branch `NAME` (default: work-1, …)", func(name string) error {
		if n.wanted = true; name != "true" { // given without a name
			n.name = name
		}
		return nil
	})
	flags.StringVar(&n.base, "base", "", "`REF` where the branch begins (default: what is checked out)")
}

// Read returns the command from args. With --worktree, a word before -- is the worktree's name, and
// flags may follow it.
func (n *NewTree) Read(cmd *cobra.Command, args []string) (command []string, err error) {
	if n.wanted && n.name == "" && len(args) > 0 && cmd.Flags().ArgsLenAtDash() < 0 {
		n.name = args[0]
		if err := cmd.Flags().Parse(args[1:]); err != nil {
			return nil, output.Usagef(cmd, "%v", err)
		}
		if args = cmd.Flags().Args(); len(args) > 0 && cmd.Flags().ArgsLenAtDash() != 0 {
			return nil, output.Usagef(cmd, "--worktree %s: put -- before the command", output.Visible(n.name))
		}
	}
	if !n.wanted && n.base != "" {
		return nil, output.Usagef(cmd, "--base needs --worktree")
	}
	return args, nil
}

// Make creates the worktree, if requested, and makes the session start in it.
func (n *NewTree) Make(ctx context.Context, f *factory.Factory, in *api.SessionStartInput) error {
	if !n.wanted {
		return nil
	}
	if in.CWD == "" { // on another machine without --cwd
		return output.UsageError("--worktree needs a folder on that machine", "give --cwd with a folder in the repository")
	}
	w, err := factory.Call(ctx, f, api.WorktreeAdd, api.WorktreeAddInput{CWD: in.CWD, Name: n.name, Base: n.base})
	if err != nil {
		return err
	}
	if in.CWD = w.Path; in.Name == "" {
		in.Name = filepath.Base(w.Path)
	}
	f.Out.Tell("branch %s in %s", output.Visible(w.Branch), output.Visible(f.DisplayPath(w.Path)))
	return nil
}

// NewWorktree returns the command worktree.
func NewWorktree(f *factory.Factory) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "worktree COMMAND",
		Short: "List, merge and remove the git worktrees of sessions",
		Long: "Lists, merges and removes the worktrees of the repository in this folder. `tandem new --worktree`\n" +
			"creates one; it stays, with its branch, until you remove it. On another\n" +
			"machine --cwd names the repository.",
		Example:     "tandem new --worktree fix-login -- claude\ntandem worktree list\ntandem worktree merge fix-login\ntandem worktree remove fix-login",
		Annotations: factory.One.Annotations(),
		RunE:        func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	list := &cobra.Command{
		Use: "list", Short: "List worktrees, with their uncommitted files and unmerged commits", Example: "tandem worktree list",
		Annotations: factory.Several.Annotations(),
		RunE:        func(cmd *cobra.Command, _ []string) error { return listTrees(cmd.Context(), f, dir) },
	}
	merge := &cobra.Command{
		Use: "merge BRANCH", Short: "Merge a worktree's branch in the repository's own folder, with your git",
		Example: "tandem worktree merge fix-login",
		RunE:    func(cmd *cobra.Command, args []string) error { return mergeTree(cmd.Context(), f, dir, args[0]) },
	}
	var yes, discard bool
	remove := &cobra.Command{
		Use: "remove BRANCH [--discard] [--yes]", Short: "Remove a worktree, and its branch if that is merged",
		Long:    "Removes a worktree after asking. Its branch goes too if all its commits are merged, and is kept\notherwise. Uncommitted changes are removed only with --discard.",
		Example: "tandem worktree remove fix-login",
		RunE: func(cmd *cobra.Command, args []string) error {
			return removeTree(cmd.Context(), f, dir, args[0], discard, yes)
		},
	}
	remove.Flags().BoolVar(&discard, "discard", false, "also remove uncommitted changes")
	remove.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	for _, c := range []*cobra.Command{merge, remove} {
		c.Args = factory.Exactly(1, "which worktree? Give its branch.")
		c.ValidArgsFunction = factory.First(func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return completeTrees(cmd.Context(), f, dir), cobra.ShellCompDirectiveNoFileComp
		})
	}
	cmd.PersistentFlags().StringVar(&dir, "cwd", "", "a `folder` of the repository (default: this one)")
	_ = cmd.MarkPersistentFlagDirname("cwd")
	cmd.AddCommand(list, merge, remove)
	return cmd
}

// treesAround returns the worktrees of the repository around dir.
func treesAround(ctx context.Context, f *factory.Factory, dir string) ([]api.Worktree, error) {
	if dir == "" && f.Host() != "" {
		return nil, output.UsageError("which repository on "+f.Host()+"?", "give --cwd with a folder in it")
	}
	path, err := f.Folder(dir)
	if err != nil {
		return nil, err
	}
	out, err := factory.Call(ctx, f, api.WorktreeList, api.WorktreeListInput{CWD: path})
	return out.Worktrees, err
}

func completeTrees(ctx context.Context, f *factory.Factory, dir string) (found []cobra.Completion) {
	trees, _ := treesAround(ctx, f, dir) // on error nothing is offered
	for _, w := range trees {
		found = append(found, cobra.CompletionWithDesc(w.Branch, treeState(w)))
	}
	return found
}

// treeState describes everything that would be lost with a worktree.
func treeState(w api.Worktree) string {
	var parts []string
	if w.Gone {
		parts = append(parts, "folder is gone")
	}
	if w.Dirty {
		parts = append(parts, "uncommitted changes")
	}
	if w.Unmerged > 0 {
		parts = append(parts, strconv.Itoa(w.Unmerged)+" unmerged")
	}
	if len(parts) == 0 {
		return "merged"
	}
	return strings.Join(parts, ", ")
}

func listTrees(ctx context.Context, f *factory.Factory, dir string) error {
	trees, err := treesAround(ctx, f, dir)
	if err != nil {
		return err
	}
	const none = "no worktrees here; `tandem new --worktree` makes one"
	sessions := map[string]string{}
	if len(trees) > 0 && !f.Out.JSON {
		sessions = sessionNames(ctx, f)
	}
	return output.AnswerList(f.Out, trees, none, func() string {
		t := f.Out.Table("BRANCH", "STATE", "SESSIONS", "FOLDER")
		for _, w := range trees {
			tint := output.Faint
			if w.Gone || w.Dirty || w.Unmerged > 0 {
				tint = output.Yellow
			}
			var inside []string
			for _, id := range w.Sessions {
				inside = append(inside, output.Visible(cmp.Or(sessions[id], id)))
			}
			t.Add(output.Tinted(output.Visible(w.Branch), output.Strong), output.Tinted(treeState(w), tint),
				output.Text(strings.Join(inside, " ")), output.Text(output.Visible(f.DisplayPath(w.Path))))
		}
		return t.String()
	})
}

// sessionNames returns the sessions' names by id, or none if the engine does not answer.
func sessionNames(ctx context.Context, f *factory.Factory) map[string]string {
	out, _ := factory.Call(ctx, f, api.SessionList, api.Empty{})
	names := make(map[string]string, len(out.Sessions))
	for _, s := range out.Sessions {
		names[s.ID] = s.Name
	}
	return names
}

func commitCount(commits int) string {
	if commits == 1 {
		return "1 unmerged commit"
	}
	return strconv.Itoa(commits) + " unmerged commits"
}

// findTree returns the worktree of a branch, or the one in a folder with that name.
func findTree(ctx context.Context, f *factory.Factory, dir, name string) (w api.Worktree, err error) {
	trees, err := treesAround(ctx, f, dir)
	if err != nil {
		return w, err
	}
	for _, w := range trees {
		if w.Branch == name || filepath.Base(w.Path) == name {
			return w, nil
		}
	}
	return w, api.Errorf(api.CodeNotFound, "no worktree of branch %s", output.Visible(name)).WithHint("see `tandem worktree list`")
}

// mergeTimeout is how long a merge on another machine may take.
const mergeTimeout = 10 * time.Minute

// git runs the user's own git: in this terminal, or on the machine to work on.
func git(ctx context.Context, f *factory.Factory, dir string, args []string) error {
	if f.Host() == "" {
		// Git may open an editor or ask for a password, so it gets the terminal.
		git := exec.CommandContext(ctx, "git", args...)
		git.Dir, git.Stdin, git.Stdout, git.Stderr = dir, os.Stdin, f.Out.Stderr, f.Out.Stderr
		return git.Run()
	}
	out, err := factory.Call(ctx, f, api.Exec, api.ExecInput{Command: append([]string{"git"}, args...), CWD: dir, TimeoutMS: int(mergeTimeout.Milliseconds())})
	if err != nil {
		return err
	}
	f.Out.Tell("%s", strings.TrimRight(out.Stdout+out.Stderr, "\n"))
	if code := out.Process.ExitCode; code == nil || *code != 0 {
		return errors.New("it failed")
	}
	return nil
}

// mergeTree merges a worktree's branch with the user's own git.
func mergeTree(ctx context.Context, f *factory.Factory, dir, name string) error {
	w, err := findTree(ctx, f, dir, name)
	if err != nil {
		return err
	}
	if w.Dirty {
		return api.Errorf(api.CodeConflict, "merge %s: %s has uncommitted changes", output.Visible(w.Branch), output.Visible(f.DisplayPath(w.Path))).WithHint("commit them first")
	}
	if err := git(ctx, f, w.Repository, w.MergeArguments()); err != nil {
		return &output.ExitError{Status: output.StatusFailed, Err: fmt.Errorf("merge %s: git: %v", output.Visible(w.Branch), err)}
	}
	return f.Out.Answer(w, func() string {
		return fmt.Sprintf("merged into %s; `tandem worktree remove %s` removes it\n", output.Visible(f.DisplayPath(w.Repository)), output.Visible(w.Branch))
	})
}

func removeTree(ctx context.Context, f *factory.Factory, dir, name string, discard, yes bool) error {
	w, err := findTree(ctx, f, dir, name)
	if err != nil {
		return err
	}
	if w.Dirty && !discard {
		return api.Errorf(api.CodeConflict, "remove %s: %s has uncommitted changes", output.Visible(w.Branch), output.Visible(f.DisplayPath(w.Path))).
			WithHint("commit them, or give --discard")
	}
	if !yes {
		f.Out.Tell("%s: %s", f.DisplayPath(w.Path), treeState(w))
		if err := f.Confirm("remove "+w.Branch, "Remove this worktree?"); err != nil {
			return err
		}
	}
	out, err := factory.Call(ctx, f, api.WorktreeRemove, api.WorktreeRemoveInput{Path: w.Path, CWD: w.Repository, Discard: discard})
	if err != nil {
		return err
	}
	return f.Out.Answer(out, func() string {
		if out.BranchRemoved || out.Branch == "" {
			return fmt.Sprintf("removed %s\n", output.Visible(f.DisplayPath(w.Path)))
		}
		return fmt.Sprintf("removed %s; the branch %s has %s and was kept\n", output.Visible(f.DisplayPath(w.Path)), output.Visible(out.Branch), commitCount(w.Unmerged))
	})
}
