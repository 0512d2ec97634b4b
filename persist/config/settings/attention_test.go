package settings

import (
	"testing"
	"time"
)

func TestHoursMustBeAPartOfADay(t *testing.T) {
	for text, want := range map[Hours][2]int{"": {}, "22:00-07:00": {22 * 60, 7 * 60}, "12:30-13:30": {12*60 + 30, 13*60 + 30}, "00:00-24:00": {0, 24 * 60}} {
		if from, to, err := text.parse(); err != nil || [2]int{from, to} != want {
			t.Errorf("%q: %d-%d, %v", text, from, to, err)
		}
	}
	for _, text := range []Hours{"22-7", "25:00-07:00", "22:60-07:00", "22:00-07:00 x", "-1:00-07:00", "night", "24:30-01:00"} {
		if _, _, err := text.parse(); err == nil {
			t.Errorf("%q are hours", text)
		}
	}
}

func TestQuietHoursSpanMidnight(t *testing.T) {
	at := func(clock string) time.Time {
		when, err := time.Parse("15:04", clock)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	for hours, clocks := range map[Hours]map[string]bool{
		"22:00-07:00": {"21:59": false, "22:00": true, "00:00": true, "06:59": true, "07:00": false, "12:00": false},
		"12:30-13:30": {"12:29": false, "12:30": true, "13:29": true, "13:30": false},
		"00:00-24:00": {"00:00": true, "23:59": true},
		"":            {"00:00": false, "12:00": false},
	} {
		for clock, want := range clocks {
			if hours.Have(at(clock)) != want {
				t.Errorf("%v: %s is quiet: %v", hours, clock, !want)
			}
		}
	}
}
