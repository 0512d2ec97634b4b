//go:build race

package seed

// The race detector slows random checks down five times; a fifth of them finds the same races.
func init() { checks = "20" }
