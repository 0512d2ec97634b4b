package host

import (
	"log/slog"
	"testing"
	"time"

	"tandem/engine/control/launch"
	"tandem/persist/store"
)

func TestDescriptionOfAnEngineNamesTheKeeperThatDiedFirst(t *testing.T) {
	t.Parallel()
	data, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &Host{store: data, log: slog.New(slog.DiscardHandler), Link: &launch.Link{}}
	h.previous.next.Keeper = store.Identity{BootID: "boot", PID: 2}
	h.DescribeEngine(time.Now(), false)
	if last, err := data.LoadLastEngine(); err != nil || last.Keeper.PID != 2 || last.StoppedAt.IsZero() {
		t.Errorf("described as %+v, %v", last, err)
	}
}
