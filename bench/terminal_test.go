package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// TestMain makes the test binary a terminal for pty.sh:
//
//	bench.test terminal 80x24 COMMAND…
//
// runs a command on a PTY, discards its output and answers cursor position queries. With asBaseline
// in the environment it is the baseline for agents' servers.
func TestMain(m *testing.M) {
	if os.Getenv(asBaseline) != "" {
		if err := serveBaseline(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, "baseline:", err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) > 3 && os.Args[1] == "terminal" {
		if err := runTerminal(os.Args[2], os.Args[3:]); err != nil {
			fmt.Fprintln(os.Stderr, "terminal:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func runTerminal(size string, command []string) error {
	var ws pty.Winsize
	if _, err := fmt.Sscanf(strings.Replace(size, "x", " ", 1), "%d %d", &ws.Cols, &ws.Rows); err != nil {
		return fmt.Errorf("read size %q: %v", size, err)
	}
	cmd := exec.Command(command[0], command[1:]...)
	master, err := pty.StartWithSize(cmd, &ws)
	if err != nil {
		return err
	}
	defer master.Close()
	buf := make([]byte, 64<<10)
	query := []byte("\x1b[6n") // DSR; the program waits for the answer, so nothing follows
	for kept := 0; ; {
		n, err := master.Read(buf[kept:])
		if err != nil {
			return cmd.Wait()
		}
		n += kept
		if bytes.HasSuffix(buf[:n], query) {
			if _, err := master.Write([]byte("\x1b[1;1R")); err != nil {
				return err
			}
		}
		kept = copy(buf, buf[max(n-len(query)+1, 0):n])
	}
}
