// Package needs skips tests that cannot or should not run here, always with a message recognised
// and counted by the test report (tests/report).
package needs

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// Program looks in PATH and in /usr/sbin for the programs in names, and returns the path of the
// first one it finds. If there is none, it skips the test and names the Debian package to install.
func Program(t testing.TB, debianPackage string, names ...string) string {
	t.Helper()
	for _, name := range names {
		for _, candidate := range []string{name, "/usr/sbin/" + name} {
			if path, err := exec.LookPath(candidate); err == nil {
				return path
			}
		}
	}
	Package(t, debianPackage, strings.Join(names, " or "))
	return ""
}

// Package skips the test because program is missing, and names the Debian package to install.
func Package(t testing.TB, debianPackage, program string) {
	t.Helper()
	t.Skipf("needs %s: apt-get install %s", program, debianPackage)
}

// Kernel skips the test because the running kernel lacks feature.
func Kernel(t testing.TB, feature string, reason any) {
	t.Helper()
	t.Skipf("needs a kernel with %s: %v", feature, reason)
}

// FullRun skips the test in short mode. Tests of the whole program call it, and tests that kill
// roles or fill disks.
func FullRun(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by -short")
	}
}

// nobody is a user without rights.
const nobody = 65534

// OtherUser runs the test as another user if this is root, who may do everything with files. It
// reports whether it did.
func OtherUser(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		return false
	}
	// The folder of tests may be closed to others.
	own, err := os.MkdirTemp("/tmp", "user")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(own)
	if err := os.Chown(own, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	cmd.Env = append(os.Environ(), "TMPDIR="+own)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("as another user: %v\n%s", err, out)
	}
	return true
}
