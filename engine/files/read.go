package files

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"unicode/utf8"

	"tandem/engine/vt/scan"
)

const (
	mostLines     = 2000
	mostTextBytes = 50 << 10
	defaultBytes  = 1 << 20
	mostBytes     = 16 << 20 // of any answer
	chunk         = 256 << 10
)

// A ReadRequest says which part of a file is wanted.
type ReadRequest struct {
	Path      string
	Offset    int64 // first line, from 1; with Bytes the first byte, from 0
	Limit     int64 // lines or bytes at most; 0 is the default
	Bytes     bool  // bytes, of any file
	Unbounded bool  // lines without the bound of 2000 and 50 KB
}

// A ReadResult is a part of a file.
type ReadResult struct {
	Path       string
	Kind       Kind
	MIME       string // of an image
	Size       int64  // of the file
	Text       string // lines with their endings, or bytes that are UTF-8
	Data       []byte // an image whole, or bytes that are not UTF-8
	FirstLine  int64  // of Text; 0 if there is none at the offset
	LastLine   int64
	TotalLines int64
	ReadBytes  int64 // bytes of the file in Text or Data
	Cut        Cut   // why there is more
	LineBytes  int64 // with CutLine: length of that line
}

// A Cut is why a part of a file does not go to its end.
type Cut string

const (
	CutLimit Cut = "limit" // as the caller wished
	CutLines Cut = "lines" // the bound of lines
	CutBytes Cut = "bytes" // the bound of bytes
	CutLine  Cut = "line"  // the first line alone is over the bound of bytes
)

// ReadAll reads a whole file, of at most so many bytes.
func (t *Tree) ReadAll(ctx context.Context, path string, most int64) ([]byte, error) {
	var all []byte
	for {
		part, err := t.Read(ctx, ReadRequest{Path: path, Bytes: true, Offset: int64(len(all)), Limit: mostBytes})
		if err != nil {
			return nil, err
		}
		if part.Size > most {
			return nil, errorf(TooLarge, "read %s: it is larger than %d MiB", path, most>>20)
		}
		all = append(append(all, part.Text...), part.Data...)
		if part.ReadBytes == 0 || int64(len(all)) >= part.Size {
			return all, nil
		}
	}
}

// Read reads a part of a text file, an image whole, or any bytes. It reads the
// file as a stream, however long it is; a binary file is only told about.
func (t *Tree) Read(ctx context.Context, r ReadRequest) (out ReadResult, err error) {
	err = t.confined(func() (err error) {
		out, err = t.read(ctx, r)
		return err
	})
	return out, err
}

func (t *Tree) read(ctx context.Context, r ReadRequest) (ReadResult, error) {
	if r.Offset < 0 || r.Limit < 0 {
		return ReadResult{}, errorf(Invalid, "read %s: offset and limit cannot be negative", r.Path)
	}
	p, err := t.locate(r.Path, way{verb: "read"})
	if err != nil {
		return ReadResult{}, err
	}
	defer p.close()
	f, info, err := p.open("read")
	if err != nil {
		return ReadResult{}, err
	}
	defer f.Close()
	out := ReadResult{Path: p.path, Size: info.Size()}
	if err := out.read(ctx, f, r); err != nil {
		if ctx.Err() != nil {
			return ReadResult{}, ctx.Err()
		}
		return ReadResult{}, failure("read", p.path, err)
	}
	return out, nil
}

func (out *ReadResult) read(ctx context.Context, f *os.File, r ReadRequest) error {
	head := make([]byte, sampleSize)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	head = head[:n]
	out.Kind, out.MIME = sniff(head)
	rest := io.MultiReader(bytes.NewReader(head), f)
	switch {
	case r.Bytes:
		return out.bytes(f, r)
	case out.Kind == Image:
		return out.image(rest)
	case out.Kind == Binary:
		return nil
	}
	return out.lines(ctx, rest, r)
}

// image gives a picture as a whole, or only tells that it is too large.
func (out *ReadResult) image(from io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(from, mostBytes+1))
	if err != nil {
		return err
	}
	if len(data) > mostBytes {
		out.Cut = CutBytes
		return nil
	}
	out.Data, out.ReadBytes = data, int64(len(data))
	return nil
}

// bytes gives a part by bytes. One that ends within a rune ends before it, so
// that text stays text and the next part begins with the rune.
func (out *ReadResult) bytes(f *os.File, r ReadRequest) error {
	limit := r.Limit
	if limit == 0 {
		limit = defaultBytes
	}
	limit = min(limit, mostBytes)
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

// lines gives a part by lines and counts all of them.
func (out *ReadResult) lines(ctx context.Context, from io.Reader, r ReadRequest) error {
	s := newLineScan(r)
	buf := make([]byte, chunk)
	for {
		n, err := from.Read(buf)
		s.add(buf[:n])
		switch {
		case errors.Is(err, io.EOF):
			s.end()
			s.report(out)
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
	}
}
