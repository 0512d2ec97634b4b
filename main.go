// Tandem is a terminal and process manager: one program that is dashboard,
// command line, agents' server, engine and keeper.
package main

import (
	"os"

	"tandem/ui/cli/role"
)

// version is printed by --version and decides whether a client replaces a
// running engine. Releases set it with -ldflags "-X main.version=…".
var version = "0.2.0"

func main() {
	os.Exit(role.Run(os.Args, version))
}
