//go:build invariants

package graphics

import (
	"testing"

	"tandem/engine/base/invariants"
	"tandem/engine/screen/styled"
)

func TestCheckPanicsOnStripsOutsideTheirPlacement(t *testing.T) {
	at := &Placement{Placement: styled.Placement{Cols: 3, Rows: 2}}
	whole := strip{at, 1, 4, 4, 7}
	CheckRows(Rows{nil, {[]strip{whole}}}, 2)
	for name, rows := range map[string]Rows{
		"too few rows":           {nil},
		"list without a strip":   {nil, {}},
		"no placement":           {nil, {[]strip{{nil, 1, 4, 4, 7}}}},
		"no column":              {nil, {[]strip{{at, 1, 4, 5, 5}}}},
		"left of the placement":  {nil, {[]strip{{at, 1, 4, 3, 7}}}},
		"right of the placement": {nil, {[]strip{{at, 1, 4, 4, 8}}}},
		"below the placement":    {nil, {[]strip{whole, {at, 2, 4, 4, 7}}}},
	} {
		if invariants.Broken(func() { CheckRows(rows, 2) }) == "" {
			t.Errorf("%s: no check fails", name)
		}
	}
}
