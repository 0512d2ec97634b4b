package page

import "strings"

// browserName returns a short name for a User-Agent header: "Firefox on Linux".
func browserName(agent string) string {
	pick := func(rest string, known ...string) string {
		for _, name := range known {
			token, shown, renamed := strings.Cut(name, "=")
			if !renamed {
				shown = token
			}
			if strings.Contains(agent, token) {
				return shown
			}
		}
		return rest
	}
	// The order matters: most browsers also claim to be others.
	browser := pick("A browser", "Edg=Edge", "OPR/=Opera", "Firefox", "FxiOS=Firefox", "CriOS=Chrome", "Chrome", "Safari")
	system := pick("", "iPhone", "iPad", "Android", "Windows", "Mac OS X=macOS", "CrOS=ChromeOS", "Linux")
	if system == "" {
		return browser
	}
	return browser + " on " + system
}
