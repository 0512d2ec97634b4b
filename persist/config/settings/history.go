package settings

import (
	"path/filepath"
	"regexp"
	"strings"
)

// History is the table [history].
type History struct {
	Ignore  []string `toml:"ignore"`  // regular expressions of commands to keep out of the history
	Private []string `toml:"private"` // folders in which all sessions are private
}

func historyRows() []Setting {
	return []Setting{
		{Key: "history.ignore", Want: "a list of regular expressions", Example: `["^vault ", "hunter2"]`, None: "nothing", Doc: "Commands that match one of these stay out of the history."},
		{Key: "history.private", Want: "a list of folders", Example: `["~/secrets"]`, None: "none", Doc: "Sessions started in one of these folders, or below, are private: nothing of them is written to disk."},
	}
}

func (h History) check(report Report) {
	for _, pattern := range h.Ignore {
		if _, err := regexp.Compile(pattern); err != nil {
			report("history.ignore", "ignore = %q: %v", pattern, err)
		}
	}
	for _, folder := range h.Private {
		if !filepath.IsAbs(folder) && folder != "~" && !strings.HasPrefix(folder, "~/") {
			report("history.private", "private = %q: must begin with / or ~/", folder)
		}
	}
}
