//go:build hub

package fleet

import (
	"tandem/engine/fleet/hub"
	"tandem/engine/fleet/hub/embedded"
)

// Server starts the server of a hub.
var Server hub.Starter = embedded.Start
