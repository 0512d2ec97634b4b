package files

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"strings"

	"tandem/engine/record/search"
	"tandem/engine/screen/vt/scan"
)

// maxEdited is the size limit in bytes of a file to edit.
const maxEdited = 64 << 20

// An Edit replaces text. Its line endings may differ from the file's.
type Edit struct {
	Search     string
	Replace    string
	ReplaceAll bool // every occurrence; otherwise there must be exactly one
}

// EditFile applies all edits in order, each to the result of the previous one, or none if one
// fails. counts holds the number of replacements of each edit. The file keeps its line endings and
// its byte order mark.
func (t *Tree) EditFile(ctx context.Context, path string, edits []Edit) (abs string, counts []int, err error) {
	err = t.runConfined(func() (err error) {
		abs, counts, err = t.editPath(ctx, path, edits)
		return err
	})
	return abs, counts, err
}

func (t *Tree) editPath(ctx context.Context, path string, edits []Edit) (abs string, counts []int, err error) {
	if len(edits) == 0 {
		return "", nil, errorf(Invalid, "edit %s: no edits given", path)
	}
	p, err := t.locate(path, lookup{verb: "edit"})
	if err != nil {
		return "", nil, err
	}
	defer p.close()
	release, err := t.Locks.acquireLock(ctx, p.real)
	if err != nil {
		return "", nil, err
	}
	defer release()
	counts, err = p.editFile(edits)
	return p.path, counts, fileError("edit", p.path, err)
}

func (p location) editFile(edits []Edit) ([]int, error) {
	data, info, err := p.readWhole("edit", maxEdited)
	if err != nil {
		return nil, err
	}
	text, counts, err := applyEdits(string(data), edits)
	if err != nil {
		return nil, err
	}
	dir, name, err := p.openParent(false)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	// An editor does not take the lock, so check whether one has written the file since it was
	// read.
	if now, err := dir.Lstat(name); err != nil || !sameVersion(info, now) {
		return nil, errorf(Changed, "edit %s: the file was changed in the meantime", p.path).withHint("read it again")
	}
	fill := func(f *os.File) error {
		_, err := io.WriteString(f, text)
		return err
	}
	return counts, replaceFile(dir, name, info, fill, true)
}

// readWhole reads a file of at most limit bytes.
func (p location) readWhole(verb string, limit int64) ([]byte, fs.FileInfo, error) {
	f, info, err := p.openRegular(verb)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, nil, err
	}
	if int64(len(data)) > limit {
		return nil, nil, errorf(TooLarge, "%s %s: it is larger than %d MB", verb, p.path, limit>>20)
	}
	return data, info, nil
}

func sameVersion(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

const bom = "\ufeff"

// applyEdits applies edits one after the other.
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
	search := toUnixLines(strings.TrimPrefix(e.Search, bom))
	if search == "" {
		return "", 0, errorf(EmptyEdit, "edit not applied: there is nothing to search for")
	}
	plain := normalizeLines(text)
	count := strings.Count(plain.text, search)
	switch {
	case count == 0:
		return "", 0, noMatchError(plain.text, e.Search)
	case count > 1 && !e.ReplaceAll:
		return "", 0, errorf(Several, "edit not applied: %s found %d times", quoteSearch(e.Search), count).
			withHint("search for more of the text around it, or replace all")
	}
	return plain.replaceAll(search, e.Replace), count, nil
}

// quoteSearch returns the beginning of a search text for an error.
func quoteSearch(search string) string {
	const maxRunes = 80
	if runes := []rune(search); len(runes) > maxRunes {
		search = string(runes[:maxRunes])
	}
	return `"` + search + `"`
}

// A normalizedText is a text together with a copy for searching, in which all line endings are LF.
type normalizedText struct {
	raw  string
	text string // raw with each CRLF as LF
	crlf []int  // offsets in text of each LF that was a CRLF, ascending
}

func normalizeLines(raw string) normalizedText {
	if !strings.Contains(raw, "\r\n") {
		return normalizedText{raw: raw, text: raw}
	}
	f := normalizedText{raw: raw}
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

func toUnixLines(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// replaceAll replaces every occurrence of search with text, in the line endings used there.
func (f normalizedText) replaceAll(search, text string) string {
	if f.crlf == nil && !strings.Contains(f.raw, "\n") {
		return strings.ReplaceAll(f.raw, search, text) // no line ending to preserve
	}
	text = toUnixLines(text)
	var out bytes.Buffer
	// done is the end of the part of raw already written; crlfs counts the CRLFs before the match.
	done, crlfs := 0, 0
	for from := 0; ; {
		at := strings.Index(f.text[from:], search)
		if at < 0 {
			out.WriteString(f.raw[done:])
			return out.String()
		}
		start := from + at
		for crlfs < len(f.crlf) && f.crlf[crlfs] < start {
			crlfs++
		}
		out.WriteString(f.raw[done : start+crlfs])
		inside := crlfs
		for from = start + len(search); crlfs < len(f.crlf) && f.crlf[crlfs] < from; {
			crlfs++
		}
		out.WriteString(f.matchEndings(text, strings.Count(search, "\n"), crlfs-inside))
		done = from + crlfs
	}
}

// matchEndings returns text with the line endings of the part that it replaces. That part has the
// given number of line endings, of which crlf are CRLF. If it has none, the most frequent line
// ending of the file is used.
func (f normalizedText) matchEndings(text string, lines, crlf int) string {
	if lines == 0 {
		lines, crlf = strings.Count(f.text, "\n"), len(f.crlf)
	}
	if 2*crlf > lines {
		return strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// noMatchError returns the error for text that was not found, with the line most similar to its
// first one.
func noMatchError(text, wanted string) error {
	e := errorf(NoMatch, "edit not applied: %s not found", quoteSearch(wanted))
	line, number := search.Nearest(text, wanted)
	if number == 0 {
		return e
	}
	return e.withHint("the nearest is line %d: %s", number, shortenLine(line))
}

func shortenLine(line string) string {
	const maxBytes = 200
	if len(line) <= maxBytes {
		return line
	}
	return line[:scan.CompleteLen([]byte(line[:maxBytes]))] + "…"
}
