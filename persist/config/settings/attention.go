package settings

import (
	"fmt"
	"strings"
	"time"
)

// Attention is the table [attention]: how the user is notified of events in sessions not on the
// screen.
type Attention struct {
	Notify      bool     `toml:"notify"`       // send desktop notifications while another window has the keyboard
	LongCommand Duration `toml:"long_command"` // shortest run of a command to report
	Quiet       Hours    `toml:"quiet"`        // hours without notifications
}

func attentionDefaults() Attention { return Attention{Notify: true, LongCommand: "10s"} }

func attentionRows() []Setting {
	return []Setting{
		{Key: "attention.notify", Want: "true or false", Doc: "Send desktop notifications, through your terminal, while another window has the focus."},
		{Key: "attention.long_command", Want: "a time in quotes, such as \"10s\"", Doc: "Notify you when a command out of sight finishes, if it took at least this long."},
		{Key: "attention.quiet", Want: "hours in quotes, such as \"22:00-07:00\"", Example: `"22:00-07:00"`, None: "never", Doc: "Hours without notifications on the desktop and in browsers."},
	}
}

func (a Attention) check(report Report) {
	a.LongCommand.check(report, "attention.long_command", "10s")
	if _, _, err := a.Quiet.parse(); err != nil {
		report("attention.quiet", "quiet = %q: must be a time range such as 22:00-07:00", a.Quiet)
	}
}

// Hours is a part of the day, such as "22:00-07:00". If it ends before it begins, it spans
// midnight. "" is never.
type Hours string

// Have reports whether h contains the local time of t. h must be valid.
func (h Hours) Have(t time.Time) bool {
	from, to, _ := h.parse()
	at := 60*t.Hour() + t.Minute()
	if from <= to {
		return from <= at && at < to
	}
	return at >= from || at < to
}

// parse returns the beginning and the end of h in minutes since midnight.
func (h Hours) parse() (from, to int, err error) {
	if h == "" {
		return 0, 0, nil
	}
	var fromHour, fromMinute, toHour, toMinute int
	var rest string
	n, _ := fmt.Sscanf(string(h)+" .", "%2d:%2d-%2d:%2d %s", &fromHour, &fromMinute, &toHour, &toMinute, &rest)
	from, to = 60*fromHour+fromMinute, 60*toHour+toMinute
	if n != 5 || rest != "." || min(fromHour, toHour, fromMinute, toMinute) < 0 || max(fromHour, toHour) > 24 || max(fromMinute, toMinute) > 59 ||
		max(from, to) > 24*60 {
		return 0, 0, fmt.Errorf("read hours %q: must be a time range such as 22:00-07:00", string(h))
	}
	return from, to, nil
}

// Duration is a duration as written in the file, such as "10s". "" is 0.
type Duration string

// Value returns the duration, which must be valid.
func (d Duration) Value() time.Duration {
	v, _ := time.ParseDuration(string(d))
	return v
}

func (d Duration) check(report Report, key, example string) {
	if v, err := time.ParseDuration(string(d)); d != "" && (err != nil || v <= 0) {
		_, name, _ := strings.Cut(key, ".")
		report(key, "%s = %q: must be a duration such as %s", name, string(d), example)
	}
}
