package main

import (
	"time"

	"tandem/ui"
)

// AttentionConfig is the table attention: how the person is told of what happens
// out of sight.
type AttentionConfig struct {
	Notify      *bool  `toml:"notify"`       // the desktop is notified while another window has the keyboard; default true
	LongCommand string `toml:"long_command"` // a command that took this long is told of
	Quiet       string `toml:"quiet"`        // hours without notifications: "22:00-07:00"
}

func (c AttentionConfig) check(wrong *mistakes) {
	if _, err := c.long(); err != nil {
		wrong.at("attention.long_command", "%v", err)
	}
	if _, err := ui.ParseHours(c.Quiet); err != nil {
		wrong.at("attention.quiet", "quiet = %q: want a part of the day such as 22:00-07:00", c.Quiet)
	}
}

func (c AttentionConfig) long() (time.Duration, error) {
	return parseDuration("long_command", c.LongCommand, "10s")
}

// options are what the dashboard is told; c was checked.
func (c AttentionConfig) options() ui.Attention {
	long, _ := c.long()
	quiet, _ := ui.ParseHours(c.Quiet)
	return ui.Attention{NoNotify: c.Notify != nil && !*c.Notify, LongCommand: long, Quiet: quiet}
}
