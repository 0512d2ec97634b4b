package host

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/control/launch"
	"tandem/engine/control/supervise"
	"tandem/engine/system/keeper"
	"tandem/persist/store"
)

// A mortalKeeper has some children, and exits when it is asked for the terminal of any other.
type mortalKeeper struct {
	launch.Keeper
	t         *testing.T
	children  []keeper.Child
	terminals map[string]*os.File
}

func (*mortalKeeper) PID() int { return os.Getpid() }

func (k *mortalKeeper) List(context.Context) ([]keeper.Child, error) { return k.children, nil }

func (k *mortalKeeper) Master(_ context.Context, id string) (*os.File, error) {
	if k.terminals[id] == nil {
		return nil, keeper.ErrLost
	}
	return duplicate(k.t, k.terminals[id]), nil
}

func (k *mortalKeeper) Adopt(_ context.Context, c keeper.Child, _ string, _ keeper.Logs, master *os.File) error {
	k.children = append(k.children, c)
	k.terminals[c.ID] = master
	return nil
}

func duplicate(t *testing.T, f *os.File) *os.File {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		t.Error(err)
	}
	return os.NewFile(uintptr(fd), "pty")
}

func TestTerminalsFetchedFromAKeeperThatExitsAreKept(t *testing.T) {
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer slave.Close()
	data, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	own, err := store.Identify(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	var children []keeper.Child
	for _, id := range []string{"0123456789aa", "0123456789bb"} {
		r := supervise.NewRecord(id, api.KindSession)
		r.TTY, r.State, r.Identity, r.Argv = true, string(api.StateRunning), &own, []string{"cat"}
		if err := data.Save(r); err != nil {
			t.Fatal(err)
		}
		children = append(children, keeper.Child{ID: id, PID: own.PID, StartTime: own.StartTime, BootID: own.BootID, TTY: true})
	}
	h := New(t.Context(), Options{DataDir: t.TempDir(), Store: data, BootID: own.BootID, Log: slog.New(slog.DiscardHandler)})
	first := &mortalKeeper{t: t, children: children, terminals: map[string]*os.File{children[0].ID: master}}
	h.Link = launch.NewLink(first)
	h.Launcher.Link = h.Link
	if err := h.RestoreTable(t.Context(), first); !errors.Is(err, keeper.ErrLost) {
		t.Fatalf("with a keeper that exits: %v", err)
	}
	next := &mortalKeeper{t: t, terminals: map[string]*os.File{}}
	if err := h.o.Inherited.offerTo(t.Context(), next, h); err != nil {
		t.Fatal(err)
	}
	if len(next.children) != 1 || next.children[0].ID != children[0].ID || next.terminals[children[0].ID] == nil {
		t.Errorf("the next keeper gets %+v", next.children)
	}
	h.o.Inherited.close()
}
