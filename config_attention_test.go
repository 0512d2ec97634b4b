package main

import (
	"strings"
	"testing"
	"time"

	"tandem/ui"
)

func TestAttentionIsConfigured(t *testing.T) {
	c, err := parseConfig([]byte("[attention]\nnotify = false\nlong_command = \"2m\"\nquiet = \"22:00-07:30\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := ui.Attention{NoNotify: true, LongCommand: 2 * time.Minute, Quiet: ui.Hours{From: 22 * 60, To: 7*60 + 30}}
	if got := c.dashboard().Attention; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for text, says := range map[string]string{
		"[attention]\nquiet = \"night\"\n":        "22:00-07:00",
		"[attention]\nlong_command = \"-3s\"\n":   "want a duration such as 10s",
		"[attention]\nlong_command = \"later\"\n": "want a duration such as 10s",
	} {
		if _, err := parseConfig([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
