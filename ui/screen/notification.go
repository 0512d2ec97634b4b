package screen

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tandem/panes/kit/text"
	"tandem/ui/display"
)

// maxNotice is the maximum width of a notification in cells.
const maxNotice = 160

// notifySequence returns the sequence that makes the terminal notify the desktop. There are three
// such sequences, and only the terminal's name tells which one it supports: kitty and foot use OSC
// 99, urxvt and VTE OSC 777, all others OSC 9. A terminal supporting none shows nothing.
func notifySequence(text string, getenv func(string) string) string {
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

// noticeText returns s without characters that could end a sequence or separate its
// fields.
func noticeText(s string) string {
	return strings.ReplaceAll(text.Clip(text.Clean(s), maxNotice), ";", ",")
}

// showsProgress reports whether a terminal is known to show OSC 9;4 beside its icon.
// Others show it as a notification.
func showsProgress(getenv func(string) string) bool {
	return !display.IsMultiplexed(getenv) && (getenv("WT_SESSION") != "" || getenv("ConEmuANSI") == "ON" || strings.Contains(getenv("TERM"), "ghostty"))
}

// progressSequence returns the sequence that shows a progress bar; nil removes it.
func progressSequence(bar *tea.ProgressBar) string {
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
