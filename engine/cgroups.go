package engine

import (
	"sync"

	"tandem/engine/proctree"
)

// cgroups manages the cgroups of children. Each is created before its child starts.
type cgroups struct {
	folder string   // "" if cgroups cannot be created
	made   sync.Map // paths of cgroups not removed yet
}

// make creates the cgroup at path and reports whether it exists.
func (c *cgroups) make(path string) bool {
	if !proctree.MakeCgroup(path) {
		return false
	}
	c.made.Store(path, nil)
	return true
}

// drop removes the cgroup of the child id, unless a process is left in it.
func (c *cgroups) drop(id string) {
	path := proctree.CgroupFor(c.folder, id)
	if proctree.DropCgroup(path) {
		c.made.Delete(path)
	}
}

// close removes the cgroups whose last process was still exiting when they were
// dropped.
func (c *cgroups) close() {
	c.made.Range(func(path, _ any) bool {
		proctree.DropCgroup(path.(string))
		return true
	})
}
