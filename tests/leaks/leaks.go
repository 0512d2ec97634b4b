// Package leaks runs the tests of a package and fails if goroutines are left behind.
package leaks

import (
	"fmt"
	"os"
	"time"

	"go.uber.org/goleak"
)

// patience bounds the wait for goroutines that are about to exit. goleak itself waits half a
// second, which is too short on a busy machine for those that wait for another process.
const patience = time.Minute

// Main runs m, waits until no other goroutine is left, except those that options ignore, and
// exits.
func Main(m goleak.TestingM, options ...goleak.Option) {
	code := m.Run()
	if code == 0 {
		err := goleak.Find(options...)
		for end := time.Now().Add(patience); err != nil && time.Now().Before(end); {
			err = goleak.Find(options...)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "after successful tests: %v\n", err)
			code = 1
		}
	}
	os.Exit(code)
}
