// Package tree tests the source tree itself: imports, sizes, wording, and the
// pages generated from the program's tables.
package tree

import (
	"os"
	"testing"
)

// TestMain changes to the root of the tree, so paths are relative to it.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
