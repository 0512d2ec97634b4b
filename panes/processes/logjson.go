package processes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"tandem/engine/vt/scan"
	"tandem/panes/widget"
)

// Pretty shows structured lines as time, level, message and the rest, or as they are.
func (l *logView) Pretty() {
	l.pretty = !l.pretty
	for i := range l.lines {
		l.lines[i].text, l.lines[i].breaks, l.lines[i].drawn = nil, nil, ""
	}
}

// Cells that keep the columns of structured lines apart.
const (
	levelCells   = 5
	messageCells = 32
)

// A structured is what a line of JSON says.
type structured struct {
	time, level, message string
	rest                 []string // key=value
}

// prettyLine is a line that is a JSON object as "time level message key=value", with
// control characters escaped; any other line is as it was.
func prettyLine(line string) string {
	s, ok := readStructured(line)
	if !ok {
		return line
	}
	var parts []string
	if s.time != "" {
		parts = append(parts, s.time)
	}
	if s.level != "" {
		parts = append(parts, widget.Pad(s.level, max(levelCells, widget.Width(s.level))))
	}
	if s.message != "" {
		if len(s.rest) > 0 {
			s.message = widget.Pad(s.message, max(messageCells, widget.Width(s.message)))
		}
		parts = append(parts, s.message)
	}
	return strings.Join(append(parts, s.rest...), " ")
}

// readStructured reads a JSON object; ok is false for anything else, and for one
// without members.
func readStructured(line string) (s structured, ok bool) {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "{") || !strings.HasSuffix(line, "}") || !json.Valid([]byte(line)) {
		return s, false
	}
	d := json.NewDecoder(strings.NewReader(line))
	_, _ = d.Token() // the brace that is there
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return s, false
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return s, false
		}
		s.add(fmt.Sprint(key), value)
		ok = true
	}
	return s, ok
}

// add takes in a member of the object.
func (s *structured) add(key string, value json.RawMessage) {
	switch strings.ToLower(key) {
	case "time", "ts", "timestamp", "@timestamp":
		if s.time == "" {
			s.time = timeText(value)
			return
		}
	case "level", "lvl", "severity":
		if s.level == "" {
			s.level = levelText(value)
			return
		}
	case "msg", "message":
		if s.message == "" {
			s.message = plainText(value)
			return
		}
	}
	s.rest = append(s.rest, scan.Visible(key)+"="+valueText(value))
}

// plainText is a value without quotes around it.
func plainText(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil && !bytes.Equal(value, []byte("null")) {
		return scan.Visible(text)
	}
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		return scan.Visible(string(value))
	}
	return scan.Visible(b.String())
}

// valueText is a value, in quotes where it would not be seen where it ends.
func valueText(value json.RawMessage) string {
	text := plainText(value)
	if len(value) > 0 && value[0] == '"' && (text == "" || strings.ContainsAny(text, " =\"")) {
		return `"` + strings.ReplaceAll(text, `"`, `\"`) + `"`
	}
	return text
}

// timeText is a time of day, from a time as text or in seconds or parts of them since
// 1970; else the value as it is.
func timeText(value json.RawMessage) string {
	text := plainText(value)
	at, err := time.Parse(time.RFC3339Nano, text)
	if n, bad := strconv.ParseFloat(text, 64); err != nil && bad == nil && n > 1e8 && n < 1e19 {
		for n >= 1e11 { // milliseconds, microseconds, nanoseconds
			n /= 1000
		}
		at, err = time.UnixMilli(int64(n*1000)), nil
	}
	if err != nil {
		return text
	}
	return at.Local().Format("15:04:05.000")
}

// levelText is a level in capitals; those that are numbers have the names that pino
// and bunyan give them.
func levelText(value json.RawMessage) string {
	text := plainText(value)
	if n, err := strconv.Atoi(text); err == nil && n >= 10 && n <= 60 && n%10 == 0 {
		return [...]string{"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"}[n/10-1]
	}
	return strings.ToUpper(text)
}
