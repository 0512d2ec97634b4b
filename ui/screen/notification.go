package screen

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tandem/panes/widget"
	"tandem/ui/display"
)

// mostNotice bounds a notification, in cells.
const mostNotice = 160

// notification is what makes a terminal notify the desktop. Which of the three
// sequences it knows only its name tells: OSC 99 is kitty's (and foot's), OSC 777
// urxvt's and VTE's, OSC 9 everybody else's. One that knows none shows nothing.
func notification(text string, getenv func(string) string) string {
	text = noticeText(text)
	name := getenv("TERM")
	var s string
	switch {
	case getenv("KITTY_WINDOW_ID") != "" || strings.Contains(name, "kitty") || strings.HasPrefix(name, "foot"):
		s = "\x1b]99;i=tandem:d=0;Tandem\x1b\\\x1b]99;i=tandem:p=body;" + text + "\x1b\\"
	case strings.HasPrefix(name, "rxvt") || getenv("VTE_VERSION") != "":
		s = "\x1b]777;notify;Tandem;" + text + "\x1b\\"
	default:
		s = "\x1b]9;Tandem: " + text + "\x1b\\"
	}
	if getenv("TMUX") != "" {
		s = "\x1bPtmux;" + strings.ReplaceAll(s, "\x1b", "\x1b\x1b") + "\x1b\\"
	}
	return s
}

// noticeText is text that cannot end a sequence or be taken for a part of it.
func noticeText(s string) string {
	return strings.ReplaceAll(widget.Clip(widget.Clean(s), mostNotice), ";", ",")
}

// showsProgress reports whether a terminal is known to show OSC 9;4 beside its icon. Others
// take it for a notification.
func showsProgress(getenv func(string) string) bool {
	return !display.Multiplexed(getenv) && (getenv("WT_SESSION") != "" || getenv("ConEmuANSI") == "ON" || strings.Contains(getenv("TERM"), "ghostty"))
}

// progress is what shows how far something is; nil is nothing.
func progress(bar *tea.ProgressBar) string {
	if bar == nil {
		return ansi.ResetProgressBar
	}
	switch bar.State {
	case tea.ProgressBarDefault:
		return ansi.SetProgressBar(bar.Value)
	case tea.ProgressBarError:
		return ansi.SetErrorProgressBar(bar.Value)
	case tea.ProgressBarIndeterminate:
		return ansi.SetIndeterminateProgressBar
	case tea.ProgressBarWarning:
		return ansi.SetWarningProgressBar(bar.Value)
	}
	return ansi.ResetProgressBar
}
