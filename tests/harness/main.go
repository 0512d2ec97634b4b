// Package harness runs the whole program in tests: the test binary itself is
// tandem, with real engines, keepers and terminals. The packages of tests/ share
// it; it holds what at least two of them use.
package harness

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"tandem/ui/cli/role"
)

// AsProgram in the environment makes the test binary tandem: the clients,
// keepers and engines of a test are all the one executable.
const AsProgram = "TANDEM_TEST_AS_PROGRAM"

// Patience bounds every wait. It is long because machines under load are slow;
// nothing waits that long unless a test fails.
const Patience = 60 * time.Second

// Version is the program's, unless the executable is a copy made by the script
// command release.
const Version = "0.2.0"

// Main plays the program if AsProgram is set, and otherwise runs the tests of a
// package. With -short it runs none of them, and go test says so.
func Main(m *testing.M) {
	launch := len(os.Args) > 1 && os.Args[1] == "launch" // its environment keeps variables apart
	if launch || os.Getenv(AsProgram) != "" {
		os.Exit(role.Run(os.Args, versionOfExecutable()))
	}
	flag.Parse()
	given := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if testing.Short() {
		fmt.Println("tests of the whole program: left out by -short")
		_ = flag.Set("test.run", "^$")
	}
	if !given["test.parallel"] { // these tests mostly wait for other processes
		_ = flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0)))
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
