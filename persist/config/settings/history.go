package settings

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// History is the table [history].
type History struct {
	Ignore     []string `toml:"ignore"`      // regular expressions of commands to keep out of the history
	Private    []string `toml:"private"`     // folders in which all sessions are private
	KeepOutput Age      `toml:"keep_output"` // how long output is kept after its record is removed to make room
}

func historyDefaults() History { return History{KeepOutput: "30 days"} }

func historyRows() []Setting {
	return []Setting{
		{Key: "history.ignore", Want: "a list of regular expressions", Example: `["^vault ", "hunter2"]`, None: "nothing", Doc: "Commands that match one of these stay out of the history."},
		{Key: "history.private", Want: "a list of folders", Example: `["~/secrets"]`, None: "none", Doc: "Sessions started in one of these folders, or below, are private: nothing of them is written to disk."},
		{Key: "history.keep_output", Want: "a time in quotes, such as \"30 days\" or \"12h\"", Doc: "How long output is kept for the history and tandem search after an exited session or one-shot\ncommand has left the list; \"0\" keeps nothing."},
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
	if _, ok := h.KeepOutput.parse(); !ok {
		report("history.keep_output", "keep_output = %q: must be a time such as \"30 days\" or \"12h\", or \"0\"", string(h.KeepOutput))
	}
}

// AfterMistake returns the table as it is to be used although there is a mistake in the file: no private
// folder becomes ordinary, and nothing is deleted because of it.
func (h History) AfterMistake() History {
	if _, ok := h.KeepOutput.parse(); !ok || h.KeepOutput == historyDefaults().KeepOutput {
		h.KeepOutput = "36500 days"
	}
	h.Ignore = slices.DeleteFunc(h.Ignore, func(pattern string) bool {
		_, err := regexp.Compile(pattern)
		return err != nil
	})
	return h
}

// An Age is a time as written in the file: "30 days", "30d", or as a Duration. "0" is 0.
type Age string

// Value returns the time, which must be valid.
func (a Age) Value() time.Duration {
	d, _ := a.parse()
	return d
}

func (a Age) parse() (d time.Duration, ok bool) {
	const day, maxDays = 24 * time.Hour, 36500
	number := string(a)
	for _, unit := range []string{" days", " day", "d"} {
		if rest, found := strings.CutSuffix(number, unit); found {
			days, err := strconv.ParseFloat(rest, 64)
			return time.Duration(days * float64(day)), err == nil && days >= 0 && days <= maxDays
		}
	}
	d, err := time.ParseDuration(number)
	return d, err == nil && d >= 0
}
