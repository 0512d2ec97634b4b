package hosts

import (
	"context"
	"log/slog"
	"os"
	"sync/atomic"
	"testing"

	"tandem/engine/api"
	"tandem/engine/remote/hosts/transport"
)

// Each failure has a different text, so each is reported.
func TestLinkRetriesAfterPanic(t *testing.T) {
	var told atomic.Int32
	again := make(chan struct{})
	h := &Hosts{DataDir: t.TempDir(), Environ: os.Environ(), Log: slog.New(slog.DiscardHandler), Tell: func(api.Machine) {
		switch told.Add(1) {
		case 1:
			panic("stumbled")
		case 2:
			close(again)
		}
	}}
	ctx, cancel := context.WithCancel(context.Background())
	h.Start(ctx)
	t.Cleanup(func() { cancel(); h.Close() })
	h.Set([]transport.Machine{{Name: "odd", Transport: []string{"sh", "-c", "echo $$ >&2; exit 1"}}})
	if _, _, err := h.Open(t.Context(), api.OpenOptions{Machine: "odd"}); err == nil {
		t.Error("connected")
	}
	<-again
}
