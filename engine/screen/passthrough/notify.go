package passthrough

import (
	"strings"
)

// RestProgress clears a program's progress indicator (OSC 9;4). It first terminates a control string
// that was cut off.
const RestProgress = "\x1b\\\x1b]9;4;0\x1b\\"

// maxNotification is the maximum length of a notification in bytes.
const maxNotification = 1024

// filterNotification returns the form of a notification (OSC 9, kitty's OSC 99, urxvt's OSC 777) to pass
// on, or "" to drop it. It drops requests that the terminal would answer or that do more than notify.
func (f *Filter) filterNotification(code int, rest string) string {
	if f.played || len(rest) > maxNotification {
		// A recorded notification is outdated.
		return ""
	}
	switch code {
	case 9:
		return f.filterNotification9(rest)
	case 99:
		return filterNotification99(rest)
	}
	if strings.HasPrefix(rest, "notify;") {
		return "777;" + rest
	}
	return ""
}

// filterNotification9 passes text notifications and, of ConEmu's numbered commands, only progress.
func (f *Filter) filterNotification9(rest string) string {
	first, args, more := strings.Cut(rest, ";")
	switch n := parseNumber(first); {
	case n == 4 && more:
		state, percent, _ := strings.Cut(args, ";")
		if len(state) != 1 || state < "0" || state > "4" || parseNumber(percent) > 100 || parseNumber(percent) < 0 && percent != "" {
			return ""
		}
		f.Progress = state != "0"
	case n > 0 && n <= 12 && (more || n == 4) || rest == "":
		return ""
	}
	return "9;" + rest
}

// filterNotification99 passes titles and bodies with their ids and urgency. It drops buttons, sounds and
// requests for reports.
func filterNotification99(rest string) string {
	metadata, payload, ok := strings.Cut(rest, ";")
	if !ok {
		return ""
	}
	var kept []string
	for pair := range strings.SplitSeq(metadata, ":") {
		key, value, _ := strings.Cut(pair, "=")
		switch {
		case key == "p" && value != "title" && value != "body":
			return ""
		case strings.Contains("|i|d|p|e|o|u|", "|"+key+"|") && key != "" && strings.Trim(value, wordLetters) == "":
			kept = append(kept, pair)
		}
	}
	return "99;" + strings.Join(kept, ":") + ";" + payload
}

const wordLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+"
