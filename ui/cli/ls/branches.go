package ls

import (
	"context"
	"sync"
	"time"

	"tandem/engine/api"
)

// branchPatience bounds how long branches are waited for: a folder may be on a file system that
// does not answer.
const branchPatience = time.Second

// branchesOf are those that are checked out where folders lie. Those outside a repository, and
// what takes too long, are left out.
func branchesOf(ctx context.Context, c api.Engine, folders []string) map[string]string {
	ctx, cancel := context.WithTimeout(ctx, branchPatience)
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
