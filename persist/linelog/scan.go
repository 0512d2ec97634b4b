package linelog

import (
	"bytes"
	"errors"
	"io"

	"tandem/persist/sparse"
)

// A region is a sequence of lines of a log.
type region struct {
	base  int64 // offset of data
	data  []byte
	whole bool // the last line can no longer grow
}

// lineAt returns the line from lo to hi. hi is the index of the line's newline, if it has one.
func (g region) lineAt(lo, hi int) Line {
	l := Line{Offset: g.base + int64(lo), Text: TrimLine(g.data[lo:hi]), Next: g.base + int64(hi), Whole: g.whole}
	if hi < len(g.data) {
		l.Next++
		l.Whole = true
	}
	return l
}

// A forwardScan reads part of a log in regions of whole lines, one block at a time. buf holds the
// beginning of a line that continues in the next block, and then that block.
type forwardScan struct {
	r     Reader
	start int64 // of the log
	to    int64
	at    int64 // next offset to read
	buf   []byte
	base  int64 // offset of buf
	have  int   // bytes in buf
	used  int   // bytes of the last region
}

func newForwardScan(r Reader, from, to int64) *forwardScan {
	start := r.Start()
	from = max(from, start)
	to = min(to, r.End())
	size := max(min(to-from, 2*lineBlock), 0)
	return &forwardScan{r: r, start: start, to: to, at: from, base: from, buf: make([]byte, size)}
}

// nextRegion returns the next region. It is valid until the following call. ok is false at the end.
func (sc *forwardScan) nextRegion() (region, bool, error) {
	sc.have = copy(sc.buf, sc.buf[sc.used:sc.have])
	sc.base += int64(sc.used)
	sc.used = 0
	for sc.at < sc.to {
		g, ok, err := sc.readBlock(min(sc.at&^lineMask+lineBlock, sc.to))
		switch {
		case errors.Is(err, sparse.ErrDropped):
			// The start of the log was freed meanwhile, so drop the partial line and continue at
			// the new start.
			sc.start = sc.r.Start()
			sc.at = max(sc.at, sc.start)
			sc.base, sc.have = sc.at, 0
		case err != nil:
			return region{}, false, ignoreTruncation(err)
		case ok:
			return g, true, nil
		}
	}
	return region{}, false, nil
}

// readBlock reads up to the offset upto, in the same block. ok is false if no line ends there.
func (sc *forwardScan) readBlock(upto int64) (region, bool, error) {
	p := sc.buf[sc.have : sc.have+int(upto-sc.at)]
	if _, err := readFull(sc.r, p, sc.at); err != nil {
		return region{}, false, err
	}
	line, broken := bytes.LastIndexByte(p, '\n')+1, false
	if line == 0 {
		var err error
		if broken, err = isBroken(sc.r, sc.start, sc.at, upto); err != nil {
			return region{}, false, err
		}
	}
	sc.at = upto
	switch {
	case broken || upto == sc.to:
		sc.used = sc.have + len(p)
	case line > 0:
		sc.used = sc.have + line
	}
	sc.have += len(p)
	return region{sc.base, sc.buf[:sc.used], broken || line == len(p)}, sc.used > 0, nil
}

// ignoreTruncation returns nil for the error about a truncated log, because its lines just end
// there.
func ignoreTruncation(err error) error {
	if err == io.ErrUnexpectedEOF {
		return nil
	}
	return err
}

// A backwardScan reads part of a log in regions of whole lines, from its end. buf holds a block
// and, after it, the rest of a line that begins in the block or earlier. If the first block is
// partial, the rest can be longer than a block.
type backwardScan struct {
	r      Reader
	start  int64 // of the log
	lowest int64
	to     int64 // end of the next read
	buf    []byte
	block  int    // end of the block in buf
	rest   int    // bytes in buf after block
	keep   []byte // start of the last block, the next rest
	whole  bool   // the last line of the rest can no longer grow
}

// newBackwardScan returns a scan that uses the memory of a scratch until the next one does.
func newBackwardScan(r Reader, from, to int64, s *Scratch) (*backwardScan, error) {
	start := r.Start()
	to = max(min(to, r.End()), start)
	line, err := LineStart(r, to)
	if err != nil && !errors.Is(err, sparse.ErrDropped) {
		return nil, err
	}
	lowest := max(from, start)
	block := max(min(to-lowest, lineBlock), 0)
	return &backwardScan{
		r: r, start: start, lowest: lowest, to: to, whole: line == to,
		block: int(block), buf: s.grow(int(block + max(min(to-lowest, 2*lineBlock), 0))),
	}, nil
}

func (sc *backwardScan) nextRegion() (region, bool, error) {
	if sc.keep != nil {
		sc.rest = copy(sc.buf[sc.block:], sc.keep)
		sc.keep, sc.whole = nil, true
	}
	for sc.to > sc.lowest {
		g, err := sc.readBlock(max((sc.to-1)&^lineMask, sc.lowest))
		switch {
		case errors.Is(err, sparse.ErrDropped):
			sc.start = sc.r.Start()
			sc.lowest = max(sc.lowest, sc.start)
		case err != nil:
			return region{}, false, ignoreTruncation(err)
		case len(g.data) > 0:
			return g, true, nil
		}
	}
	g := region{sc.to, sc.buf[sc.block : sc.block+sc.rest], sc.whole}
	sc.rest = 0
	return g, len(g.data) > 0 && g.base >= sc.lowest, nil
}

// readBlock reads from an offset in the block before the rest. The region is empty if no line is
// complete yet.
func (sc *backwardScan) readBlock(from int64) (region, error) {
	n := int(sc.to - from)
	p := sc.buf[sc.block-n : sc.block]
	if _, err := readFull(sc.r, p, from); err != nil {
		return region{}, err
	}
	to := sc.to
	sc.to = from
	first := bytes.IndexByte(p, '\n') + 1
	if first == 0 && !(n == lineBlock && from >= sc.start) {
		sc.rest = copy(sc.buf[sc.block:], sc.buf[sc.block-n:sc.block+sc.rest])
		return region{}, nil
	}
	g := region{to, sc.buf[sc.block : sc.block+sc.rest], sc.whole}
	if first > 0 {
		g.base, g.data = from+int64(first), sc.buf[sc.block-n+first:sc.block+sc.rest]
		p = p[:first]
	}
	if len(g.data) == 0 {
		sc.rest, sc.whole = copy(sc.buf[sc.block:], p), true
		return region{}, nil
	}
	sc.keep = p
	return g, nil
}
