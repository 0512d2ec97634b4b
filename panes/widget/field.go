package widget

import (
	"strings"

	"tandem/engine/cellwidth"
	"tandem/keys"
)

// maxFieldText bounds what a Field takes, in bytes.
const maxFieldText = 4096

// A Field is one line of text that is being typed.
type Field struct {
	clusters []string // what counts as one character for the cursor
	at       int      // cursor: before clusters[at]
}

// Set replaces the text and puts the cursor behind it.
func (f *Field) Set(text string) {
	f.clusters, f.at = nil, 0
	f.Insert(text)
}

// Text is what was typed.
func (f *Field) Text() string {
	var text []byte
	for _, c := range f.clusters {
		text = append(text, c...)
	}
	return string(text)
}

// Insert puts text at the cursor, without what has no place in a line.
func (f *Field) Insert(text string) {
	text = CleanText(strings.TrimRight(text, "\r\n"))
	text = text[:min(len(text), max(maxFieldText-len(f.Text()), 0))]
	after := append([]string(nil), f.clusters[f.at:]...)
	head := ""
	for _, c := range f.clusters[:f.at] {
		head += c
	}
	f.clusters = split(head + text)
	f.at = len(f.clusters)
	f.clusters = append(f.clusters, after...)
}

func split(text string) (clusters []string) {
	for text != "" {
		c, _ := cellwidth.First(text)
		if c == "" {
			return clusters
		}
		clusters = append(clusters, c)
		text = text[len(c):]
	}
	return clusters
}

// Type handles a key as a line editor does; keys it does not know do nothing.
func (f *Field) Type(k keys.Key) {
	if k.Phase == keys.Release {
		return
	}
	if k.Text != "" {
		f.Insert(k.Text)
		return
	}
	k = keys.Key{Code: k.Code, Mods: k.Mods &^ (keys.CapsLock | keys.NumLock)}
	if edit := fieldEdits()[k.String()]; edit != nil {
		edit(f)
	}
}

func fieldEdits() map[string]func(*Field) {
	return map[string]func(*Field){
		"left":      func(f *Field) { f.at = max(f.at-1, 0) },
		"right":     func(f *Field) { f.at = min(f.at+1, len(f.clusters)) },
		"ctrl+b":    func(f *Field) { f.at = max(f.at-1, 0) },
		"ctrl+f":    func(f *Field) { f.at = min(f.at+1, len(f.clusters)) },
		"home":      func(f *Field) { f.at = 0 },
		"ctrl+a":    func(f *Field) { f.at = 0 },
		"end":       func(f *Field) { f.at = len(f.clusters) },
		"ctrl+e":    func(f *Field) { f.at = len(f.clusters) },
		"backspace": func(f *Field) { f.cut(f.at-1, f.at) },
		"ctrl+h":    func(f *Field) { f.cut(f.at-1, f.at) },
		"delete":    func(f *Field) { f.cut(f.at, f.at+1) },
		"ctrl+d":    func(f *Field) { f.cut(f.at, f.at+1) },
		"ctrl+u":    func(f *Field) { f.cut(0, f.at) },
		"ctrl+k":    func(f *Field) { f.cut(f.at, len(f.clusters)) },
		"ctrl+w":    func(f *Field) { f.cut(f.wordStart(), f.at) },
	}
}

// cut removes the characters from a up to b and leaves the cursor there.
func (f *Field) cut(a, b int) {
	a, b = max(a, 0), min(b, len(f.clusters))
	if a >= b {
		return
	}
	f.clusters = append(f.clusters[:a], f.clusters[b:]...)
	f.at = a
}

func (f *Field) wordStart() int {
	i := f.at
	for i > 0 && f.clusters[i-1] == " " {
		i--
	}
	for i > 0 && f.clusters[i-1] != " " {
		i--
	}
	return i
}

// Draw gives the line as exactly w cells around the cursor, and the cursor's
// column.
func (f *Field) Draw(w int) (line string, x int) {
	start := f.at
	for used := 1; start > 0; start-- {
		n := Width(f.clusters[start-1])
		if used+n > w {
			break
		}
		used += n
		x += n
	}
	used := 0
	for _, c := range f.clusters[start:] {
		n := Width(c)
		if used+n > w {
			break
		}
		line += c
		used += n
	}
	return line + Spaces(w-used), x
}
