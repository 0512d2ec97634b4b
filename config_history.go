package main

import (
	"fmt"
	"regexp"
)

// HistoryConfig is the table history.
type HistoryConfig struct {
	Ignore []string `toml:"ignore"` // regular expressions: commands that match one stay out of the history
}

func (c HistoryConfig) check() error {
	for _, pattern := range c.Ignore {
		if _, err := regexp.Compile(pattern); err != nil {
			return fmt.Errorf("ignore = %q: %w", pattern, err)
		}
	}
	return nil
}
