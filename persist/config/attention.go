package config

import (
	"fmt"
	"time"
)

// Attention is the table [attention]: how to notify the user of events out of sight.
type Attention struct {
	Notify      *bool  `toml:"notify"`       // send desktop notifications while another window has the keyboard; default true
	LongCommand string `toml:"long_command"` // shortest run of a command to report
	Quiet       string `toml:"quiet"`        // hours without notifications: "22:00-07:00"
}

func (c Attention) check(wrong *mistakes) {
	if _, err := c.long(); err != nil {
		wrong.add("attention.long_command", "%v", err)
	}
	if _, err := ParseHours(c.Quiet); err != nil {
		wrong.add("attention.quiet", "quiet = %q: must be a time range such as 22:00-07:00", c.Quiet)
	}
}

func (c Attention) long() (time.Duration, error) {
	return parseDuration("long_command", c.LongCommand, "10s")
}

// Times returns the parsed values of c, which must have been checked.
func (c Attention) Times() (long time.Duration, quiet Hours) {
	long, _ = c.long()
	quiet, _ = ParseHours(c.Quiet)
	return long, quiet
}

// Hours is a part of the day, in minutes since midnight. From may be later than To.
type Hours struct{ From, To int }

// ParseHours parses hours such as 22:00-07:00; "" means none.
func ParseHours(s string) (h Hours, err error) {
	if s == "" {
		return h, nil
	}
	var fromHour, fromMinute, toHour, toMinute int
	var rest string
	n, _ := fmt.Sscanf(s+" .", "%2d:%2d-%2d:%2d %s", &fromHour, &fromMinute, &toHour, &toMinute, &rest)
	h = Hours{60*fromHour + fromMinute, 60*toHour + toMinute}
	if n != 5 || rest != "." || min(fromHour, toHour, fromMinute, toMinute) < 0 || max(fromHour, toHour) > 24 || max(fromMinute, toMinute) > 59 ||
		max(h.From, h.To) > 24*60 {
		return Hours{}, fmt.Errorf("read hours %q: must be a time range such as 22:00-07:00", s)
	}
	return h, nil
}
