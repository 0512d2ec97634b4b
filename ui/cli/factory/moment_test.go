package factory

import (
	"testing"
	"time"
)

func TestParseMomentAcceptsAgesAndTimes(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"30m":                  now.Add(-30 * time.Minute),
		"2d":                   now.Add(-48 * time.Hour),
		"1.5w":                 now.Add(-252 * time.Hour),
		"09:30":                time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC),
		"2026-11-01":           time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC),
		"2026-11-01 07:08":     time.Date(2026, 11, 1, 7, 8, 0, 0, time.UTC),
		"2026-11-01T07:08:09Z": time.Date(2026, 11, 1, 7, 8, 9, 0, time.UTC),
		"":                     {}, "-1d": {}, "d": {}, "soon": {}, "1e99d": {}, "-5m": {}, "25:00": {},
	} {
		if got, ok := parseMoment(text, now); ok == want.IsZero() || ok && !got.Equal(want) {
			t.Errorf("%q: %v, %v", text, got, ok)
		}
	}
}
