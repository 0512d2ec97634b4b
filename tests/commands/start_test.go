package commands

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"tandem/tests/harness"
	"testing"
)

// Every role runs package initialisation, including the keeper. Allocations stand in for its time
// because they are the same in every run.
const (
	initBytes  = 512 << 10
	initAllocs = 3200 // including 216 by the clipboard package of bubbles' text input, 600 by nats.go and its gob
)

func TestPackageInitialisationStaysSmall(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("/proc/self/exe", "--version")
	cmd.Env = append(os.Environ(), harness.AsProgram+"=1", "GODEBUG=inittrace=1",
		"PATH=/usr/bin:/bin") // the clipboard package searches each of these folders for programs
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var bytes, allocs int
	for line := range strings.Lines(string(out)) {
		var pkg, at, clock string
		var b, a int
		if n, _ := fmt.Sscanf(line, "init %s @%s ms, %s ms clock, %d bytes, %d allocs", &pkg, &at, &clock, &b, &a); n == 5 && !testOnly(pkg) {
			bytes, allocs = bytes+b, allocs+a
		}
	}
	if allocs == 0 {
		t.Fatalf("no init trace in:\n%s", out)
	}
	if bytes > initBytes || allocs > initAllocs {
		t.Errorf("package initialisation allocates %d bytes in %d pieces, more than %d in %d; build tables on first use",
			bytes, allocs, initBytes, initAllocs)
	}
}

// testOnly reports whether a package is linked into the test binary only.
func testOnly(pkg string) bool {
	for _, prefix := range []string{"testing", "github.com/rogpeppe/", "github.com/nats-io/nats-server/", "github.com/klauspost/compress/s2", "net/http/pprof", "github.com/google/go-cmp", "pgregory.net/rapid", "html", "tandem/tests/", "go.uber.org/goleak", "golang.org/x/tools/", "runtime/pprof", "go/", "internal/fuzz", "internal/buildcfg", "internal/platform"} {
		if strings.HasPrefix(pkg, prefix) {
			return true
		}
	}
	return false
}
