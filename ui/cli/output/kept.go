package output

import (
	"fmt"

	"tandem/engine/api"
	"tandem/engine/base/units"
)

// KeptText describes an amount of kept output: "1 run, 12K".
func KeptText(k *api.KeptOutput) string {
	runs := "runs"
	if k.Runs == 1 {
		runs = "run"
	}
	return fmt.Sprintf("%d %s, %s", k.Runs, runs, units.Bytes(k.Bytes))
}
