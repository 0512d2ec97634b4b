package api

// The operations on git's worktrees, for the person alone.
var (
	WorktreeAdd = NewOperation[WorktreeAddInput, Worktree]("worktree.add",
		"Makes a git worktree with a new branch beside a repository; a session can then be started in its path.", Write)
	WorktreeList = NewOperation[WorktreeListInput, WorktreeListOutput]("worktree.list",
		"Lists the worktrees of a repository, with what is uncommitted and unmerged in them.", Read)
	WorktreeRemove = NewOperation[WorktreeRemoveInput, WorktreeRemoveOutput]("worktree.remove",
		"Removes a worktree, and its branch if that is merged.", Destructive)
)

// WorktreeAddInput is the input of worktree.add.
type WorktreeAddInput struct {
	CWD  string `json:"cwd" jsonschema:"folder in the repository"`
	Name string `json:"name,omitempty" jsonschema:"of the branch, and of the folder in REPOSITORY.worktrees; default: work-1, work-2, …"`
	Base string `json:"base,omitempty" jsonschema:"where the branch begins; default: what is checked out in cwd"`
}

// WorktreeListInput is the input of worktree.list.
type WorktreeListInput struct {
	CWD string `json:"cwd" jsonschema:"folder in the repository or in one of its worktrees"`
}

// WorktreeListOutput is the output of worktree.list.
type WorktreeListOutput struct {
	Worktrees []Worktree `json:"worktrees" jsonschema:"all but the repository's own folder"`
}

// A Worktree is a folder of a repository with a branch of its own.
type Worktree struct {
	Path        string   `json:"path" jsonschema:"its folder"`
	Branch      string   `json:"branch,omitempty" jsonschema:"empty: none is checked out"`
	Repository  string   `json:"repository" jsonschema:"the repository's own folder"`
	Gone        bool     `json:"gone,omitempty" jsonschema:"its folder is gone; git still lists it"`
	Dirty       bool     `json:"dirty" jsonschema:"something in it is not committed, or that cannot be told"`
	Uncommitted int      `json:"uncommitted,omitempty" jsonschema:"how many files and new folders that is; without it that cannot be told"`
	Unmerged    int      `json:"unmerged" jsonschema:"commits that the branch in the repository's own folder does not have"`
	Sessions    []string `json:"sessions,omitempty" jsonschema:"ids of what runs in it"`
}

// MergeArguments are those of git that merge the branch. It is named in full: a tag may have
// the same name.
func (w Worktree) MergeArguments() []string { return []string{"merge", "--", "refs/heads/" + w.Branch} }

// WorktreeRemoveInput is the input of worktree.remove.
type WorktreeRemoveInput struct {
	Path    string `json:"path" jsonschema:"folder of the worktree"`
	CWD     string `json:"cwd,omitempty" jsonschema:"folder in the repository; needed if the worktree's own is gone"`
	Discard bool   `json:"discard,omitempty" jsonschema:"remove what is not committed too; without it that is a conflict"`
}

// WorktreeRemoveOutput is the output of worktree.remove.
type WorktreeRemoveOutput struct {
	Branch        string `json:"branch,omitempty" jsonschema:"its branch"`
	BranchRemoved bool   `json:"branch_removed" jsonschema:"false: the branch has commits that are not merged, and was kept"`
}
