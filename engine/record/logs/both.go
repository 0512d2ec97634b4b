package logs

import (
	"bytes"
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/engine/screen/vt/scan"
)

// streams are the names of the two files of a split log.
var streams = [...]string{"stdout", "stderr"}

// A bothQuery is a process.log in progress that merges the two files of a split log by the time of
// writing. If the time is unknown or equal, stdout comes first. Lines stay whole; the start of a
// line determines its time.
type bothQuery struct {
	in     api.ProcessLogInput
	logs   *Logs
	halves [len(streams)]*logQuery
}

func newBothQuery(s *Logs, in api.ProcessLogInput, p Source) (*bothQuery, error) {
	b := &bothQuery{in: in, logs: s}
	if in.FromLine != nil {
		return nil, api.Errorf(api.CodeInvalid, "read log of %s: from_line counts the lines of one stream", p.Name).
			WithHint("give stream, stdout or stderr")
	}
	for i, stream := range streams {
		one := in
		one.Stream, one.SinceStderr, one.Times = stream, nil, false
		if stream == "stderr" && in.Since != nil && (in.SinceStderr != nil || *in.Since >= 0) {
			one.Since = in.SinceStderr
		}
		q, err := newLogQuery(one, p)
		if err != nil {
			return nil, err
		}
		b.in.Max, b.in.Limit = q.in.Max, q.in.Limit
		if b.fromEnd() {
			q.in.Max = MaxRead
		}
		q.logs, b.halves[i] = s, q
	}
	return b, nil
}

// fromEnd reports whether the request is for the end of both streams together.
func (b *bothQuery) fromEnd() bool {
	return b.in.Grep == "" && (b.in.Tail > 0 || b.in.Since != nil && *b.in.Since < 0)
}

// readNow returns the output available now.
func (b *bothQuery) readNow(ctx context.Context) (api.ProcessLogOutput, error) {
	var outs [len(streams)]api.ProcessLogOutput
	for i, q := range b.halves {
		var err error
		if outs[i], err = q.readNow(ctx); err != nil {
			return outs[0], err
		}
	}
	out := outs[0]
	if b.in.Grep != "" {
		out.Matches = b.mergeMatches(&outs)
	} else {
		b.mergeText(&out, &outs)
	}
	for i, q := range b.halves {
		next := outs[i].NextCursor
		q.since = &next
	}
	out.Start, out.NextCursor = outs[0].Start, outs[0].NextCursor
	out.Stderr = &api.LogPlace{Start: outs[1].Start, NextCursor: outs[1].NextCursor, End: outs[1].End, Dropped: outs[1].Dropped}
	return out, nil
}

// A piece is a part of one stream that was written at one time, as far as known.
type piece struct {
	stream int
	from   int64
	text   []byte
	at     time.Time // zero if unknown
}

func (p piece) end() int64 { return p.from + int64(len(p.text)) }

// mergeText merges the text read from both streams. It sets where the result starts and ends in
// each of them.
func (b *bothQuery) mergeText(out *api.ProcessLogOutput, outs *[len(streams)]api.ProcessLogOutput) {
	var all []piece
	whole := true
	for i, q := range b.halves {
		all = append(all, b.pieces(i, outs[i])...)
		whole = whole && len(q.text) < q.in.Max
	}
	// Stable, so that each stream keeps its own order.
	slices.SortStableFunc(all, func(p, q piece) int { return p.at.Compare(q.at) })
	if b.fromEnd() && whole {
		all = b.keepLast(all)
	}
	for i := range outs {
		first := slices.IndexFunc(all, func(p piece) bool { return p.stream == i })
		if outs[i].Start = outs[i].NextCursor; first >= 0 {
			outs[i].Start = all[first].from
			outs[i].NextCursor = all[first].from
		}
	}
	var data []byte
	for _, p := range firstBytes(all, max(b.in.Max, utf8.UTFMax)) {
		outs[p.stream].NextCursor = p.end()
		if !b.in.Exact {
			p.text = bytes.ToValidUTF8(p.text, []byte("\uFFFD"))
		}
		data = append(data, p.text...)
		part := api.LogPart{Stream: streams[p.stream], Bytes: len(p.text)}
		if !p.at.IsZero() {
			part.At = &p.at
		}
		out.Parts = append(out.Parts, part)
	}
	out.Data, out.DataBytes = InJSON(data, b.in.Exact)
}

// pieces splits the text read from a stream by write time.
func (b *bothQuery) pieces(stream int, out api.ProcessLogOutput) []piece {
	q := b.halves[stream]
	var all []piece
	next := piece{stream: stream, from: out.Start}
	for _, t := range b.logs.timesOf(q.source, out.Start, out.NextCursor) {
		begin := out.Start + int64(lineFrom(q.text, int(t.Offset-out.Start)))
		if begin > next.from {
			next.text = q.text[next.from-out.Start : begin-out.Start]
			all = append(all, next)
			next.from = begin
		}
		next.at = t.At
	}
	if next.text = q.text[next.from-out.Start:]; len(next.text) > 0 {
		all = append(all, next)
	}
	return all
}

// lineFrom returns the first start of a line at or after n.
func lineFrom(text []byte, n int) int {
	if n <= 0 {
		return 0
	}
	if i := bytes.IndexByte(text[n-1:], '\n'); i >= 0 {
		return n + i
	}
	return len(text)
}

// keepLast keeps the end of the text: as many lines or bytes as requested.
func (b *bothQuery) keepLast(all []piece) []piece {
	n, inLines := b.in.Tail, b.in.Tail > 0 // n lines or bytes are still to be kept
	if !inLines {
		n = int(min(-*b.in.Since, int64(len(streams)*MaxRead))) // a negative since counts from the end
	}
	for i, p := range slices.Backward(all) {
		cut := len(p.text) - n
		if inLines {
			cut, n = lastLines(p.text, n)
		} else if cut < 0 {
			n -= len(p.text)
		}
		if cut >= 0 {
			for cut < len(p.text) && !utf8.RuneStart(p.text[cut]) {
				cut++
			}
			all[i].from, all[i].text = p.from+int64(cut), p.text[cut:]
			return all[i:]
		}
	}
	return all
}

// lastLines returns the start of the last n lines of text. If there are fewer, at is -1 and more is
// the number of missing lines.
func lastLines(text []byte, n int) (at, more int) {
	at = len(bytes.TrimSuffix(text, []byte{'\n'}))
	for ; n > 0 && at >= 0; n-- {
		at = bytes.LastIndexByte(text[:at], '\n')
	}
	if n > 0 {
		return -1, n
	}
	return at + 1, 0
}

// firstBytes truncates pieces to limit bytes, between characters.
func firstBytes(all []piece, limit int) []piece {
	for i, p := range all {
		if len(p.text) > limit {
			all[i].text = p.text[:scan.CompleteLen(p.text[:limit])]
			return all[:i+1]
		}
		limit -= len(p.text)
	}
	return all
}

// mergeMatches merges the matches in both streams, up to the requested number. It sets where the
// next search starts in each of them.
func (b *bothQuery) mergeMatches(outs *[len(streams)]api.ProcessLogOutput) []api.LogMatch {
	type match struct {
		api.LogMatch
		stream int
		at     time.Time
	}
	var all []match
	for i, q := range b.halves {
		for _, m := range outs[i].Matches {
			m.Stream = streams[i]
			found := match{LogMatch: m, stream: i}
			if t := b.logs.timesOf(q.source, m.Offset, m.Offset+1); len(t) > 0 {
				found.at = t[0].At
			}
			all = append(all, found)
		}
	}
	slices.SortStableFunc(all, func(p, q match) int {
		if b.in.Backward {
			return q.at.Compare(p.at)
		}
		return p.at.Compare(q.at)
	})
	given := min(len(all), b.in.Limit)
	// The next search must find the omitted matches again. A backward search continues before the
	// last match returned from the stream or, if there is none, where this search began.
	for _, m := range slices.Backward(all[given:]) {
		outs[m.stream].NextCursor = m.Offset
		if b.in.Backward {
			outs[m.stream].NextCursor = outs[m.stream].Start
		}
	}
	var found []api.LogMatch
	for _, m := range all[:given] {
		if b.in.Backward && outs[m.stream].NextCursor > m.Offset {
			outs[m.stream].NextCursor = m.Offset
		}
		found = append(found, m.LogMatch)
	}
	return found
}
