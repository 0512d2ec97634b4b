// Tandem is a terminal and process manager: one program that is dashboard,
// command line, agents' server, engine and keeper.
package main

import (
	"os"

	"tandem/ui/cli/role"
)

// version is printed by --version and decides whether a client replaces a
// running engine. packaging/release.sh sets it with -ldflags "-X main.version=…".
var version = "0.2.0"

// commit and date are those of the source, set like version. Without them,
// --version prints what the go command recorded.
var commit, date string

func main() {
	os.Exit(role.Run(os.Args, role.Build{Version: version, Commit: commit, Date: date}))
}
