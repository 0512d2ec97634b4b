package settings

import (
	"testing"
	"time"
)

func TestAgeIsADurationOrANumberOfDays(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[Age]time.Duration{
		"30 days": 30 * day, "1 day": day, "7d": 7 * day, "0.5d": day / 2, "12h": 12 * time.Hour, "1h30m": 90 * time.Minute, "0": 0, "0 days": 0,
		"": -1, "days": -1, "-1d": -1, "-1h": -1, "30": -1, "a month": -1, "1e9 days": -1, "NaNd": -1,
	} {
		mistakes := 0
		History{KeepOutput: text}.check(func(key, _ string, _ ...any) { mistakes++ })
		if mistakes != 0 != (want < 0) || want >= 0 && text.Value() != want {
			t.Errorf("%q: %d mistakes, %v", text, mistakes, text.Value())
		}
	}
}
