package engine

import (
	"sync"

	"tandem/engine/proctree"
)

// cgroups manages the cgroups of children. Each is created before its child starts.
type cgroups struct {
	folder  string   // "" if cgroups cannot be created
	created sync.Map // paths of cgroups not removed yet
}

// create creates the cgroup at path and reports whether it exists.
func (c *cgroups) create(path string) bool {
	if !proctree.MakeCgroup(path) {
		return false
	}
	c.created.Store(path, nil)
	return true
}

// drop removes the cgroup of the child id, unless a process is left in it.
func (c *cgroups) drop(id string) {
	path := proctree.CgroupFor(c.folder, id)
	if proctree.DropCgroup(path) {
		c.created.Delete(path)
	}
}

// close removes the cgroups still occupied by an exiting process when they were dropped.
func (c *cgroups) close() {
	c.created.Range(func(path, _ any) bool {
		proctree.DropCgroup(path.(string))
		return true
	})
}
