// Package archive extracts and creates zip and tar archives. Whatever an archive contains,
// extraction stays below one folder and within a bound. The package gets open files and folders
// from its callers and resolves no paths itself.
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

// A Bound limits how much may be unpacked. Zero values mean no limit.
type Bound struct {
	Bytes   int64
	Entries int
}

// BoundFor returns the bound for an archive of size bytes that is unpacked without asking: 20
// times its size, but at least 100 MB and at most 1 GiB.
func BoundFor(size int64) Bound { return Bound{min(max(100<<20, 20*size), 1<<30), 100_000} }

// ErrBound is returned when an archive unpacks to more than the bound.
var ErrBound = errors.New("it unpacks to more than the limit")

// errNoArchive is returned for a file of unknown format.
var errNoArchive = errors.New("not a zip or tar archive")

// An Archive is an archive opened for reading.
type Archive struct {
	zip    *zip.Reader
	stream *bufio.Reader // decompressed data: a tar or a single file
	single bool          // stream is a single file, not a tar
}

// Open detects the format of an archive.
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
		return openStream(unpacked, true)
	case bytes.HasPrefix(head, []byte("BZh")):
		return openStream(bzip2.NewReader(packed), true)
	}
	return openStream(packed, false)
}

// openStream detects whether a stream is a tar. If not, it must be a single compressed file.
func openStream(stream io.Reader, compressed bool) (*Archive, error) {
	a := &Archive{stream: bufio.NewReaderSize(stream, 64<<10)}
	head, err := a.stream.Peek(512)
	if err != nil && err != io.EOF {
		return nil, err
	}
	// Older tar formats have no magic, so try to read a header; "ustar" is enough if that header is
	// damaged.
	if _, err := tar.NewReader(bytes.NewReader(head)).Next(); err == nil || len(head) == 512 && string(head[257:262]) == "ustar" {
		return a, nil
	}
	if a.single = compressed; !compressed {
		return nil, errNoArchive
	}
	return a, nil
}

// Single reports whether the archive is just one compressed file.
func (a *Archive) Single() bool { return a.single }

// A budget counts what has been unpacked against a bound.
type budget struct {
	ctx   context.Context
	bound Bound
	bytes int64
	files int
}

func (b *budget) countEntry() error {
	if b.files++; b.bound.Entries > 0 && b.files > b.bound.Entries {
		return ErrBound
	}
	return b.ctx.Err()
}

// copyStep is how many bytes are copied between checks of the context.
const copyStep = 1 << 20

// copyAll copies everything, or fails with ErrBound.
func (b *budget) copyAll(to io.Writer, from io.Reader) error {
	for {
		if err := b.ctx.Err(); err != nil {
			return err
		}
		// The size in a header may be a lie: count the bytes.
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

// Copy writes the content of a single compressed file.
func (a *Archive) Copy(ctx context.Context, to io.Writer, bound Bound) error {
	b := budget{ctx: ctx, bound: bound}
	return b.copyAll(to, a.stream)
}
