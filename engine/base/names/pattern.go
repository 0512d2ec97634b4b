package names

import (
	"errors"
	"fmt"
	"regexp/syntax"
)

// MaxPattern is the maximum length of a regular expression in bytes, because parsing takes
// time.
const MaxPattern = 64 << 10

// CheckPattern rejects an overlong or invalid regular expression. The error starts with doing, such
// as "search the log".
func CheckPattern(doing, expr string) error {
	if len(expr) > MaxPattern {
		return fmt.Errorf("%s: the pattern is longer than %d KB", doing, MaxPattern>>10)
	}
	var wrong *syntax.Error
	if _, err := syntax.Parse(expr, syntax.Perl); errors.As(err, &wrong) {
		return &patternError{fmt.Sprintf("%s: %s: %s", doing, wrong.Code, Shown(wrong.Expr))}
	}
	return nil
}

// A patternError is the error of a regular expression that cannot be parsed.
type patternError struct{ text string }

func (e *patternError) Error() string { return e.text }

// Hint returns what the user can do about it.
func (*patternError) Hint() string {
	return "regular expressions are RE2: no backreferences, no lookaround"
}
