package places

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// free returns the number of free places.
func (p *pool) free(t *testing.T) (n int) {
	t.Helper()
	for _, name := range []string{"0", "1"}[:p.n] {
		f, err := p.lock(name, unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			n++
			defer f.Close()
		case !errors.Is(err, unix.EWOULDBLOCK):
			t.Fatal(err)
		}
	}
	return n
}

func TestPlaceIsHeldUntilLaterCleanupsHaveRun(t *testing.T) {
	p := newPool(t.TempDir(), 2)
	t.Run("holds", func(t *testing.T) {
		p.take(t)
		t.Cleanup(func() {
			if n := p.free(t); n != 1 {
				t.Errorf("%d of 2 places are free while the test cleans up, want 1", n)
			}
		})
	})
	if n := p.free(t); n != 2 {
		t.Errorf("%d of 2 places are free after the test, want 2", n)
	}
}

func TestTestAndItsSubtestsShareAPlace(t *testing.T) {
	p := newPool(t.TempDir(), 1)
	p.take(t)
	p.take(t)
	t.Run("sub", func(t *testing.T) { p.take(t) })
	if n := p.free(t); n != 0 {
		t.Error("the place is free before the test that took it has ended")
	}
}

// Another test binary is simulated by another pool of the same directory.
func TestTestWaitsForAPlaceOfAnotherBinary(t *testing.T) {
	dir := t.TempDir()
	p, other := newPool(dir, 1), newPool(dir, 1)
	place, err := other.await()
	if err != nil {
		t.Fatal(err)
	}
	order := make(chan string, 2)
	go func() {
		// The queue is locked while p waits.
		for {
			f, err := other.lock("queue", unix.LOCK_EX|unix.LOCK_NB)
			if err != nil {
				break
			}
			f.Close()
		}
		order <- "freed"
		place.Close()
	}()
	p.take(t)
	order <- "taken"
	if first := <-order; first != "freed" {
		t.Error("the place was taken before it was free")
	}
}
