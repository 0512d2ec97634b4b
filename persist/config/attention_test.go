package config

import (
	"strings"
	"testing"
	"time"
)

func TestParseReadsAttention(t *testing.T) {
	c, err := Parse([]byte("[attention]\nnotify = false\nlong_command = \"2m\"\nquiet = \"22:00-07:30\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	long, quiet := c.Attention.Times()
	if c.Attention.Notify == nil || *c.Attention.Notify || long != 2*time.Minute || quiet != (Hours{From: 22 * 60, To: 7*60 + 30}) {
		t.Errorf("%+v: %v, %v", c.Attention, long, quiet)
	}
	for text, says := range map[string]string{
		"[attention]\nquiet = \"night\"\n":        "22:00-07:00",
		"[attention]\nlong_command = \"-3s\"\n":   "must be a duration such as 10s",
		"[attention]\nlong_command = \"later\"\n": "must be a duration such as 10s",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestParseHoursAcceptsPartsOfADay(t *testing.T) {
	for text, want := range map[string]Hours{"": {}, "22:00-07:00": {22 * 60, 7 * 60}, "12:30-13:30": {12*60 + 30, 13*60 + 30}, "00:00-24:00": {0, 24 * 60}} {
		if h, err := ParseHours(text); err != nil || h != want {
			t.Errorf("%q: %v, %v", text, h, err)
		}
	}
	for _, text := range []string{"22-7", "25:00-07:00", "22:60-07:00", "22:00-07:00 x", "-1:00-07:00", "night", "24:30-01:00"} {
		if _, err := ParseHours(text); err == nil {
			t.Errorf("%q are hours", text)
		}
	}
}
