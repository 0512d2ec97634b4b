package server

import "slices"

// Choices are the values that an option may have, in tmux's order; none for one of another kind.
func Choices(name string) []string {
	switch name {
	case "activity-action", "bell-action", "silence-action":
		return []string{"none", "any", "current", "other"}
	case "clock-mode-style":
		return []string{"12", "24"}
	case "cursor-style":
		return []string{"default", "blinking-block", "block", "blinking-underline", "underline", "blinking-bar", "bar"}
	case "detach-on-destroy":
		return []string{"off", "on", "no-detached"}
	case "extended-keys":
		return []string{"off", "on", "always"}
	case "mode-keys", "status-keys":
		return []string{"emacs", "vi"}
	case "pane-border-indicators":
		return []string{"off", "colour", "arrows", "both"}
	case "pane-border-lines":
		return []string{"single", "double", "heavy", "simple", "number"}
	case "pane-border-status":
		return []string{"off", "top", "bottom"}
	case "popup-border-lines":
		return []string{"single", "double", "heavy", "simple", "rounded", "padded", "none"}
	case "remain-on-exit":
		return []string{"off", "on", "failed"}
	case "set-clipboard":
		return []string{"off", "external", "on"}
	case "status":
		return []string{"off", "on", "2", "3", "4", "5"}
	case "status-justify":
		return []string{"left", "centre", "right", "absolute-centre"}
	case "status-position":
		return []string{"top", "bottom"}
	case "visual-activity", "visual-bell", "visual-silence":
		return []string{"off", "on", "both"}
	case "window-size":
		return []string{"largest", "smallest", "manual", "latest"}
	}
	return nil
}

// Toggled is the choice that follows one if none is named: of the first two the other.
func Toggled(choices []string, before string) string {
	if i := slices.Index(choices, before); i == 0 || i == 1 {
		return choices[1-i]
	}
	return before
}
