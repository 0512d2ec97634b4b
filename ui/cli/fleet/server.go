//go:build hub

package fleet

import (
	"tandem/engine/remote/fleet/hub"
	"tandem/engine/remote/fleet/hub/embedded"
)

// Server starts the server of a hub.
var Server hub.Starter = embedded.Start
