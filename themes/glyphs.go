package themes

import (
	"strings"
	"sync"
)

// Glyphs are the symbols that show a state without colour. Each is one cell wide.
type Glyphs struct {
	Running, Starting, Stopping, Backoff string
	Stopped, Exited, Failed, Unknown     string
	Bell, Waiting, Attached              string
	Selected, Ellipsis, Separator, More  string
	Check, Warn                          string
	Working, Blocked                     string    // of a coding agent
	Ascending, Descending                string    // the order of a sorted column
	Terminal, KeepAlive                  string    // kinds of process
	Folded, Unfolded                     string    // a group of rows
	Thumb                                string    // of a scrollbar
	Block                                string    // a full cell
	Levels                               [5]string // bars of growing height
}

// UnicodeGlyphs returns the glyphs for terminals with UTF-8.
func UnicodeGlyphs() Glyphs {
	return Glyphs{
		Running: "●", Starting: "◌", Stopping: "◍", Backoff: "↻",
		Stopped: "■", Exited: "○", Failed: "✗", Unknown: "?",
		Bell: "♪", Waiting: "…", Attached: "•",
		Selected: "▌", Ellipsis: "…", Separator: "│", More: "›",
		Check: "✓", Warn: "!",
		Working: "◐", Blocked: "◆",
		Ascending: "▲", Descending: "▼", Terminal: "❯", KeepAlive: "∞",
		Folded: "▸", Unfolded: "▾",
		Thumb: "▐", Block: "█", Levels: [5]string{"▁", "▂", "▃", "▅", "▇"},
	}
}

// ASCIIGlyphs returns the glyphs for all other terminals.
func ASCIIGlyphs() Glyphs {
	return Glyphs{
		Running: "*", Starting: "+", Stopping: "-", Backoff: "@",
		Stopped: "#", Exited: "o", Failed: "X", Unknown: "?",
		Bell: "!", Waiting: "~", Attached: "=",
		Selected: ">", Ellipsis: "~", Separator: "|", More: ">",
		Check: "+", Warn: "!",
		Working: "%", Blocked: "!",
		Ascending: "^", Descending: "v", Terminal: ">", KeepAlive: "&",
		Folded: "+", Unfolded: "-",
		Thumb: "#", Block: "#", Levels: [5]string{"_", ".", "-", "=", "#"},
	}
}

// ASCII replaces the frames and symbols drawn by the dashboard, other than Glyphs, with ASCII
// characters of the same width.
func ASCII(s string) string { return asciiReplacer().Replace(s) }

var asciiReplacer = sync.OnceValue(func() *strings.Replacer {
	var pairs []string
	for ascii, signs := range map[string]string{
		"-": "─━╌╍┄┅┈┉═╴╶╸╺–—−", "|": "│┃╎╏┆┇┊┋║╵╷╹╻▏▎▕", "x": "×✗✕", "~": "…", ".": "·•∙", ">": "→›▶▸❯", "<": "←‹◀◂", "^": "↑▲", "v": "↓▼▾✓",
		"#": "█▌▐▀▄▇▆▅", "=": "▃▂", "_": "▁", "o": "○◌", "*": "●◆◐", "'": "‘’", "\"": "“”",
	} {
		for _, sign := range signs {
			pairs = append(pairs, string(sign), ascii)
		}
	}
	// Corners and crossings. For other symbols, the earlier pair wins.
	for r := rune(0x2500); r < 0x2580; r++ {
		pairs = append(pairs, string(r), "+")
	}
	return strings.NewReplacer(pairs...)
})

// GlyphsFor returns the glyphs for an environment of "NAME=value" strings.
func GlyphsFor(environ []string) Glyphs {
	if UTF8(environ) {
		return UnicodeGlyphs()
	}
	return ASCIIGlyphs()
}

// UTF8 reports whether the terminal of an environment can show UTF-8: the locale says so or is
// unset, as in a container, and it is not the Linux console, whose font lacks the symbols.
func UTF8(environ []string) bool {
	value := map[string]string{}
	for _, entry := range environ {
		if name, v, ok := strings.Cut(entry, "="); ok {
			value[name] = v
		}
	}
	if value["TERM"] == "linux" || value["TERM"] == "dumb" {
		return false
	}
	// The first variable set decides (locale(7)).
	for _, name := range [...]string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := value[name]; v != "" {
			charset := strings.ToLower(strings.ReplaceAll(v, "-", ""))
			return strings.Contains(charset, "utf8")
		}
	}
	return true
}

// Level returns the bar for a height from 0 to 4.
func (g Glyphs) Level(height int) string {
	return g.Levels[min(max(height, 0), 4)]
}

// State returns the glyph of a process state, given by its name in the API.
func (g Glyphs) State(state string) string {
	switch state {
	case "running":
		return g.Running
	case "waiting":
		return g.Waiting
	case "starting":
		return g.Starting
	case "stopping":
		return g.Stopping
	case "backoff":
		return g.Backoff
	case "stopped":
		return g.Stopped
	case "exited":
		return g.Exited
	case "failed":
		return g.Failed
	}
	return g.Unknown
}
