package names

import (
	"errors"
	"regexp/syntax"

	"tandem/engine/api"
)

// MaxPattern is the maximum length of a regular expression in bytes, because parsing takes
// time.
const MaxPattern = 64 << 10

// CheckPattern rejects an overlong or invalid regular expression. doing begins the error.
func CheckPattern(doing, expr string) error {
	if len(expr) > MaxPattern {
		return api.Errorf(api.CodeInvalid, "%s: the pattern is longer than %d KB", doing, MaxPattern>>10)
	}
	var wrong *syntax.Error
	if _, err := syntax.Parse(expr, syntax.Perl); errors.As(err, &wrong) {
		return api.Errorf(api.CodeInvalid, "%s: %s: %s", doing, wrong.Code, Shown(wrong.Expr)).
			WithHint("regular expressions are RE2: no backreferences, no lookaround")
	}
	return nil
}
