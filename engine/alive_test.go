package engine

import "tandem/engine/proctree"

// lives reports whether a process is there and has not ended.
func lives(pid int) bool {
	s, ok := proctree.Read(pid)
	return ok && !s.Zombie
}
