package preview

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"strings"

	"tandem/engine/base/units"
	"tandem/panes/kit/text"
)

// maxUnpacked limits how much of a compressed archive is unpacked, in bytes.
const maxUnpacked = 64 << 20

// listArchive lists the entries of an archive. It returns false if the file is not an archive.
func (part *Part) listArchive(ctx context.Context, src Source, r Request, head []byte) bool {
	file := &fileReader{ctx: ctx, src: src, path: r.path, size: part.size}
	stream := io.NewSectionReader(file, 0, part.size)
	var entries []archiveEntry
	var whole bool
	switch {
	// An empty archive starts with its end record.
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		var err error
		if entries, whole, err = listZip(file); errors.Is(err, zip.ErrFormat) {
			part.showMessage("zip archive", "damaged")
			return true
		}
	case len(head) > 262 && string(head[257:262]) == "ustar":
		entries, whole = listTar(stream)
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		unpacked, err := gzip.NewReader(stream)
		if err != nil {
			return false
		}
		// A small file may unpack to a huge one.
		if entries, whole = listTar(io.LimitReader(unpacked, maxUnpacked)); entries == nil {
			return part.showCompressed(io.NewSectionReader(file, 0, part.size))
		}
	case bytes.HasPrefix(head, []byte("BZh")):
		entries, whole = listTar(io.LimitReader(bzip2.NewReader(stream), maxUnpacked))
	}
	if entries == nil {
		return false
	}
	part.kind, part.lexer = previewList, ""
	for i, e := range entries {
		part.lines = append(part.lines, e.previewLine(int64(i)))
	}
	if !whole {
		part.lines = append(part.lines, previewLine{text: "        and more", ink: inkDim})
	}
	part.note = text.Thousands(len(entries)) + " entries"
	switch {
	case !whole:
		part.note = "more than " + part.note
	case len(entries) == 1:
		part.note = "1 entry"
	}
	return true
}

// showCompressed shows the beginning of a compressed file that is not an archive. It returns false
// if the content is not compressed text.
func (part *Part) showCompressed(packed io.Reader) bool {
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		return false
	}
	data, err := io.ReadAll(io.LimitReader(unpacked, previewHead))
	if err != nil && len(data) == 0 || isBinary(data) {
		return false
	}
	part.kind, part.lexer = previewList, ""
	part.lines, _ = textLines(data, 0, true, encodingOf(data))
	part.note = "unpacked"
	if len(data) == previewHead {
		part.lines = append(part.lines, previewLine{text: "and more", ink: inkDim})
	}
	return true
}

// An archiveEntry is an entry of an archive.
type archiveEntry struct {
	name string
	size int64
	dir  bool
}

func (a archiveEntry) previewLine(n int64) previewLine {
	if a.dir {
		return entryLine(n, "", a.name, inkAccent)
	}
	return entryLine(n, units.Bytes(a.size), a.name, inkText)
}

// listZip lists a zip archive; whole is false if there are more entries.
func listZip(file *fileReader) (entries []archiveEntry, whole bool, err error) {
	z, err := zip.NewReader(file, file.size)
	if err != nil && z == nil {
		return nil, false, err
	}
	entries = []archiveEntry{}
	for _, f := range z.File {
		if len(entries) == maxEntries {
			return entries, false, nil
		}
		entries = append(entries, archiveEntry{f.Name, int64(f.UncompressedSize64), strings.HasSuffix(f.Name, "/")})
	}
	return entries, true, nil
}

// listTar lists the entries of a tar archive; nil if the stream is not a tar archive. whole is
// false if there are more entries.
func listTar(stream io.Reader) (entries []archiveEntry, whole bool) {
	t := tar.NewReader(stream)
	for {
		h, err := t.Next()
		switch {
		case err == io.EOF && entries != nil:
			return entries, true
		case err != nil:
			return entries, false
		case len(entries) == maxEntries:
			return entries, false
		}
		entries = append(entries, archiveEntry{h.Name, h.Size, h.Typeflag == tar.TypeDir})
	}
}

// A fileReader reads a file from a source in pieces.
type fileReader struct {
	ctx  context.Context
	src  Source
	path string
	size int64

	piece []byte // of the file, starting at off
	off   int64
}

// ReadAt keeps the piece read last, because archives are read in small steps.
func (f *fileReader) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		at := off + int64(n)
		if f.ctx.Err() != nil {
			return n, f.ctx.Err()
		}
		if at >= f.size {
			return n, io.EOF
		}
		if at < f.off || at >= f.off+int64(len(f.piece)) {
			// Read at least a chunk, because each read is a request to the engine.
			piece, _, err := f.src.ReadAt(f.ctx, f.path, at, min(max(int64(len(p)-n), previewChunk), f.size-at))
			if err != nil {
				return n, err
			}
			if len(piece) == 0 {
				return n, io.ErrUnexpectedEOF
			}
			f.piece, f.off = piece, at
		}
		n += copy(p[n:], f.piece[at-f.off:])
	}
	return n, nil
}
