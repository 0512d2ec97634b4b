package ls

import (
	"context"
	"sync"
	"time"

	"tandem/engine/api"
)

// branchTimeout is how long to wait for branches, because a folder may be on a file system that
// does not respond.
const branchTimeout = time.Second

// findBranches returns the git branch of each folder. Folders outside a repository and slow ones
// are missing.
func findBranches(ctx context.Context, c api.Engine, folders []string) map[string]string {
	ctx, cancel := context.WithTimeout(ctx, branchTimeout)
	defer cancel()
	found := map[string]string{}
	var mu sync.Mutex
	var all sync.WaitGroup
	asked := map[string]bool{"": true}
	for _, folder := range folders {
		if asked[folder] {
			continue
		}
		asked[folder] = true
		all.Go(func() {
			out, err := api.FilesGit.Call(ctx, c, api.FilesGitInput{Path: folder, Branch: true})
			if err != nil || out.Branch == "" {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			found[folder] = out.Branch
		})
	}
	all.Wait()
	return found
}
