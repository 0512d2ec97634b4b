package native

import (
	"errors"
	"testing"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

func TestOnlyUnknownKeysGetTheNamesOfKeys(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err    error
		hinted bool
	}{
		"unknown key":   {api.Errorf(api.CodeInvalid, "x").WithReason(api.ReasonUnknownKey), true},
		"with a hint":   {api.Errorf(api.CodeInvalid, "x").WithReason(api.ReasonUnknownKey).WithHint("own"), false},
		"another error": {api.Errorf(api.CodeInvalid, "type key x"), false},
	} {
		if got := hintKeys(test.err); (got != test.err) != test.hinted || !errors.Is(got, api.CodeInvalid) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestOnlyTheServersOwnFolderIsHinted(t *testing.T) {
	t.Parallel()
	f := &toolkit.Agent{}
	wrong := api.Errorf(api.CodeInvalid, "x").WithReason(api.ReasonBadCWD)
	for name, test := range map[string]struct {
		cwd    string
		err    error
		hinted bool
	}{
		"own folder":    {"", wrong, true},
		"given folder":  {"/x", wrong, false},
		"another error": {"", api.Errorf(api.CodeInvalid, "start in /x: no"), false},
	} {
		if got := f.StartError(test.cwd, test.err); (api.AsError(got).Hint != "") != test.hinted {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
