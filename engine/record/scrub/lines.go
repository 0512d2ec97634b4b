package scrub

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"unicode/utf8"

	"tandem/engine/screen/rendered"
	"tandem/engine/screen/vt/scan"
	"tandem/persist/linelog"
	"tandem/persist/sparse"
)

const (
	readSize = 1 << 20
	maxLine  = 4 << 20 // a longer line is searched in parts
	overlap  = 64 << 10
)

// inLog returns the spans to overwrite in a part of a log, with a sample of the first match.
func (p *pattern) inLog(ctx context.Context, log linelog.Reader, from, to int64) (found []span, first []byte, err error) {
	var buf []byte
	at := max(from, log.Start()) // offset of buf
	for {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		next := at + int64(len(buf))
		n := int(min(max(to-next, 0), readSize))
		buf = slices.Grow(buf, n)[:len(buf)+n]
		n, err = log.ReadAt(buf[len(buf)-n:], next)
		buf = buf[:int(next-at)+n]
		if errors.Is(err, sparse.ErrDropped) {
			at, buf = log.Start(), nil
			continue
		}
		if err != nil && err != io.EOF {
			return nil, nil, err
		}
		end := bytes.LastIndexByte(buf, '\n') + 1
		last := n == 0
		if last {
			end = len(buf)
		}
		found, first = p.addLines(found, first, buf[:end], at)
		if end == 0 && len(buf) > maxLine {
			found, first = p.addLines(found, first, buf, at)
			end = resume(buf)
		}
		at += int64(end)
		buf = append(buf[:0], buf[end:]...)
		if last {
			return merged(found), first, nil
		}
	}
}

// addLines appends the spans to overwrite in whole lines at an offset.
func (p *pattern) addLines(found []span, first, lines []byte, at int64) ([]span, []byte) {
	// A line of colours alone shows what it prints; only another one may match and not show it.
	every := p.all || p.isShown(lines)
	if !every && rendered.IsPlain(lines) {
		return found, first
	}
	for line := range bytes.Lines(lines) {
		line := bytes.TrimSuffix(line, []byte{'\n'})
		if !every && rendered.OnlyColours(line) {
			at += int64(len(line)) + 1
			continue
		}
		for _, s := range p.inLine(line) {
			if found = append(found, span{s[0] + at, s[1] + at}); first == nil {
				first = p.sample(line)
			}
		}
		at += int64(len(line)) + 1
	}
	return found, first
}

const (
	sampleBefore = 30 // bytes of a sample before the match
	maxSample    = 80
)

// sample returns the text around the first match in a line, with all matches overwritten.
func (p *pattern) sample(line []byte) []byte {
	printed, _, _ := rendered.Printed(line)
	matches := p.inText(printed.Text)
	if len(matches) == 0 {
		return nil
	}
	overwrite(printed.Text, matches)
	text := printed.Text[max(int(matches[0][0])-sampleBefore, 0):]
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	text = text[:min(len(text), maxSample)]
	return text[:scan.CompleteLen(text)]
}

// resume returns the offset in a part of a long line at which the next part begins, so that the two
// overlap. It does not cut an escape sequence.
func resume(part []byte) int {
	at := len(part) - overlap
	_, controls, _ := rendered.Printed(part)
	for _, c := range controls {
		if 0 < c[0] && c[0] < at && at < c[1] {
			return c[0]
		}
	}
	return at
}
