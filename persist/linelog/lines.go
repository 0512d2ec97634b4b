package linelog

import (
	"bytes"
	"context"
	"errors"
	"io"

	"tandem/persist/sparse"
)

// lineBlock limits the memory used for a log. Blocks are aligned in the file. A line includes its
// newline. A line that fills a whole block without a newline is broken at the end of the block. So
// lines are shorter than two blocks, and their starts do not depend on where reading began.
const (
	lineBlock = 1 << 20
	lineMask  = lineBlock - 1
)

// These are the sizes of reads that search for a newline. Most lines are short, so the first read
// is small.
const (
	firstChunk = 4 << 10
	maxChunk   = 128 << 10
)

// LineStart returns the start of the line that contains off. At the end of the log, that is the
// start of the next line.
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

// LineEnd returns the end of the line that contains off, after its newline if it has one.
func LineEnd(r Reader, off int64) (int64, error) {
	start, end := r.Start(), r.End()
	off = max(off, start)
	for block := off &^ lineMask; off < end; block, off = block+lineBlock, block+lineBlock {
		to := min(block+lineBlock, end)
		if at, err := nextNewline(r, off, to); err != nil || at >= 0 {
			return at + 1, err
		}
		if broken, err := isBroken(r, start, off, to); err != nil || broken {
			return to, err
		}
	}
	return end, nil
}

// isBroken reports whether a line is broken at the offset end. off and end are in the same block,
// without a newline between them.
func isBroken(r Reader, start, off, end int64) (bool, error) {
	block := off &^ lineMask
	if end != block+lineBlock || block < start {
		return false, nil
	}
	at, err := lastNewline(r, block, off)
	return at < 0, err
}

// lastNewline returns the offset of the last newline between from and to, or -1.
func lastNewline(r Reader, from, to int64) (int64, error) {
	buf := make([]byte, 0, firstChunk)
	for to > from {
		p := growBuffer(&buf, to-from)
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

// nextNewline returns the offset of the first newline between from and to, or -1.
func nextNewline(r Reader, from, to int64) (int64, error) {
	buf := make([]byte, 0, firstChunk)
	for from < to {
		p := growBuffer(&buf, to-from)
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

// growBuffer returns a buffer of at most limit bytes. It is small on the first call, and large
// later.
func growBuffer(buf *[]byte, limit int64) []byte {
	if len(*buf) > 0 && cap(*buf) < maxChunk {
		*buf = make([]byte, maxChunk)
	}
	*buf = (*buf)[:min(int64(cap(*buf)), limit)]
	return *buf
}

// readFull fills p. It returns io.ErrUnexpectedEOF if the log was truncated.
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

// FindLine returns the start of line n. Lines are counted from 0 at the first line kept, or
// backwards from -1 at the last line, complete or not. If n is after the last line, FindLine
// returns the end. If it is before the first line, FindLine returns the start.
func FindLine(ctx context.Context, r Reader, n int64) (int64, error) {
	for {
		find := findFromStart
		if n < 0 {
			find = findFromEnd
		}
		at, err := find(ctx, r, n)
		// The start of the log was freed during the search, so count again from the new start.
		if !errors.Is(err, sparse.ErrDropped) {
			return at, err
		}
	}
}

func findFromStart(ctx context.Context, r Reader, n int64) (int64, error) {
	start, end := r.Start(), r.End()
	if n == 0 {
		return start, nil
	}
	buf := make([]byte, maxChunk)
	seen := false // a newline was found in this block
	for at := start; at < end; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		block := at &^ lineMask
		seen = seen && at != block
		p := buf[:min(maxChunk-at%maxChunk, end-at)]
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

// nthNewline returns the index of the nth newline in p, counted from 1.
func nthNewline(p []byte, n int64) int64 {
	at := -1
	for ; n > 0; n-- {
		at += 1 + bytes.IndexByte(p[at+1:], '\n')
	}
	return int64(at)
}

func findFromEnd(ctx context.Context, r Reader, n int64) (int64, error) {
	start, end := r.Start(), r.End()
	buf := make([]byte, maxChunk)
	seen := false // a newline was found in this block
	for to := end; to > start; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		block := (to - 1) &^ lineMask
		seen = seen && to != block+lineBlock
		from := max((to-1)&^(maxChunk-1), start)
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
			// No line begins at the end of the log.
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
