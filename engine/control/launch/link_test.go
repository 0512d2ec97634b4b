package launch

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/system/keeper"
)

// A busyKeeper refuses some adoptions, and has reported the exit of a child.
type busyKeeper struct {
	Keeper
	refusals int
	adopted  []string
	exited   keeper.Child
}

func (*busyKeeper) PID() int                   { return os.Getpid() }
func (*busyKeeper) Exits() <-chan keeper.Child { return nil }

func (k *busyKeeper) Adopt(_ context.Context, c keeper.Child, _ string, _ keeper.Logs, _ *os.File) error {
	if k.refusals--; k.refusals >= 0 {
		return unix.EMFILE
	}
	k.adopted = append(k.adopted, c.ID)
	return nil
}

func (k *busyKeeper) List(context.Context) ([]keeper.Child, error) {
	return []keeper.Child{k.exited}, nil
}

func TestChildRefusedByAKeeperIsHandedOverLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := &busyKeeper{refusals: 3, exited: keeper.Child{ID: "exited", Exit: &keeper.Exit{}}}
		l, exits := NewLink(busy), 0
		l.Log, l.OnExit = slog.New(slog.DiscardHandler), func(keeper.Child) { exits++ }
		l.ListOffers = func(context.Context) []Offer { return []Offer{{Child: keeper.Child{ID: "a"}}} }
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go l.Run(ctx)
		l.OfferAgain("a")
		time.Sleep(time.Minute)
		synctest.Wait()
		if !slices.Equal(busy.adopted, []string{"a"}) || exits == 0 {
			t.Errorf("adopted %q, reported %d exits", busy.adopted, exits)
		}
	})
}
