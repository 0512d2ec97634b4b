//go:build !invariants

package invariants

// Enabled reports whether this build has the tag invariants. It guards every check, so that
// the compiler drops the call from other builds.
const Enabled = false

// Sometimes returns true in about one of oneIn calls of a build with the tag invariants, and
// false in every other build. It guards a rare path, and path names it.
func Sometimes(path string, oneIn int) bool { return false }

// Never keeps a path from being taken until again is called, for a test of the usual one.
func Never(path string) (again func()) { return func() {} }

// Repanic panics again with a recovered p that Failf has panicked with.
func Repanic(p any) {}
