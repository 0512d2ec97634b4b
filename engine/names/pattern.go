package names

import (
	"errors"
	"regexp/syntax"

	"tandem/engine/api"
)

// LongestPattern is how many bytes a regular expression may have: reading one takes
// its time.
const LongestPattern = 64 << 10

// CheckPattern refuses a regular expression that is too long, or none; doing is
// what it is for.
func CheckPattern(doing, expr string) error {
	if len(expr) > LongestPattern {
		return api.Errorf(api.CodeInvalid, "%s: the pattern is longer than %d KB", doing, LongestPattern>>10)
	}
	var wrong *syntax.Error
	if _, err := syntax.Parse(expr, syntax.Perl); errors.As(err, &wrong) {
		return api.Errorf(api.CodeInvalid, "%s: %s: %s", doing, wrong.Code, Shown(wrong.Expr)).
			WithHint("regular expressions are RE2: no backreferences, no lookaround")
	}
	return nil
}
