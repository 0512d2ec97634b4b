package service

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/control/supervise"
	"tandem/engine/system/proctree"
)

func TestUsageIsSampledWithoutReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var looks atomic.Int32
		u := NewUsage(func(context.Context) ([]supervise.Measurable, error) {
			looks.Add(1)
			return nil, nil
		}, new(proctree.Table), "")
		ctx, end := context.WithCancel(t.Context())
		defer end()
		go u.Sample(ctx)
		for i, after := range []time.Duration{sampleInterval, idleSampleInterval, idleSampleInterval} {
			time.Sleep(after)
			synctest.Wait()
			if n := int(looks.Load()); n != i+1 {
				t.Fatalf("%d samples after %d intervals", n, i+1)
			}
		}
	})
}
