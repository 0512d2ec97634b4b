//go:build !invariants

package invariants

// Enabled reports whether this build has the tag invariants. It guards every check, so that the
// compiler drops the call from other builds.
const Enabled = false

// Sometimes returns true in about one of oneIn calls in builds with the tag invariants, and false in
// other builds. It guards the rare path named path.
func Sometimes(path string, oneIn int) bool { return false }

// Never disables a rare path, for tests of the usual path. Calling the returned function enables it
// again.
func Never(path string) (again func()) { return func() {} }

// Repanic panics again with p if it is a panic of Failf.
func Repanic(p any) {}
