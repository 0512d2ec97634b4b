// Package archive unpacks and makes zip and tar archives. What it unpacks stays
// below one folder, whatever an archive says, and within a bound. It knows no
// paths of a machine: it is given open files and folders.
package archive

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
)

// A Bound is how much may be unpacked. Zero values are no bound.
type Bound struct {
	Bytes   int64
	Entries int
}

// BoundFor returns the bound for an archive of size bytes that is unpacked without asking: 20
// times its size, but at least 100 MB and at most 1 GiB.
func BoundFor(size int64) Bound { return Bound{min(max(100<<20, 20*size), 1<<30), 100_000} }

// ErrBound tells that more would be unpacked than the bound allows.
var ErrBound = errors.New("it unpacks to more than the limit")

// errNoArchive tells that a file is of no kind that is known.
var errNoArchive = errors.New("not a zip or tar archive")

// An Archive is open for reading.
type Archive struct {
	zip    *zip.Reader
	stream *bufio.Reader // what was compressed, or a tar
	single bool          // stream is one file
}

// Open finds out what kind of archive a file is.
func Open(f io.ReaderAt, size int64) (*Archive, error) {
	head := make([]byte, 512)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	head = head[:n]
	packed := bufio.NewReaderSize(io.NewSectionReader(f, 0, size), 256<<10)
	for magic, kind := range map[string]string{"\x28\xb5\x2f\xfd": "zstd", "\xfd7zXZ": "xz", "7z\xbc\xaf": "7z", "Rar!": "rar"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return nil, fmt.Errorf("%s is not supported; only zip, tar, tar.gz and tar.bz2 are", kind)
		}
	}
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		z, err := zip.NewReader(f, size)
		return &Archive{zip: z}, err
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		unpacked, err := gzip.NewReader(packed)
		if err != nil {
			return nil, err
		}
		return open(unpacked, true)
	case bytes.HasPrefix(head, []byte("BZh")):
		return open(bzip2.NewReader(packed), true)
	}
	return open(packed, false)
}

// open finds out whether a stream is a tar; one that is none may have been a
// single file that was compressed.
func open(stream io.Reader, compressed bool) (*Archive, error) {
	a := &Archive{stream: bufio.NewReaderSize(stream, 64<<10)}
	head, err := a.stream.Peek(512)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if _, err := tar.NewReader(bytes.NewReader(head)).Next(); err == nil || len(head) == 512 && string(head[257:262]) == "ustar" {
		return a, nil
	}
	if a.single = compressed; !compressed {
		return nil, errNoArchive
	}
	return a, nil
}

// Single reports whether it is one file that was compressed, and no archive.
func (a *Archive) Single() bool { return a.single }

// A budget is what may still be unpacked.
type budget struct {
	ctx   context.Context
	bound Bound
	bytes int64
	files int
}

func (b *budget) entry() error {
	if b.files++; b.bound.Entries > 0 && b.files > b.bound.Entries {
		return ErrBound
	}
	return b.ctx.Err()
}

// copyStep is how much is copied between two looks at the context.
const copyStep = 1 << 20

// copy copies all there is, and fails beyond the bound.
func (b *budget) copy(to io.Writer, from io.Reader) error {
	for {
		if err := b.ctx.Err(); err != nil {
			return err
		}
		n, err := io.CopyN(to, from, copyStep)
		b.bytes += n
		switch {
		case b.bound.Bytes > 0 && b.bytes > b.bound.Bytes:
			return ErrBound
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// Copy writes what a single file holds.
func (a *Archive) Copy(ctx context.Context, to io.Writer, bound Bound) error {
	b := budget{ctx: ctx, bound: bound}
	return b.copy(to, a.stream)
}
