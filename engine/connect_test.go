package engine

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"tandem/engine/control/launch"
	"tandem/engine/system/keeper"
)

// If the keeper has exited during an upgrade, only this process still has the terminals open. It
// may take as long as it needs to start another keeper.
func TestUpgradedEngineWithoutAKeeperHasNoDeadline(t *testing.T) {
	dir := t.TempDir()
	folder, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	e := &engine{
		o: Options{
			DataDir: dir, Keeper: []string{"-test.list=^$"}, // no keeper
			dial: func(context.Context) (launch.Keeper, error) { return nil, keeper.ErrLost },
		},
		log: slog.New(slog.DiscardHandler), lock: &folderLock{folder: folder},
		inherited: &inheritance{deadline: time.NewTimer(time.Hour)},
	}
	if _, err := e.connectKeeper(t.Context()); err == nil {
		t.Error("connected to no keeper")
	}
	if e.inherited.deadline.Stop() {
		t.Error("the deadline holds")
	}
}
