// Package invariants holds what builds with the tag invariants need to check the program's
// state after each change and to take rare paths at random. Other builds have nothing of it:
// Enabled is false there, and what it guards is not compiled. What must hold, and which paths
// are rare, is up to the packages that import it.
package invariants

import "fmt"

// SeedVariable is the environment variable with the seed of Sometimes. Without it the seed is
// random; either way it is written to standard error once, and child processes inherit it.
const SeedVariable = "TANDEM_INVARIANTS_SEED"

// broken is what Failf panics with.
type broken string

func (b broken) Error() string { return "invariant broken: " + string(b) }

// Failf panics with a message that says which invariant is broken, and what is there instead.
func Failf(format string, args ...any) { panic(broken(fmt.Sprintf(format, args...))) }

// Broken runs f and returns the message of the invariant it breaks, "" if it breaks none. The
// tests of checks use it.
func Broken(f func()) (message string) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case broken:
			message = string(p)
		default:
			panic(p)
		}
	}()
	f()
	return ""
}
