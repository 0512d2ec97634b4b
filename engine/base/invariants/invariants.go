// Package invariants supports builds with the tag invariants, in which the program checks its state
// after each change and takes rare paths at random. In other builds Enabled is false, and the
// compiler drops everything guarded by it. The invariants and the rare paths themselves belong to
// the importing packages.
package invariants

import "fmt"

// broken is the panic value of Failf.
type broken string

func (b broken) Error() string { return "invariant broken: " + string(b) }

// Failf panics with a message naming the broken invariant and the actual state.
func Failf(format string, args ...any) { panic(broken(fmt.Sprintf(format, args...))) }

// Broken runs f and returns the message of the invariant it breaks, "" if it breaks none; for tests
// of checks.
func Broken(f func()) (message string) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case broken:
			message = string(p)
		default:
			// A different panic is a bug in f, not a broken invariant.
			panic(p)
		}
	}()
	f()
	return ""
}
