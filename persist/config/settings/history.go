package settings

import "regexp"

// History is the table [history].
type History struct {
	Ignore []string `toml:"ignore"` // regular expressions of commands to keep out of the history
}

func historyRows() []Setting {
	return []Setting{
		{Key: "history.ignore", Want: "a list of regular expressions", Example: `["^vault ", "hunter2"]`, None: "nothing", Doc: "Commands that match one of these stay out of the history."},
	}
}

func (h History) check(report Report) {
	for _, pattern := range h.Ignore {
		if _, err := regexp.Compile(pattern); err != nil {
			report("history.ignore", "ignore = %q: %v", pattern, err)
		}
	}
}
