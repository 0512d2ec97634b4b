// Package logtest provides helpers for tests of logs and records: child processes that run the test
// binary in another role, sample contents, and disks without some features.
package logtest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"tandem/persist/sparse"
)

// roleVar is the environment variable with the role of a child.
const roleVar = "TANDEM_PERSIST_TEST_ROLE"

// These environment variables are further arguments of a child.
const (
	PathVar  = "TANDEM_PERSIST_TEST_PATH"
	LimitVar = "TANDEM_PERSIST_TEST_LIMIT"
)

// RoleWait is the role of a child that runs until its standard input is closed.
const RoleWait = "wait"

// Main runs the tests of a package. In a child, it runs the child's role instead.
func Main(m *testing.M, roles map[string]func() error) {
	role := os.Getenv(roleVar)
	if role == "" {
		goleak.VerifyTestMain(m)
		return
	}
	run := roles[role]
	if role == RoleWait {
		run = func() error {
			_, err := io.Copy(io.Discard, os.Stdin)
			return err
		}
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A Child is the test binary running in another role.
type Child struct {
	Cmd *exec.Cmd
	In  io.Closer
	Out io.Reader
}

// Start starts a child with additional environment variables, and kills it when the test ends.
func Start(t testing.TB, role string, env ...string) Child {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), roleVar+"="+role), env...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// KillAfter may have waited for the child already.
		if cmd.ProcessState == nil {
			cmd.Process.Kill()
			cmd.Wait()
		}
	})
	return Child{cmd, in, out}
}

// Ack tells the parent that everything up to n is done.
func Ack(n int64) error {
	_, err := os.Stdout.Write(binary.LittleEndian.AppendUint64(nil, uint64(n)))
	return err
}

// KillAfter kills a child once it has sent this many acknowledgements. It returns the last one
// received.
func (c Child) KillAfter(t testing.TB, acks int) int64 {
	t.Helper()
	last := int64(0)
	for n := 0; ; n++ {
		if n == acks {
			if err := c.Cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		// Read until the pipe is closed, because acknowledgements sent before the kill still count.
		var b [8]byte
		if _, err := io.ReadFull(c.Out, b[:]); err != nil {
			break
		}
		last = int64(binary.LittleEndian.Uint64(b[:]))
	}
	if err := c.Cmd.Wait(); err == nil || c.Cmd.ProcessState.Exited() {
		t.Fatalf("the child was not killed but ended: %v", err)
	}
	return last
}

// LineLen is the length of a line made by FillLines, in bytes.
const LineLen = 16

// FillLines fills b with the content of a log of numbered lines, from offset off on.
func FillLines(b []byte, off int64) {
	var line [LineLen]byte
	line[LineLen-1] = '\n'
	for len(b) > 0 {
		number := off / LineLen
		for i := LineLen - 2; i >= 0; i-- {
			line[i] = byte('0' + number%10)
			number /= 10
		}
		n := copy(b, line[off%LineLen:])
		b, off = b[n:], off+int64(n)
	}
}

func LogPath(t testing.TB) string { return filepath.Join(t.TempDir(), "process.log") }

func Text(n int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.Bytes()[:n]
}

func Blocks(t testing.TB, path string) int64 {
	t.Helper()
	var st syscall.Stat_t
	if err := syscall.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	return st.Blocks * 512
}

// NoMapping is a disk without preallocation, holes and mappings, like some network file systems.
type NoMapping struct{ sparse.Disk }

func (NoMapping) Allocate(*os.File, int64, int64) error         { return errors.ErrUnsupported }
func (NoMapping) Punch(*os.File, int64, int64) error            { return errors.ErrUnsupported }
func (NoMapping) NextData(*os.File, int64) (int64, error)       { return 0, errors.ErrUnsupported }
func (NoMapping) MapRange(*os.File, int64, int) ([]byte, error) { return nil, errors.ErrUnsupported }
