package config

import "regexp"

// History is the table [history].
type History struct {
	Ignore []string `toml:"ignore"` // regular expressions of commands to keep out of the history
}

func (c History) check(wrong *mistakes) {
	for _, pattern := range c.Ignore {
		if _, err := regexp.Compile(pattern); err != nil {
			wrong.add("history.ignore", "ignore = %q: %v", pattern, err)
		}
	}
}
