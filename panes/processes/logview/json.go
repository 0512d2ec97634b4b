package logview

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"tandem/engine/screen/vt/scan"
	"tandem/panes/kit/text"
)

// Minimum widths of the columns of structured lines.
const (
	levelCells   = 5
	messageCells = 32
)

// A jsonRecord is a line of JSON.
type jsonRecord struct {
	time, level, message string
	rest                 []string // key=value
}

// prettyLine formats a line with a JSON object as "time level message key=value", with control
// characters escaped. It returns any other line unchanged.
func prettyLine(line string) string {
	s, ok := parseRecord(line)
	if !ok {
		return line
	}
	var parts []string
	if s.time != "" {
		parts = append(parts, s.time)
	}
	if s.level != "" {
		parts = append(parts, text.Pad(s.level, max(levelCells, text.Width(s.level))))
	}
	if s.message != "" {
		if len(s.rest) > 0 {
			s.message = text.Pad(s.message, max(messageCells, text.Width(s.message)))
		}
		parts = append(parts, s.message)
	}
	return strings.Join(append(parts, s.rest...), " ")
}

// parseRecord parses a JSON object. ok is false if the line is anything else, or if the object is
// empty.
func parseRecord(line string) (s jsonRecord, ok bool) {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "{") || !strings.HasSuffix(line, "}") || !json.Valid([]byte(line)) {
		return s, false
	}
	// Use a decoder, because it keeps the order of the members, unlike a map. It cannot fail,
	// because the line is valid JSON.
	d := json.NewDecoder(strings.NewReader(line))
	_, _ = d.Token() // the opening brace
	for d.More() {
		key, _ := d.Token()
		var value json.RawMessage
		_ = d.Decode(&value)
		s.addMember(fmt.Sprint(key), value)
		ok = true
	}
	return s, ok
}

// addMember adds a member of the object. The first member that is a time, a level or a message gets
// a column of its own.
func (s *jsonRecord) addMember(key string, value json.RawMessage) {
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

// plainText returns a value without quotes.
func plainText(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil && !bytes.Equal(value, []byte("null")) {
		return scan.Visible(text)
	}
	var b bytes.Buffer
	_ = json.Compact(&b, value)
	return scan.Visible(b.String())
}

// valueText returns a value, in quotes if it contains blanks, quotes or an equals sign.
func valueText(value json.RawMessage) string {
	text := plainText(value)
	if len(value) > 0 && value[0] == '"' && (text == "" || strings.ContainsAny(text, " =\"")) {
		return `"` + strings.ReplaceAll(text, `"`, `\"`) + `"`
	}
	return text
}

// timeText returns the time of day for an RFC 3339 time, or for a number of seconds, milliseconds,
// microseconds or nanoseconds since 1970. It returns any other value unchanged.
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

// levelText returns a level in capitals. Numbers get the names used by pino and bunyan.
func levelText(value json.RawMessage) string {
	text := plainText(value)
	if n, err := strconv.Atoi(text); err == nil && n >= 10 && n <= 60 && n%10 == 0 {
		return [...]string{"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"}[n/10-1]
	}
	return strings.ToUpper(text)
}
