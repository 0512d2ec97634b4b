package machines

import (
	"path"
	"slices"
	"strings"

	"tandem/engine/api"
	"tandem/ui/cli/factory"
)

// IsPattern reports whether a name is a pattern for names of machines.
func IsPattern(name string) bool { return strings.ContainsAny(name, "*?[") }

// MatchNames returns the machines of config.toml that match the patterns in wanted, and the names
// in wanted. If labelled is set, it returns none, because machines of config.toml have no labels.
func MatchNames(c factory.Machines, wanted []string, labelled bool) ([]string, error) {
	for _, name := range wanted {
		if _, err := path.Match(name, ""); err != nil {
			return nil, api.Errorf(api.CodeInvalid, "read --host %s: not a valid pattern", name)
		}
	}
	if labelled {
		return nil, nil
	}
	known, err := c.Load()
	if err != nil {
		return nil, err
	}
	names := slices.DeleteFunc(slices.Clone(wanted), IsPattern)
	for _, m := range known {
		if slices.ContainsFunc(wanted, func(name string) bool {
			ok, _ := path.Match(name, m.Name)
			return ok
		}) {
			names = append(names, m.Name)
		}
	}
	return names, nil
}
