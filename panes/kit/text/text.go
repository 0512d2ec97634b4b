// Package text fits text into cells: it measures, cuts and pads it, draws lines of a screen, and
// makes names, paths and texts from programs safe to show. It knows neither inks nor lists.
package text

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/engine/base/cellwidth"
)

// Clean makes foreign text (names, titles, errors) safe for one row. It removes control, format and
// bidirectional characters, and turns white space into spaces.
func Clean(s string) string {
	if IsPlain(s) {
		return s
	}
	return strings.TrimSpace(CleanText(s))
}

func CleanText(s string) string {
	return strings.Map(CleanRune, strings.ToValidUTF8(s, "\uFFFD"))
}

func IsPlain(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

func CleanRune(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	// Keep these format characters: emoji would fall apart without them.
	case r == '\u200d' || r == '\ufe0f': // join emoji
		return r
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
		return -1
	}
	return r
}

// Width returns the number of cells s takes; SGR sequences take none.
func Width(s string) int {
	if IsPlain(s) {
		return len(s)
	}
	n := 0
	for s != "" {
		piece, w := FirstCluster(s)
		s = s[len(piece):]
		n += w
	}
	return n
}

// Fit makes clean text exactly w cells wide, truncating with "…" or padding with spaces.
func Fit(s string, w int) string {
	return Pad(Clip(s, w), w)
}

// Clip truncates text to at most w cells, with "…" at the cut.
func Clip(s string, w int) string {
	if w <= 0 {
		return ""
	}
	if len(s) <= w && utf8.RuneCountInString(s) == len(s) || Width(s) <= w {
		return s
	}
	return Cut(s, w, "…")
}

// Cut returns the first w cells of s, which may contain SGR sequences. If it cuts off anything,
// mark takes the last cells. It keeps the SGR sequences after the cut.
func Cut(s string, w int, mark string) string {
	if Width(s) <= w {
		return s
	}
	var out strings.Builder
	room := w - Width(mark)
	if room < 0 {
		room, mark = w, ""
	}
	cut := false
	for s != "" {
		piece, n := FirstCluster(s)
		s = s[len(piece):]
		switch {
		case piece[0] == '\x1b' && n == 0:
			out.WriteString(piece)
		case !cut && n <= room:
			out.WriteString(piece)
			room -= n
		case !cut:
			out.WriteString(mark)
			cut = true
		}
	}
	return out.String()
}

// CutLeft returns s, which may have SGR sequences, without its first n cells. A wide character cut
// in half becomes a space.
func CutLeft(s string, n int) string {
	if n <= 0 {
		return s
	}
	var out strings.Builder
	for s != "" && n > 0 {
		piece, w := FirstCluster(s)
		s = s[len(piece):]
		if piece[0] == '\x1b' && w == 0 {
			out.WriteString(piece)
		}
		n -= w
	}
	for s != "" && s[0] != '\x1b' { // combining characters of removed text
		piece, w := FirstCluster(s)
		if w > 0 {
			break
		}
		s = s[len(piece):]
	}
	return out.String() + Spaces(-n) + s
}

// ClipLeft shortens a path to at most w cells, keeping its end.
func ClipLeft(s string, w int) string {
	if w <= 0 {
		return ""
	}
	n := Width(s)
	if n <= w {
		return s
	}
	return "…" + CutLeft(s, n-w+1)
}

// ClipPath shortens a path to at most w cells by leaving out folders at its beginning. An overlong
// last name loses its end.
func ClipPath(path string, w int) string {
	if Width(path) <= w {
		return path
	}
	for rest := path; ; {
		i := strings.IndexByte(rest[min(len(rest), 1):], '/')
		if i < 0 {
			return Clip(strings.TrimPrefix(rest, "/"), w)
		}
		rest = rest[i+1:]
		if Width(rest)+1 <= w {
			return "…" + rest
		}
	}
}

// ShortPath returns a path with the home folder as "~". A path on another machine has the machine's
// name before it, as in box:/etc.
func ShortPath(path, home string) string {
	path = Clean(path)
	if machine, there := api.PathOf(path); machine != "" {
		return machine + ":" + there
	}
	return api.TildePath(path, home)
}

func Pad(s string, w int) string {
	if n := w - Width(s); n > 0 {
		return s + Spaces(n)
	}
	return s
}

// PadRows appends blank rows of w cells up to h rows.
func PadRows(rows []string, w, h int) []string {
	for len(rows) < h {
		rows = append(rows, Spaces(w))
	}
	return rows
}

const blank = "                                                                                                                                "

func Spaces(n int) string {
	switch {
	case n <= 0:
		return ""
	case n <= len(blank):
		return blank[:n]
	}
	return strings.Repeat(" ", n)
}

func Center(s string, w int) string {
	s = Clip(s, w)
	return Pad(Spaces((w-Width(s))/2)+s, w)
}

func PadLeft(s string, w int) string { return Spaces(w-Width(s)) + s }

func Itoa(n int) string { return strconv.Itoa(n) }

// WrapWords breaks text at spaces into lines of at most w cells, and splits longer words.
func WrapWords(text string, w int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && Width(line)+1+Width(word) > w {
			lines = append(lines, Clip(line, w))
			line = ""
		}
		if line != "" {
			line += " "
		}
		parts := Fold(line+word, max(w, 1))
		lines = append(lines, parts[:len(parts)-1]...)
		line = parts[len(parts)-1]
	}
	return append(lines, Clip(line, w))
}

// WrapLines breaks the lines that are longer than w cells, like WrapWords. Shorter lines are not
// changed, so they keep all their blanks.
func WrapLines(lines []string, w int) (wrapped []string) {
	for _, line := range lines {
		if Width(line) <= w {
			wrapped = append(wrapped, line)
			continue
		}
		wrapped = append(wrapped, WrapWords(line, w)...)
	}
	return wrapped
}

// WrapWordsIn is like WrapWords, but returns at most rows lines. The last one ends in an ellipsis
// if text was left out.
func WrapWordsIn(text string, w, rows int) []string {
	lines := WrapWords(text, w)
	if rows < len(lines) {
		lines[rows-1] = Clip(strings.Join(lines[rows-1:], " "), w)
		lines = lines[:rows]
	}
	return lines
}

// Fold splits text into lines of at most w cells, never within a character.
func Fold(s string, w int) (lines []string) {
	for {
		n := fitting(s, w)
		lines = append(lines, s[:n])
		if s = s[n:]; s == "" {
			return lines
		}
	}
}

// FoldWords is like Fold, but splits a line after a space if it has one. No character is lost.
func FoldWords(s string, w int) (lines []string) {
	for {
		n := fitting(s, w)
		if n < len(s) && s[n] != ' ' {
			n = cmp.Or(strings.LastIndexByte(s[:n], ' ')+1, n)
		}
		lines = append(lines, s[:n])
		if s = s[n:]; s == "" {
			return lines
		}
	}
}

// fitting returns how many bytes of s fit into w cells, but at least the first character.
func fitting(s string, w int) (n int) {
	for used := 0; n < len(s); {
		cluster, cells := cellwidth.First(s[n:])
		if used += cells; used > w && n > 0 {
			break
		}
		n += len(cluster)
	}
	return n
}

// ClipName shortens a name in its middle, keeping the extension.
func ClipName(name string, w int) string {
	if Width(name) <= w {
		return name
	}
	const tail = 8
	if w < 3*tail {
		return Clip(name, w)
	}
	return Clip(name, w-tail) + strings.TrimPrefix(ClipLeft(name, tail+1), "…")
}

// ExpandHome replaces a leading "~" by the home folder.
func ExpandHome(path, home string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && home != "" && (rest == "" || rest[0] == '/') {
		return filepath.Join(home, rest)
	}
	return path
}

// AsFileName removes characters not allowed in file names.
func AsFileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r < ' ' {
			return '_'
		}
		return r
	}, name)
}

// First returns the first of several notes, followed by the number of the others.
func First(notes []string) string {
	if len(notes) == 1 {
		return notes[0]
	}
	return fmt.Sprintf("%s (and %d more)", notes[0], len(notes)-1)
}

// Some describes each thing with say, but at most limit of them, and then counts the others.
func Some[T any](all []T, limit int, say func(T) string) (lines []string) {
	for i, one := range all {
		if i == limit {
			return append(lines, "and "+Itoa(len(all)-limit)+" more")
		}
		lines = append(lines, say(one))
	}
	return lines
}

// Count returns a number of things in words, such as "1 file" or "2 processes". singular names one
// of them.
func Count(n int, singular string) string {
	switch {
	case n == 1:
		return "1 " + singular
	case strings.HasSuffix(singular, "s"):
		singular += "e"
	}
	return Thousands(n) + " " + singular + "s"
}

// Thousands formats a number with its digits in groups of three.
func Thousands(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Holds reports whether text contains every word in words. A word that begins with "!" must not
// occur.
func Holds(text string, words []string) bool {
	for _, word := range words {
		bare, inverse := strings.CutPrefix(word, "!")
		if bare != "" && strings.Contains(text, bare) == inverse {
			return false
		}
	}
	return true
}
