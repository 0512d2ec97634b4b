package preview

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"image"
	"strings"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/engine/base/units"
	"tandem/panes/kit/graphics"
	"tandem/panes/kit/text"
)

// A previewAsk is a kind of request.
type previewAsk int

const (
	needNothing previewAsk = iota
	needOpen               // the file's type and its beginning
	needMore               // the part after the held one
	needHead               // the beginning
	needTail               // the end
	needPaint              // the syntax of visible lines
	needBefore             // the part before the held one
	needExact              // the image as the terminal takes it
)

// A Request is a part of a file the Preview needs.
type Request struct {
	ask      previewAsk
	serial   int
	n        int
	path     string
	info     api.FileInfo
	kind     previewKind
	row      int   // bytes per row, for previewHex
	off      int64 // start of the part
	end      int64 // end of the part
	size     int64
	w, h     int
	screen   graphics.Screen
	large    *image.RGBA // the image, if loaded
	again    bool        // it was encoded for another size before
	lexer    string
	encoding encoding
	lines    []previewLine // to paint, after some context
	from     int           // first line to paint
}

// Slow reports whether the request is for another file or size. The caller may wait a moment before
// it executes such a request, because the user may move on.
func (r *Request) Slow() bool {
	return r.ask == needOpen || r.ask == needExact && r.again
}

// A Part is the result of a Request.
type Part struct {
	Err error

	content
	ask    previewAsk
	serial int
	n      int
	note   string
	large  *image.RGBA
	wanted encodeTarget
	exact  *graphics.Picture
}

// A Source gives a Preview access to files.
type Source interface {
	// ReadAt reads at most n bytes of a file, starting at off. size is the size of the whole file.
	ReadAt(ctx context.Context, path string, off, n int64) (data []byte, size int64, err error)
	// List lists at most limit entries of a folder, including hidden ones, in display order.
	List(ctx context.Context, path string, limit int) (entries []api.FileInfo, omitted int, err error)
}

// Next returns the next request. ok is false if nothing is needed, or if the preview must wait for
// the answer to an earlier request.
func (p *Preview) Next() (r Request, ok bool) {
	// Make one request at a time. Only a request for painting is replaced by any other.
	ask := p.nextAsk()
	if ask == needNothing || (p.asked != nil && (ask == needPaint || (p.asked.serial == p.serial && p.asked.ask != needPaint))) {
		return r, false
	}
	p.count++
	r = Request{ask: ask, serial: p.serial, n: p.count, path: p.path, info: p.info, kind: p.kind, row: p.row,
		size: p.size, w: p.w, h: p.h, screen: p.Screen, lexer: p.lexer, encoding: p.encoding}
	switch ask {
	case needOpen:
		p.opening = false
	case needMore:
		r.off, r.end = p.end, min(p.end+previewChunk, p.size)
	case needBefore:
		r.off, r.end = max(p.start-previewChunk, 0), p.start
	case needHead:
		r.end = min(previewChunk, p.size)
	case needTail:
		r.off, r.end = max(p.size-previewChunk, 0), p.size
	case needPaint:
		r.lines, r.from = p.linesToPaint()
	case needExact:
		r.large, r.again = p.image.large, p.image.exact != nil
	}
	if ask == p.jump {
		p.jump = needNothing
	}
	p.asked = &r
	return r, true
}

func (p *Preview) nextAsk() previewAsk {
	switch {
	case p.path == "" || p.h <= 0:
		return needNothing
	// The cases are in order of urgency: content comes before its colours.
	case p.opening:
		return needOpen
	case p.jump != needNothing:
		return p.jump
	case p.wantsExact():
		return needExact
	case !p.isWindowed() || p.bad:
		return needNothing
	case p.end < p.size && (p.top+p.h+previewAhead > len(p.lines) || p.goal > 0 && p.number > 0):
		return needMore
	case p.start > 0 && p.top < previewAhead:
		return needBefore
	case p.lexer != "" && p.kind == previewText && p.needsPaint():
		return needPaint
	}
	return needNothing
}

// Load executes a request, which may take a while.
func Load(ctx context.Context, src Source, r Request) (part Part) {
	part = Part{ask: r.ask, serial: r.serial, n: r.n, content: content{kind: r.kind, row: r.row, size: r.size, start: r.off, lexer: r.lexer, encoding: r.encoding}}
	defer func() { // a library's panic over a file must not end the program
		if p := recover(); p != nil {
			part.Err, part.note = fmt.Errorf("show %s: %v", r.path, p), "it cannot be shown"
		}
	}()
	switch r.ask {
	case needOpen:
		part.openFile(ctx, src, r)
	case needPaint:
		part.painted = paintLines(r.lexer, r.lines, r.from)
	case needExact:
		part.wanted = encodeTarget{r.w, r.h, r.screen}
		part.encode(ctx, src, r)
	default:
		part.readWindow(ctx, src, r)
	}
	if part.Err != nil {
		part.note = api.AsError(part.Err).Message
		if _, cause, ok := strings.Cut(part.note, r.path+": "); ok {
			part.note = cause
		}
	}
	return part
}

// openFile determines what a file contains, and reads the first part of it.
func (part *Part) openFile(ctx context.Context, src Source, r Request) {
	switch {
	case r.info.IsFolder():
		part.listFolder(ctx, src, r)
		return
	case r.info.Broken:
		part.showMessage("broken link → "+text.FileName(r.info.Target), "")
		return
	case r.info.Type != "file" && r.info.Type != "link":
		part.showMessage("a "+cmp.Or(map[string]string{"fifo": "named pipe"}[r.info.Type], r.info.Type), "not read, because reading it could change something")
		return
	}
	data, size, err := src.ReadAt(ctx, r.path, 0, previewHead)
	if err != nil {
		part.Err = err
		return
	}
	part.size, part.start = size, 0
	switch {
	case size == 0 && len(data) == 0:
		part.showMessage("empty", "")
	// Try images and archives first: most of them would count as binary.
	case part.decodePicture(ctx, src, r, data):
	case part.listArchive(ctx, src, r, data):
	case isBinary(data):
		part.kind, part.row = previewHex, hexRowFor(r.w, size)
		part.addLines(data, 0)
	default:
		part.kind, part.lexer, part.encoding = previewText, lexerFor(r.path, data), encodingOf(data)
		part.addLines(data, 0)
	}
}

// showMessage shows a message in place of content.
func (part *Part) showMessage(what, more string) {
	part.kind, part.lexer = previewWords, ""
	part.lines = []previewLine{{text: what}}
	if more != "" {
		part.lines = append(part.lines, previewLine{text: more})
	}
}

// maxEntries is the maximum number of entries shown of a folder or an archive.
const maxEntries = 1000

func (part *Part) listFolder(ctx context.Context, src Source, r Request) {
	entries, omitted, err := src.List(ctx, r.path, maxEntries)
	if err != nil {
		part.Err = err
		return
	}
	if len(entries) == 0 {
		part.showMessage("an empty folder", "")
		return
	}
	part.kind, part.lexer = previewList, ""
	for i := range entries {
		f := &entries[i]
		ink, size := inkText, ""
		if f.IsFolder() {
			ink = inkAccent
		}
		if f.Type == "file" {
			size = units.Bytes(f.Size)
		}
		line := entryLine(int64(i), size, f.Name, ink)
		line.text += text.FileSuffix(f)
		part.lines = append(part.lines, line)
	}
	if omitted > 0 {
		part.lines = append(part.lines, previewLine{text: fmt.Sprintf("and %d more", omitted), ink: inkDim})
	}
}

// entryLine returns the line for an entry of a folder or an archive.
func entryLine(n int64, size, name string, ink lineInk) previewLine {
	return previewLine{off: n, text: text.FileName(name), side: size, ink: ink}
}

// readWindow reads another part of a text or binary file.
func (part *Part) readWindow(ctx context.Context, src Source, r Request) {
	off, n := r.off, r.end-r.off
	if r.ask == needMore && r.kind == previewText && n < previewChunk {
		n = previewChunk
	}
	unit := int64(r.encoding.unitSize())
	if r.kind == previewHex {
		unit = int64(r.row)
	}
	// Start at a whole code unit or row.
	n += off % unit
	off -= off % unit
	data, size, err := src.ReadAt(ctx, r.path, off, n)
	if err != nil {
		part.Err = err
		return
	}
	part.size, part.start = size, off
	if r.kind == previewText && off > 0 && r.ask != needMore { // start with a whole line
		if nl := r.encoding.indexNewline(data); nl >= 0 && nl+int(unit) < len(data) {
			data, part.start = data[nl+int(unit):], off+int64(nl)+unit
		}
	}
	part.addLines(data, part.start)
}

// addLines splits data, which begins at offset off, into lines. It leaves an incomplete last line
// for the next part.
func (part *Part) addLines(data []byte, off int64) {
	part.start = off
	if part.kind == previewHex {
		part.lines, part.end = hexLines(data, off, part.size, part.row)
		return
	}
	atEnd := off+int64(len(data)) >= part.size || part.ask == needBefore
	part.lines, part.end = textLines(data, off, atEnd, part.encoding)
}

// maxLine is the maximum size in bytes of a line on the screen. The rest of a longer line is shown
// as further lines.
const maxLine = 4096

// textLines splits text starting at off into lines.
func textLines(data []byte, off int64, atEnd bool, enc encoding) (lines []previewLine, end int64) {
	cont := false
	for len(data) > 0 {
		nl := enc.indexNewline(data)
		n, next := nl, nl+enc.unitSize()
		switch {
		case nl < 0 && len(data) <= maxLine && !atEnd:
			return lines, off
		case nl < 0:
			n, next = len(data), len(data)
		}
		goesOn := n > maxLine
		if goesOn {
			n = enc.completeLen(data[:maxLine])
			next = n
		}
		text := enc.decode(data[:n])
		if off == 0 {
			text = strings.TrimPrefix(text, "\ufeff") // byte order mark
		}
		lines = append(lines, previewLine{off: off, text: lineText(text), cont: cont})
		cont = goesOn
		data, off = data[next:], off+int64(next)
	}
	return lines, off
}

// tabCells is the distance between tab stops.
const tabCells = 4

// lineText returns a line in a form safe to draw, with tabs expanded.
func lineText(s string) string {
	s = strings.TrimSuffix(s, "\r")
	if text.IsPlain(s) {
		return s
	}
	if !strings.Contains(s, "\t") {
		return text.FileName(s)
	}
	var out strings.Builder
	cells := 0
	for i, part := range strings.Split(s, "\t") {
		if i > 0 {
			n := tabCells - cells%tabCells
			out.WriteString(text.Spaces(n))
			cells += n
		}
		part = text.FileName(part)
		cells += text.Width(part)
		out.WriteString(part)
	}
	return out.String()
}

// isBinary reports whether data is not text. It is binary if it is in no known encoding and
// contains a NUL byte or hardly any valid UTF-8.
func isBinary(data []byte) bool {
	if encodingOf(data) != encodingUTF8 {
		return false
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return true
	}
	bad, n := 0, 0
	for i := 0; i < min(len(data), 8<<10); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 && utf8.FullRune(data[i:]) {
			bad++
		}
		i += size
		n++
	}
	return bad*10 > n*3
}

// hexRow is the number of bytes shown in a row. If the preview is narrow, a row has half as many.
const hexRow = 16

// hexRowFor returns how many bytes of a file with this size fit into a row of w cells: hexRow or
// half as many.
func hexRowFor(w int, size int64) int {
	if w > 0 && w < 1+hexDigits(size)+2+3*hexRow+2+hexRow {
		return hexRow / 2
	}
	return hexRow
}

func hexDigits(size int64) int { return max(len(fmt.Sprintf("%x", size)), 6) }

// hexLines formats bytes as hexadecimal numbers and as characters. A line shows row bytes.
func hexLines(data []byte, off, size int64, row int) (lines []previewLine, end int64) {
	digits := hexDigits(size)
	for len(data) > 0 {
		n := min(row, len(data))
		if n < row && off+int64(n) < size {
			break
		}
		half := min(hexRow/2, n)
		hex := fmt.Sprintf("%-24s", fmt.Sprintf("% x", data[:half])) // three cells per byte
		if row == hexRow {
			hex += fmt.Sprintf(" %-24s", fmt.Sprintf("% x", data[half:n]))
		}
		chars := bytes.Clone(data[:n])
		for i, c := range chars {
			if c < 0x20 || c > 0x7e {
				chars[i] = '.'
			}
		}
		lines = append(lines, previewLine{off: off, text: fmt.Sprintf("%0*x  %s %s", digits, off, hex, chars)})
		data, off = data[n:], off+int64(n)
	}
	return lines, off
}
