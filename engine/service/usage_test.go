package service

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/proctree"
	"tandem/engine/supervise"
)

func TestUsageIsSampledWithoutReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		u := NewUsage(func(context.Context) ([]supervise.Measurable, error) {
			looks++
			return nil, nil
		}, new(proctree.Table), "")
		ctx, end := context.WithCancel(t.Context())
		defer end()
		go u.Sample(ctx)
		for i, after := range []time.Duration{sampleInterval, idleSampleInterval, idleSampleInterval} {
			time.Sleep(after)
			synctest.Wait()
			if looks != i+1 {
				t.Fatalf("%d samples after %d intervals", looks, i+1)
			}
		}
	})
}
