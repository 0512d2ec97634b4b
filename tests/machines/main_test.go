package machines

import (
	"bytes"
	"io"
	"math"
	"os"
	"os/exec"
	"testing"
	"time"

	"tandem/engine/remote/fleet/hub/embedded"
	"tandem/tests/harness"
	fleetcommands "tandem/ui/cli/fleet"
)

// slowLink in the environment of `tandem bridge` delays everything on its link. Its value names a
// file: while the file exists, nothing arrives from the machine.
const slowLink = "TANDEM_TEST_SLOW_LINK"

// cutLink in the environment of `tandem bridge` kills the first maxCuts bridges after they have
// received cutAfter bytes. Its value names a file to count the cuts.
const cutLink = "TANDEM_TEST_CUT_LINK"

// maxCuts is the number of links to cut.
const (
	maxCuts  = 3
	cutAfter = 16 << 20
)

// holdLink in the environment of `tandem bridge` makes it receive only holdAfter bytes while the
// file that its value names exists.
const (
	holdLink  = "TANDEM_TEST_HOLD_LINK"
	holdAfter = 16 << 20
)

// linkDelay is the delay in each direction.
const linkDelay = 40 * time.Millisecond

func TestMain(m *testing.M) {
	if hold := os.Getenv(slowLink); hold != "" && len(os.Args) > 1 && os.Args[1] == "bridge" {
		os.Exit(slowBridge(hold))
	}
	if file := os.Getenv(cutLink); file != "" && len(os.Args) > 1 && os.Args[1] == "bridge" {
		os.Exit(cutBridge(file))
	}
	if file := os.Getenv(holdLink); file != "" && len(os.Args) > 1 && os.Args[1] == "bridge" {
		os.Exit(holdBridge(file))
	}
	fleetcommands.Server = embedded.Start // as in released packages
	harness.Main(m)
}

func TestScripts(t *testing.T) { harness.Scripts(t, "testdata/*.txtar") }

// cutBridge runs a bridge and kills it as described at cutLink.
func cutBridge(file string) int {
	os.Unsetenv(cutLink)
	cmd := exec.Command("/proc/self/exe", "bridge")
	cmd.Stdout = os.Stdout
	in, err := cmd.StdinPipe()
	if err != nil {
		return 1
	}
	if err := cmd.Start(); err != nil {
		return 1
	}
	cuts, _ := os.ReadFile(file)
	limit := int64(cutAfter)
	if bytes.Count(cuts, []byte("\n")) >= maxCuts {
		limit = math.MaxInt64
	}
	if _, err := io.CopyN(in, os.Stdin, limit); err == nil {
		if err := os.WriteFile(file, append(cuts, "cut\n"...), 0o600); err != nil {
			return 1
		}
		_ = cmd.Process.Kill()
	}
	in.Close()
	_ = cmd.Wait()
	return 0
}

// holdBridge runs a bridge that is held as described at holdLink.
func holdBridge(file string) int {
	os.Unsetenv(holdLink)
	cmd := exec.Command("/proc/self/exe", "bridge")
	cmd.Stdout = os.Stdout
	in, err := cmd.StdinPipe()
	if err != nil {
		return 1
	}
	if err := cmd.Start(); err != nil {
		return 1
	}
	_, err = io.CopyN(in, os.Stdin, holdAfter)
	for err == nil && isHeld(file) {
		<-time.After(linkDelay / 8)
	}
	_, _ = io.Copy(in, os.Stdin)
	in.Close()
	_ = cmd.Wait()
	return 0
}

// slowBridge runs a bridge behind a slow link.
func slowBridge(hold string) int {
	os.Unsetenv(slowLink)
	cmd := exec.Command("/proc/self/exe", "bridge")
	in, err := cmd.StdinPipe()
	if err != nil {
		return 1
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 1
	}
	if err := cmd.Start(); err != nil {
		return 1
	}
	go func() {
		delay(in, os.Stdin, "")
		in.Close()
	}()
	delay(os.Stdout, out, hold)
	cmd.Process.Kill()
	cmd.Wait()
	return 0
}

// delay copies from one end of the link to the other, delayed by linkDelay, and pauses while the
// file hold exists.
func delay(to io.Writer, from io.Reader, hold string) {
	type piece struct {
		data []byte
		due  time.Time
	}
	queue := make(chan piece, 1<<10)
	go func() {
		defer close(queue)
		for {
			data := make([]byte, 32<<10)
			n, err := from.Read(data)
			queue <- piece{data[:n], time.Now().Add(linkDelay)}
			if err != nil {
				return
			}
		}
	}()
	for p := range queue {
		<-time.After(time.Until(p.due))
		for isHeld(hold) {
			<-time.After(linkDelay / 8)
		}
		if _, err := to.Write(p.data); err != nil {
			return
		}
	}
}

func isHeld(hold string) bool {
	_, err := os.Stat(hold)
	return hold != "" && err == nil
}
