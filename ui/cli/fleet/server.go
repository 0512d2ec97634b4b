//go:build hub

package fleet

import "tandem/engine/fleet/hub/embedded"

func init() { Server = embedded.Start }
