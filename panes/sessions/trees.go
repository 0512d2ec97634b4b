package sessions

import (
	"path/filepath"
	"strings"
)

// treesEnd is how the folder ends in which the worktrees of a repository are made.
const treesEnd = ".worktrees"

// treeAt is the worktree made by Tandem that a folder lies in, "" for none.
func treeAt(folder string) string {
	for dir := folder; dir != "/" && dir != "." && dir != ""; dir = filepath.Dir(dir) {
		if strings.HasSuffix(filepath.Dir(dir), treesEnd) {
			return dir
		}
	}
	return ""
}

// RepositoryNear is the repository's own folder if a folder lies in a worktree of it, else
// the folder.
func RepositoryNear(folder string) string {
	if tree := treeAt(folder); tree != "" {
		return strings.TrimSuffix(filepath.Dir(tree), treesEnd)
	}
	return folder
}
