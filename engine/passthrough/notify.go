package passthrough

import (
	"strings"
)

// RestProgress takes back a progress that a program has told (OSC 9;4). A control string that was
// cut off is ended first.
const RestProgress = "\x1b\\\x1b]9;4;0\x1b\\"

// noticeLimit bounds a notification, in bytes.
const noticeLimit = 1024

// notification passes what a program notifies the user of: OSC 9, OSC 99 (kitty's) and OSC 777
// (urxvt's). What would be answered, or do more than notify, does not pass.
func (f *Filter) notification(code int, rest string) string {
	if f.played || len(rest) > noticeLimit {
		return "" // it was for the user then
	}
	switch code {
	case 9:
		return f.notification9(rest)
	case 99:
		return notification99(rest)
	}
	if strings.HasPrefix(rest, "notify;") {
		return "777;" + rest
	}
	return ""
}

// notification9 passes a text, and of ConEmu's commands, which are numbers, the progress.
func (f *Filter) notification9(rest string) string {
	first, args, more := strings.Cut(rest, ";")
	switch n := number(first); {
	case n == 4 && more:
		state, percent, _ := strings.Cut(args, ";")
		if len(state) != 1 || state < "0" || state > "4" || number(percent) > 100 || number(percent) < 0 && percent != "" {
			return ""
		}
		f.Progress = state != "0"
	case n > 0 && n <= 12 && (more || n == 4) || rest == "":
		return ""
	}
	return "9;" + rest
}

// notification99 passes the parts of a title and a body, and what says which belong together and
// how urgent they are. Buttons, sounds and reports of what became of it do not pass.
func notification99(rest string) string {
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
