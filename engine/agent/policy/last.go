package policy

import "errors"

// ErrWithdrawn is the fault of a policy that had rules and is now empty or missing. An editor may
// be saving it, so nothing is allowed until the file says so.
var ErrWithdrawn = errors.New(`the policy had rules and is now empty or missing, so you are asked about everything; write default = "allow" into it to allow everything`)

const (
	withdrawnReason = `policy.toml is empty or missing and had rules before; asking about everything until it has rules or default = "allow"`
	brokenReason    = "policy.toml cannot be used and no earlier valid version is known; asking about everything until it is corrected"
)

// InEffect returns the policy to apply. text is the content of policy.toml, nil if there is no
// file. If the file cannot be used whatever it contains, broken says why. kept is the last valid
// text, nil if there was none; keep reports that text replaces it. If the policy differs from the
// file, err says why.
func InEffect(text []byte, broken error, kept []byte) (p Policy, keep bool, err error) {
	err = broken
	if err == nil {
		if p, err = Parse(text); err == nil && !p.isEmpty() {
			return p, true, nil
		}
	}
	before, keptErr := Parse(kept) // fails if a newer release has kept it
	switch {
	// An empty file after an unrestricted one changes nothing.
	case err == nil && keptErr == nil && !before.restricts():
		return Policy{}, false, nil
	case err == nil:
		return Policy{Default: Ask, why: withdrawnReason}, false, ErrWithdrawn
	// A mistake while editing must not lift the rules in effect.
	case keptErr == nil && !before.isEmpty():
		return before, false, err
	}
	return Policy{Default: Ask, why: brokenReason}, false, err
}

// isEmpty reports whether a policy has no rules and no default.
func (p Policy) isEmpty() bool { return len(p.Rules) == 0 && p.Default == "" }

// restricts reports whether anything is asked about or denied.
func (p Policy) restricts() bool {
	return len(p.Rules) > 0 || p.Default != "" && p.Default != Allow
}

// defaultReason returns the reason for a verdict without a rule.
func (p Policy) defaultReason() string {
	if p.why != "" {
		return p.why
	}
	return "the policy's default"
}
