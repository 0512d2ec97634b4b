package machines

import (
	"path"
	"slices"
	"strings"

	"tandem/engine/api"
)

// Pattern reports whether a name means any machines that are called like it.
func Pattern(name string) bool { return strings.ContainsAny(name, "*?[") }

// Meant are the machines of config.toml that patterns mean, and the names that are
// no patterns. Labels mean none of them, which have none.
func Meant(c Config, wanted []string, labelled bool) ([]string, error) {
	for _, name := range wanted {
		if _, err := path.Match(name, ""); err != nil {
			return nil, api.Errorf(api.CodeInvalid, "read --host %s: it is no pattern", name)
		}
	}
	if labelled {
		return nil, nil
	}
	known, err := c.Load()
	if err != nil {
		return nil, err
	}
	names := slices.DeleteFunc(slices.Clone(wanted), Pattern)
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
