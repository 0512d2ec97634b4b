//go:build !linux

package logs

func newGrowth() growth { return newPollOnly() }
