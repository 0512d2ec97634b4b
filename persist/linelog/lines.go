package linelog

import (
	"bytes"
	"context"
	"errors"
	"io"

	"tandem/persist/sparse"
)

// lineBlock bounds what is held of a log in memory. A line ends with a newline,
// which belongs to it; one that has none for a whole block, aligned in the file,
// is broken at the end of that block. So lines are shorter than two blocks, and
// where they begin does not depend on where reading began.
const (
	lineBlock = 1 << 20
	lineMask  = lineBlock - 1
)

// chunk sizes of a search for newlines: lines are mostly short.
const (
	firstChunk = 4 << 10
	chunk      = 128 << 10
)

// LineStart is where the line that has the byte at off begins. At the end of
// the log it is where the next line would.
func LineStart(r Reader, off int64) (int64, error) {
	start := r.Start()
	off = max(min(off, r.End()), start)
	block := off &^ lineMask
	at, err := lastNewline(r, max(block, start), off)
	if err != nil || at >= 0 {
		return at + 1, err
	}
	if block <= start {
		return start, nil
	}
	at, err = lastNewline(r, max(block-lineBlock, start), block)
	if err != nil || at >= 0 {
		return at + 1, err
	}
	if block-lineBlock < start {
		return start, nil
	}
	return block, nil
}

// LineEnd is where the line that has the byte at off ends, behind its newline
// if it has one.
func LineEnd(r Reader, off int64) (int64, error) {
	start, end := r.Start(), r.End()
	off = max(off, start)
	for block := off &^ lineMask; off < end; block, off = block+lineBlock, block+lineBlock {
		to := min(block+lineBlock, end)
		if at, err := nextNewline(r, off, to); err != nil || at >= 0 {
			return at + 1, err
		}
		if broken, err := breaks(r, start, off, to); err != nil || broken {
			return to, err
		}
	}
	return end, nil
}

// breaks reports whether a line is broken at to, given that there is no newline
// from off, in the same block, up to there.
func breaks(r Reader, start, off, to int64) (bool, error) {
	block := off &^ lineMask
	if to != block+lineBlock || block < start {
		return false, nil
	}
	at, err := lastNewline(r, block, off)
	return at < 0, err
}

// lastNewline and nextNewline are the offsets of the last and the first newline
// in a part of a log, -1 if there is none.
func lastNewline(r Reader, from, to int64) (int64, error) {
	buf := make([]byte, 0, firstChunk)
	for to > from {
		p := grown(&buf, to-from)
		if _, err := readFull(r, p, to-int64(len(p))); err != nil {
			return -1, err
		}
		to -= int64(len(p))
		if i := bytes.LastIndexByte(p, '\n'); i >= 0 {
			return to + int64(i), nil
		}
	}
	return -1, nil
}

func nextNewline(r Reader, from, to int64) (int64, error) {
	buf := make([]byte, 0, firstChunk)
	for from < to {
		p := grown(&buf, to-from)
		n, err := readFull(r, p, from)
		if i := bytes.IndexByte(p[:n], '\n'); i >= 0 {
			return from + int64(i), nil
		}
		if err != nil {
			return -1, err
		}
		from += int64(n)
	}
	return -1, nil
}

// grown gives a buffer for up to most bytes: a small one first, then a large
// one.
func grown(buf *[]byte, most int64) []byte {
	if len(*buf) > 0 && cap(*buf) < chunk {
		*buf = make([]byte, chunk)
	}
	*buf = (*buf)[:min(int64(cap(*buf)), most)]
	return *buf
}

// readFull fills p. Of a log that has become shorter meanwhile it gives
// io.ErrUnexpectedEOF.
func readFull(r Reader, p []byte, off int64) (int, error) {
	n, err := r.ReadAt(p, off)
	if n == len(p) {
		return n, nil
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// FindLine is where a line begins: n counts from 0 at the first line kept, or
// negative from the end, where -1 is the last line, whole or not. Beyond the
// last line it is the end, before the first one the start.
func FindLine(ctx context.Context, r Reader, n int64) (int64, error) {
	for {
		find := lineFromStart
		if n < 0 {
			find = lineFromEnd
		}
		at, err := find(ctx, r, n)
		if !errors.Is(err, sparse.ErrDropped) {
			return at, err
		}
	}
}

func lineFromStart(ctx context.Context, r Reader, n int64) (int64, error) {
	start, end := r.Start(), r.End()
	if n == 0 {
		return start, nil
	}
	buf := make([]byte, chunk)
	seen := false // a newline in this block
	for at := start; at < end; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		block := at &^ lineMask
		seen = seen && at != block
		p := buf[:min(chunk-at%chunk, end-at)]
		if _, err := readFull(r, p, at); err != nil {
			return 0, err
		}
		count := int64(bytes.Count(p, []byte{'\n'}))
		if count >= n {
			return at + nthNewline(p, n) + 1, nil
		}
		n, seen, at = n-count, seen || count > 0, at+int64(len(p))
		if at == block+lineBlock && !seen && block >= start {
			if n--; n == 0 {
				return at, nil
			}
		}
	}
	return end, nil
}

// nthNewline is where p has its nth newline, counted from 1.
func nthNewline(p []byte, n int64) int64 {
	at := -1
	for ; n > 0; n-- {
		at += 1 + bytes.IndexByte(p[at+1:], '\n')
	}
	return int64(at)
}

func lineFromEnd(ctx context.Context, r Reader, n int64) (int64, error) {
	start, end := r.Start(), r.End()
	buf := make([]byte, chunk)
	seen := false // a newline in this block
	for to := end; to > start; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		block := (to - 1) &^ lineMask
		seen = seen && to != block+lineBlock
		from := max((to-1)&^(chunk-1), start)
		p := buf[:to-from]
		if _, err := readFull(r, p, from); err != nil {
			return 0, err
		}
		for {
			i := bytes.LastIndexByte(p, '\n')
			if i < 0 {
				break
			}
			seen = true
			// Where the log ends no line begins.
			if at := from + int64(i) + 1; at < end {
				if n++; n == 0 {
					return at, nil
				}
			}
			p = p[:i]
		}
		to = from
		if brk := block + lineBlock; to == block && !seen && brk < end {
			if n++; n == 0 {
				return brk, nil
			}
		}
	}
	return start, nil
}
