package proctree

import "sync"

// Cgroups manages the cgroups of children. Each is created before its child starts.
type Cgroups struct {
	Prefix  string   // of their paths, from CgroupsOf
	created sync.Map // paths of cgroups not removed yet
}

// Create creates the cgroup at path and reports whether it exists.
func (c *Cgroups) Create(path string) bool {
	if !MakeCgroup(path) {
		return false
	}
	c.created.Store(path, nil)
	return true
}

// Drop removes the cgroup of the child id, unless a process is left in it.
func (c *Cgroups) Drop(id string) {
	path := CgroupFor(c.Prefix, id)
	if DropCgroup(path) {
		c.created.Delete(path)
	}
}

// Close removes the cgroups still occupied by an exiting process when they were dropped.
func (c *Cgroups) Close() {
	c.created.Range(func(path, _ any) bool {
		DropCgroup(path.(string))
		return true
	})
}
