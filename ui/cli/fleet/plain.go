//go:build !hub

package fleet

import "tandem/engine/remote/fleet/hub"

// Server starts the server of a hub. Builds without the tag hub have none.
var Server hub.Starter
