package engine

import "tandem/engine/system/proctree"

// isRunning reports whether a process exists and has not exited.
func isRunning(pid int) bool {
	s, ok := proctree.Read(pid)
	return ok && !s.IsZombie()
}
