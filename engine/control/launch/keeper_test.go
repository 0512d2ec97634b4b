package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// slowKeeper names the FIFO of a keeper that never becomes ready.
const slowKeeper = "TANDEM_TEST_SLOW_KEEPER"

// TestKeeperThatNeverBecomesReady is the keeper of the test below. It reports that it runs, and
// when it is killed, the FIFO is closed.
func TestKeeperThatNeverBecomesReady(t *testing.T) {
	if path := os.Getenv(slowKeeper); path != "" && KeeperEnginePID() != 0 {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(f, "runs")
		time.Sleep(time.Hour)
	}
}

func TestStartKeeperKillsItsKeeperIfTheEngineExits(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "fifo")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(slowKeeper, path)
	ctx, exit := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		f, err := os.Open(path)
		if err == nil {
			_, err = f.Read(make([]byte, 1))
			exit()
		}
		if err == nil {
			_, err = io.ReadAll(f)
		}
		ended <- err
	}()
	if err := StartKeeper(ctx, []string{"-test.run=^TestKeeperThatNeverBecomesReady$"}, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("StartKeeper: %v", err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
