package files

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"unicode/utf8"

	"tandem/engine/screen/vt/scan"
)

const (
	maxLines     = 2000
	maxTextBytes = 50 << 10
	defaultBytes = 1 << 20
	maxBytes     = 16 << 20 // of any answer
	chunk        = 256 << 10
)

// A ReadRequest selects a part of a file.
type ReadRequest struct {
	Path      string
	Offset    int64 // first line, from 1; with Bytes the first byte, from 0
	Limit     int64 // maximum number of lines or bytes; 0 is the default
	Bytes     bool  // read bytes of any file
	Unbounded bool  // no limit of 2000 lines and 50 KB
}

// A ReadResult is a part of a file.
type ReadResult struct {
	Path       string
	Kind       Kind
	MIME       string // of an image
	Size       int64  // of the file
	Text       string // lines with their endings, or bytes in valid UTF-8
	Data       []byte // a whole image, or bytes that are not UTF-8
	FirstLine  int64  // of Text; 0 if nothing is at the offset
	LastLine   int64
	TotalLines int64
	ReadBytes  int64 // bytes of the file in Text or Data
	Cut        Cut   // why there is more; "" at the end of the file
	LineBytes  int64 // with CutLine: length of the line
}

// A Cut is the reason why a part ends before the file does.
type Cut string

const (
	CutLimit Cut = "limit" // the caller's limit
	CutLines Cut = "lines" // the maximum number of lines
	CutBytes Cut = "bytes" // the maximum number of bytes
	CutLine  Cut = "line"  // the first line alone exceeds the maximum of bytes
)

// ReadAll reads a whole file of at most limit bytes.
func (t *Tree) ReadAll(ctx context.Context, path string, limit int64) ([]byte, error) {
	var all []byte
	for {
		part, err := t.Read(ctx, ReadRequest{Path: path, Bytes: true, Offset: int64(len(all)), Limit: maxBytes})
		if err != nil {
			return nil, err
		}
		if part.Size > limit {
			return nil, errorf(TooLarge, "read %s: it is larger than %d MiB", path, limit>>20)
		}
		all = append(append(all, part.Text...), part.Data...)
		if part.ReadBytes == 0 || int64(len(all)) >= part.Size {
			return all, nil
		}
	}
}

// Read reads a part of a text file, a whole image, or any range of bytes. Files of any length are
// read as a stream; of a binary file, only size and kind are returned.
func (t *Tree) Read(ctx context.Context, r ReadRequest) (out ReadResult, err error) {
	err = t.runConfined(func() (err error) {
		out, err = t.readPath(ctx, r)
		return err
	})
	return out, err
}

func (t *Tree) readPath(ctx context.Context, r ReadRequest) (ReadResult, error) {
	if r.Offset < 0 || r.Limit < 0 {
		return ReadResult{}, errorf(Invalid, "read %s: offset and limit cannot be negative", r.Path)
	}
	p, err := t.locate(r.Path, lookup{verb: "read"})
	if err != nil {
		return ReadResult{}, err
	}
	defer p.close()
	f, info, err := p.openRegular("read")
	if err != nil {
		return ReadResult{}, err
	}
	defer f.Close()
	out := ReadResult{Path: p.path, Size: info.Size()}
	if err := out.readContent(ctx, f, r); err != nil {
		if ctx.Err() != nil {
			return ReadResult{}, ctx.Err()
		}
		return ReadResult{}, fileError("read", p.path, err)
	}
	return out, nil
}

func (out *ReadResult) readContent(ctx context.Context, f *os.File, r ReadRequest) error {
	head := make([]byte, sampleSize)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	head = head[:n]
	out.Kind, out.MIME = detectKind(head)
	rest := io.MultiReader(bytes.NewReader(head), f)
	switch {
	case r.Bytes:
		return out.readByteRange(f, r)
	case out.Kind == Image:
		return out.readImage(rest)
	case out.Kind == Binary:
		return nil
	}
	return out.readLines(ctx, rest, r)
}

// readImage reads a whole image, or sets Cut if it is too large.
func (out *ReadResult) readImage(from io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(from, maxBytes+1))
	if err != nil {
		return err
	}
	if len(data) > maxBytes {
		out.Cut = CutBytes
		return nil
	}
	out.Data, out.ReadBytes = data, int64(len(data))
	return nil
}

// readByteRange reads a range of bytes. A range that would end within a rune ends before it, so that
// text stays valid and the next range begins with that rune.
func (out *ReadResult) readByteRange(f *os.File, r ReadRequest) error {
	limit := r.Limit
	if limit == 0 {
		limit = defaultBytes
	}
	limit = min(limit, maxBytes)
	data, err := io.ReadAll(io.NewSectionReader(f, r.Offset, limit+1))
	if err != nil {
		return err
	}
	if int64(len(data)) > limit {
		data, out.Cut = data[:limit], CutLimit
		if whole := scan.CompleteLen(data); whole > 0 {
			if utf8.Valid(data[:whole]) {
				data = data[:whole]
			}
		}
	}
	out.ReadBytes = int64(len(data))
	if utf8.Valid(data) {
		out.Text = string(data)
	} else {
		out.Data = data
	}
	return nil
}

// readLines reads a range of lines and counts all lines.
func (out *ReadResult) readLines(ctx context.Context, from io.Reader, r ReadRequest) error {
	s := newLineScan(r)
	buf := make([]byte, chunk)
	for {
		n, err := from.Read(buf)
		s.addChunk(buf[:n])
		switch {
		case errors.Is(err, io.EOF):
			s.finishLine()
			s.fillResult(out)
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
	}
}
