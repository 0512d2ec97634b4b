package toolkit

import (
	"errors"
	"regexp/syntax"
	"strings"

	"tandem/engine/api"
)

const (
	// wordMost is how long an argument or a variable of a program may be
	// (execve(2), MAX_ARG_STRLEN), its end included.
	wordMost = 128 << 10
	// patternMost is how long a regular expression may be: reading one takes
	// its time.
	patternMost = 64 << 10
)

// CheckLine checks a line for a shell and the variables that come with it
// before the system refuses them in fewer words.
func CheckLine(doing, command string, env map[string]string) error {
	switch {
	case strings.TrimSpace(command) == "":
		return api.Errorf(api.CodeInvalid, "%s: the command is empty", doing)
	case len(command) >= wordMost:
		return api.Errorf(api.CodeInvalid, "%s: the command is longer than 128 KB", doing).WithHint("write it to a file and run that")
	}
	for name, value := range env {
		if err := CheckVariable(name, value); err != nil {
			return err
		}
	}
	return nil
}

// CheckVariable refuses a variable with which nothing could be started.
func CheckVariable(name, value string) error {
	if len(name)+len("=")+len(value) >= wordMost {
		return api.Errorf(api.CodeInvalid, "environment variable %s: it is longer than 128 KB", Brief(name)).
			WithHint("write the value to a file and give the file's path")
	}
	return nil
}

// CheckPatterns refuses regular expressions that are too long or none.
func CheckPatterns(patterns ...string) error {
	for _, p := range patterns {
		if len(p) > patternMost {
			return api.Errorf(api.CodeInvalid, "read pattern: it is longer than 64 KB")
		}
		var wrong *syntax.Error
		if _, err := syntax.Parse(p, syntax.Perl); errors.As(err, &wrong) {
			return api.Errorf(api.CodeInvalid, "read pattern %q: %s", Brief(p), wrong.Code).
				WithHint(`it is a regular expression (RE2); escape what is meant as it is with \`)
		}
	}
	return nil
}
