package api

// These are the operations on git worktrees. Only the user may call them.
var (
	WorktreeAdd = NewOperation[WorktreeAddInput, Worktree]("worktree.add",
		"Creates a git worktree with a new branch beside a repository; a session can then be started in its path.", Write,
		Row[WorktreeAddInput]{Access: UserOnly, Repeat: RepeatNever})
	WorktreeList = NewOperation[WorktreeListInput, WorktreeListOutput]("worktree.list",
		"Lists the worktrees of a repository, with their uncommitted files and unmerged commits.", Read,
		Row[WorktreeListInput]{Access: UserOnly})
	WorktreeRemove = NewOperation[WorktreeRemoveInput, WorktreeRemoveOutput]("worktree.remove",
		"Removes a worktree, and its branch if it is merged.", Destructive,
		Row[WorktreeRemoveInput]{Access: UserOnly, Repeat: RepeatNever})
)

// WorktreeAddInput is the input of worktree.add.
type WorktreeAddInput struct {
	CWD  string `json:"cwd" jsonschema:"folder in the repository"`
	Name string `json:"name,omitempty" jsonschema:"name of the branch, and of the folder in REPOSITORY.worktrees; default: work-1, work-2, …"`
	Base string `json:"base,omitempty" jsonschema:"start of the branch; default: the commit checked out in \"cwd\""`
}

// WorktreeListInput is the input of worktree.list.
type WorktreeListInput struct {
	CWD string `json:"cwd" jsonschema:"folder in the repository or in one of its worktrees"`
}

// WorktreeListOutput is the output of worktree.list.
type WorktreeListOutput struct {
	Worktrees []Worktree `json:"worktrees" jsonschema:"all except the repository's own folder"`
}

// A Worktree is a git worktree: a folder with a branch of a repository checked out.
type Worktree struct {
	Path        string   `json:"path" jsonschema:"its folder"`
	Branch      string   `json:"branch,omitempty" jsonschema:"its branch; empty if none is checked out"`
	Repository  string   `json:"repository" jsonschema:"the repository's own folder"`
	Gone        bool     `json:"gone,omitempty" jsonschema:"its folder is gone; git still lists it"`
	Dirty       bool     `json:"dirty" jsonschema:"it has uncommitted files, or this is unknown"`
	Uncommitted int      `json:"uncommitted,omitempty" jsonschema:"number of uncommitted files and new folders; missing if unknown"`
	Unmerged    int      `json:"unmerged" jsonschema:"number of commits missing from the branch in the repository's own folder"`
	Sessions    []string `json:"sessions,omitempty" jsonschema:"ids of the sessions in it"`
}

// MergeArguments returns git's arguments for merging the worktree's branch. The branch has its full
// name, because a tag may be called the same.
func (w Worktree) MergeArguments() []string { return []string{"merge", "--", "refs/heads/" + w.Branch} }

// WorktreeRemoveInput is the input of worktree.remove.
type WorktreeRemoveInput struct {
	Path    string `json:"path" jsonschema:"folder of the worktree"`
	CWD     string `json:"cwd,omitempty" jsonschema:"a folder in the repository; needed if the worktree's folder is gone"`
	Discard bool   `json:"discard,omitempty" jsonschema:"remove it even with uncommitted files; otherwise they cause a conflict"`
}

// WorktreeRemoveOutput is the output of worktree.remove.
type WorktreeRemoveOutput struct {
	Branch        string `json:"branch,omitempty" jsonschema:"its branch"`
	BranchRemoved bool   `json:"branch_removed" jsonschema:"false: the branch was kept because it has unmerged commits"`
}
