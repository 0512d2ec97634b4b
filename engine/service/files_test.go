package service

import (
	"context"
	"errors"
	"testing"

	"tandem/engine/api"
	"tandem/engine/files"
)

func TestEveryFileErrorHasACode(t *testing.T) {
	for _, r := range []files.Reason{files.Outside, files.NotFound, files.Exists, files.NotFile, files.NotDir, files.Invalid, files.TooLarge,
		files.NoMatch, files.Several, files.Changed, files.Denied, files.Full} {
		if fileCode(r) == api.CodeInternal {
			t.Errorf("%s has no code", r)
		}
	}
	if err := fileError(context.Canceled); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
