package panestest

import (
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
)

// CompareRows reports the differences between drawn rows and the wanted ones.
func CompareRows(t *testing.T, got, want []string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// PlainRows returns rows without colors.
func PlainRows(rows []string) (out []string) {
	for _, r := range rows {
		out = append(out, ansi.Strip(r))
	}
	return out
}
