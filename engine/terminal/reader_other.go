//go:build !linux

package terminal

import "runtime"

// populate leaves it to faults to make memory ready.
func populate([]byte) {}

// giveWay lets other goroutines run.
func giveWay() { runtime.Gosched() }
