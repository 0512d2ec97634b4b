package files

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"strings"

	"tandem/engine/search"
	"tandem/engine/vt/scan"
)

// mostEdited bounds the files that are read whole.
const mostEdited = 64 << 20

// An Edit replaces text. Its line endings may differ from the file's.
type Edit struct {
	Search     string
	Replace    string
	ReplaceAll bool // every occurrence; without it there must be exactly one
}

// EditFile makes all edits, each of which sees what those before it made, or
// none, and tells how many replacements each was. The file keeps its line
// endings and its byte order mark.
func (t *Tree) EditFile(ctx context.Context, path string, edits []Edit) (abs string, counts []int, err error) {
	err = t.confined(func() (err error) {
		abs, counts, err = t.edit(ctx, path, edits)
		return err
	})
	return abs, counts, err
}

func (t *Tree) edit(ctx context.Context, path string, edits []Edit) (abs string, counts []int, err error) {
	if len(edits) == 0 {
		return "", nil, errorf(Invalid, "edit %s: no edits given", path)
	}
	p, err := t.locate(path, way{verb: "edit"})
	if err != nil {
		return "", nil, err
	}
	defer p.close()
	release, err := t.Locks.take(ctx, p.real)
	if err != nil {
		return "", nil, err
	}
	defer release()
	counts, err = p.edit(edits)
	return p.path, counts, failure("edit", p.path, err)
}

func (p place) edit(edits []Edit) ([]int, error) {
	data, info, err := p.whole("edit", mostEdited)
	if err != nil {
		return nil, err
	}
	text, counts, err := applyEdits(string(data), edits)
	if err != nil {
		return nil, err
	}
	dir, name, err := p.parent(false)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	if now, err := dir.Lstat(name); err != nil || !same(info, now) {
		return nil, errorf(Changed, "edit %s: the file was changed in the meantime", p.path).hint("read it again")
	}
	fill := func(f *os.File) error {
		_, err := io.WriteString(f, text)
		return err
	}
	return counts, replace(dir, name, info, fill, true)
}

// whole reads a file of at most so many bytes.
func (p place) whole(verb string, most int64) ([]byte, fs.FileInfo, error) {
	f, info, err := p.open(verb)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, nil, err
	}
	if int64(len(data)) > most {
		return nil, nil, errorf(TooLarge, "%s %s: it is larger than %d MB", verb, p.path, most>>20)
	}
	return data, info, nil
}

func same(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

const bom = "\ufeff"

// applyEdits makes edits one after the other.
func applyEdits(text string, edits []Edit) (string, []int, error) {
	text, marked := strings.CutPrefix(text, bom)
	counts := make([]int, len(edits))
	for i, e := range edits {
		var err error
		if text, counts[i], err = applyEdit(text, e); err != nil {
			return "", nil, err
		}
	}
	if marked {
		text = bom + text
	}
	return text, counts, nil
}

func applyEdit(text string, e Edit) (string, int, error) {
	search := unixLines(strings.TrimPrefix(e.Search, bom))
	if search == "" {
		return "", 0, errorf(Invalid, "edit not applied: there is nothing to search for")
	}
	plain := flatten(text)
	count := strings.Count(plain.text, search)
	switch {
	case count == 0:
		return "", 0, notFound(plain.text, e.Search)
	case count > 1 && !e.ReplaceAll:
		return "", 0, errorf(Several, "edit not applied: %s found %d times", shown(e.Search), count).
			hint("search for more of the text around it, or replace all")
	}
	return plain.replace(search, e.Replace), count, nil
}

// shown is the beginning of what was searched for, as an error names it.
func shown(search string) string {
	const most = 80
	if runes := []rune(search); len(runes) > most {
		search = string(runes[:most])
	}
	return `"` + search + `"`
}

// A flat text is a text with its line endings made alike, for searching.
type flat struct {
	raw  string
	text string // raw with each CRLF as LF
	crlf []int  // where in text an LF was a CRLF, ascending
}

func flatten(raw string) flat {
	if !strings.Contains(raw, "\r\n") {
		return flat{raw: raw, text: raw}
	}
	f := flat{raw: raw}
	var b strings.Builder
	b.Grow(len(raw))
	for {
		before, after, found := strings.Cut(raw, "\r\n")
		b.WriteString(before)
		if !found {
			f.text = b.String()
			return f
		}
		f.crlf = append(f.crlf, b.Len())
		b.WriteByte('\n')
		raw = after
	}
}

func unixLines(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// replace puts text in place of every occurrence of search, with the line
// endings that the file has there.
func (f flat) replace(search, text string) string {
	if f.crlf == nil && !strings.Contains(f.raw, "\n") {
		return strings.ReplaceAll(f.raw, search, text) // no line ending to keep to
	}
	text = unixLines(text)
	var out bytes.Buffer
	done, passed := 0, 0 // in raw; CRLFs before that
	for from := 0; ; {
		at := strings.Index(f.text[from:], search)
		if at < 0 {
			out.WriteString(f.raw[done:])
			return out.String()
		}
		start := from + at
		for passed < len(f.crlf) && f.crlf[passed] < start {
			passed++
		}
		out.WriteString(f.raw[done : start+passed])
		inside := passed
		for from = start + len(search); passed < len(f.crlf) && f.crlf[passed] < from; {
			passed++
		}
		out.WriteString(f.ending(text, strings.Count(search, "\n"), passed-inside))
		done = from + passed
	}
}

// ending gives text the line endings of what it replaces, which had lines of
// which crlf end in CRLF; where there are none, those of most of the file.
func (f flat) ending(text string, lines, crlf int) string {
	if lines == 0 {
		lines, crlf = strings.Count(f.text, "\n"), len(f.crlf)
	}
	if 2*crlf > lines {
		return strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// notFound is the error of a search for text that is not there, with what is
// nearest to its first line.
func notFound(text, wanted string) error {
	e := errorf(NoMatch, "edit not applied: %s not found", shown(wanted))
	line, number := search.Nearest(text, wanted)
	if number == 0 {
		return e
	}
	return e.hint("the nearest is line %d: %s", number, shortened(line))
}

func shortened(line string) string {
	const most = 200
	if len(line) <= most {
		return line
	}
	return line[:scan.CompleteLen([]byte(line[:most]))] + "…"
}
