package service

import (
	"context"
	"os"
	"testing"
)

// A replacingKeeper ends the engine before it confirms the replacement.
type replacingKeeper struct {
	Keeper
	end context.CancelFunc
}

func (k replacingKeeper) Replace(ctx context.Context, _ *os.File) error {
	k.end()
	return ctx.Err()
}

func TestReplacingTheEngineAnswersThoughItExits(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	defer end()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := replaceThroughKeeper(ctx, replacingKeeper{end: end}, exe); err != nil {
		t.Error(err)
	}
}
