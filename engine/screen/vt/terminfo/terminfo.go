// Package terminfo has the terminal capabilities queried by programs (XTGETTCAP).
package terminfo

// Value returns the value of a terminfo or termcap capability, "" for a flag. ok is false if the
// terminal lacks it.
func Value(name string) (value string, ok bool) {
	switch name {
	case "TN", "name":
		return "xterm-256color", true
	case "Co", "colors":
		return "256", true
	case "RGB":
		return "8/8/8", true
	case "Tc", "Su", "XT":
		return "", true
	case "setrgbf":
		return "\x1b[38:2:%p1%d:%p2%d:%p3%dm", true
	case "setrgbb":
		return "\x1b[48:2:%p1%d:%p2%d:%p3%dm", true
	case "Setulc":
		return "\x1b[58:2::%p1%{65536}%/%d:%p1%{256}%/%{255}%&%d:%p1%{255}%&%dm", true
	case "Smol":
		return "\x1b[53m", true
	case "Rmol":
		return "\x1b[55m", true
	case "Sync":
		return "\x1b[?2026%?%p1%{1}%-%tl%eh%;", true
	case "BE":
		return "\x1b[?2004h", true
	case "BD":
		return "\x1b[?2004l", true
	case "PS":
		return "\x1b[200~", true
	case "PE":
		return "\x1b[201~", true
	case "E3":
		return "\x1b[3J", true
	case "indn":
		return "\x1b[%p1%dS", true
	case "rin":
		return "\x1b[%p1%dT", true
	case "Smulx":
		return "\x1b[4:%p1%dm", true
	case "Ms":
		return "\x1b]52;%p1%s;%p2%s\x1b\\", true
	case "Ss":
		return "\x1b[%p1%d q", true
	case "Se":
		return "\x1b[2 q", true
	}
	return "", false
}
