// Package harness runs the whole program in tests. The test binary itself is tandem, with real
// engines, keepers and terminals. The package contains everything used by at least two packages of
// tests/.
package harness

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"tandem/tests/wait"
	"tandem/ui/cli/role"
)

// AsProgram in the environment makes the test binary tandem: the clients,
// keepers and engines of a test are all the one executable.
const AsProgram = "TANDEM_TEST_AS_PROGRAM"

// Patience is the maximum time of every wait. It is long because machines under load are slow; only
// a failing test waits that long.
const Patience = wait.Timeout

// Version is the program's version, except for copies made by the script command release.
const Version = "0.2.0"

// Main runs the program if AsProgram is set, and otherwise the tests of a package. With -short it
// runs no tests and prints a note.
func Main(m *testing.M) {
	launch := len(os.Args) > 1 && os.Args[1] == "launch" // the launch stage gets its variables separately
	if launch || os.Getenv(AsProgram) != "" {
		if len(os.Args) == 2 && os.Args[1] == roleResident {
			os.Exit(runResident())
		}
		os.Exit(role.Run(os.Args, role.Build{Version: versionOfExecutable()}))
	}
	flag.Parse()
	if testing.Short() {
		fmt.Println("tests of the whole program: left out by -short")
		_ = flag.Set("test.run", "^$")
	}
	testscript.Main(m, map[string]func(){"tandem": func() {}})
}

// versionOfExecutable returns the version in the executable's name, as in
// tandem-2.0.0, or else Version. It must not come from the environment, which
// an engine inherits from a client of another version.
func versionOfExecutable() string {
	path, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return Version
	}
	if _, v, ok := strings.Cut(filepath.Base(path), "tandem-"); ok {
		return v
	}
	return Version
}
