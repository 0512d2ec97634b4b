package service

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/files"
)

func newTransfers(t *testing.T) (*Files, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	ctx, cancel := context.WithCancel(context.Background())
	s := NewFiles(ctx, t.TempDir(), nil, slog.New(slog.NewTextHandler(&log, nil)))
	t.Cleanup(func() { cancel(); s.Close() })
	return s, &log
}

func TestPanicInATransferFailsOnlyThatTransfer(t *testing.T) {
	for _, kind := range []string{api.TransferCopy, api.TransferTrash, api.TransferExtract, api.TransferPack} {
		t.Run(kind, func(t *testing.T) {
			s, log := newTransfers(t)
			tree := &files.Tree{Roots: []string{"/"}, Confine: func() error { panic("stumbled") }}
			j, err := s.transfers.beginTransfer(kind, "", func(ctx context.Context, j *transfer) error {
				return j.run(ctx, tree, api.FilesTransferInput{Kind: kind}, []api.FileMove{{Path: "/a", To: "/b"}})
			})
			if err != nil {
				t.Fatal(err)
			}
			out, err := s.getJob(t.Context(), api.FileJobInput{ID: j.id, WaitMS: 60_000})
			if err != nil || out.State != api.JobFailed || !strings.Contains(out.Error, "internal error in the engine") {
				t.Errorf("the transfer is %+v (%v)", out, err)
			}
			s.transfers.running.Wait()
			if text := log.String(); !strings.Contains(text, "stumbled") {
				t.Errorf("logged %q", text)
			}
		})
	}
}

func TestCancelReturnsWhenItsCallerGivesUp(t *testing.T) {
	s, _ := newTransfers(t)
	release := make(chan struct{})
	j, err := s.transfers.beginTransfer(api.TransferCopy, "", func(context.Context, *transfer) error { <-release; return nil })
	if err != nil {
		t.Fatal(err)
	}
	defer close(release)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.cancelJob(ctx, api.FileJobInput{ID: j.id}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancel = %v", err)
	}
}

// A client may guess the id of a transfer about to begin.
func TestTransferCanBeCancelledAsSoonAsItIsListed(t *testing.T) {
	s, _ := newTransfers(t)
	j, err := s.transfers.beginTransfer(api.TransferCopy, "", func(ctx context.Context, j *transfer) error {
		s.transfers.mu.Lock()
		found := s.transfers.jobs["t1"]
		s.transfers.mu.Unlock()
		found.cancel()
		<-ctx.Done()
		return ctx.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := s.cancelJob(t.Context(), api.FileJobInput{ID: j.id}); err != nil || out.State != api.JobCancelled {
		t.Errorf("cancel = %+v, %v", out, err)
	}
}
