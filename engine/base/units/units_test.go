package units

import (
	"testing"
	"time"
)

func TestBytesAndAgeFitTheirColumns(t *testing.T) {
	for n, want := range map[int64]string{0: "0B", 999: "999B", 1000: "1.0K", 1024: "1.0K", 1536: "1.5K", 10_188: "9.9K", 10_240: "10K", 1 << 20: "1.0M", 1_047_500: "1.0M", 5 << 30: "5.0G", 1 << 40: "1.0T", 1<<63 - 1: "8.0E"} {
		if got := Bytes(n); got != want || len(got) > 5 {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{0: "0s", -time.Hour: "0s", 59 * time.Second: "59s", time.Hour: "1h00m", 49 * time.Hour: "2d1h", 400 * 24 * time.Hour: "400d"} {
		if got := Age(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

func TestElapsedAndAgoAreShort(t *testing.T) {
	for ms, want := range map[int64]string{-1: "", 0: "0ms", 999: "999ms", 3450: "3.4s", 59_999: "59s", 125_000: "2m05s", 12_000_000: "3h20m"} {
		if got := Elapsed(ms); got != want {
			t.Errorf("Elapsed(%d) = %q, want %q", ms, got, want)
		}
	}
	day := 24 * time.Hour
	for d, want := range map[time.Duration]string{0: "now", -time.Hour: "now", 90 * time.Second: "1m", 5 * time.Hour: "5h", 40 * day: "40d", 100 * day: "14w", 800 * day: "2y"} {
		if got := Ago(d); got != want {
			t.Errorf("Ago(%v) = %q, want %q", d, got, want)
		}
	}
}

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
		if got, ok := ParseMoment(text, now); ok == want.IsZero() || ok && !got.Equal(want) {
			t.Errorf("%q: %v, %v", text, got, ok)
		}
	}
}
