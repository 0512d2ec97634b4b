//go:build !linux

package engine

func newGrowth() growth { return newPollOnly() }
