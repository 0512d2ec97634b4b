package service

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/persist/store"
)

func TestSizesBetweenReturnsSizesOfAPartOfALog(t *testing.T) {
	view := api.Process{Terminal: &api.Terminal{Cols: 1, Rows: 2}}
	resizes := []store.Resize{{Offset: 10, Cols: 80, Rows: 24}, {Offset: 20, Cols: 90, Rows: 24}, {Offset: 30, Cols: 100, Rows: 24}}
	for _, tc := range []struct {
		from, to int64
		want     []api.LogSize
	}{
		{0, 5, []api.LogSize{{Offset: 0, Cols: 1, Rows: 2}}},
		{10, 15, []api.LogSize{{Offset: 10, Cols: 80, Rows: 24}}},
		{15, 30, []api.LogSize{{Offset: 15, Cols: 80, Rows: 24}, {Offset: 20, Cols: 90, Rows: 24}, {Offset: 30, Cols: 100, Rows: 24}}},
		{40, 50, []api.LogSize{{Offset: 40, Cols: 100, Rows: 24}}},
	} {
		if diff := cmp.Diff(tc.want, sizesBetween(resizes, tc.from, tc.to, view)); diff != "" {
			t.Errorf("%d to %d differ (-want +got):\n%s", tc.from, tc.to, diff)
		}
	}
}
