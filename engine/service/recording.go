package service

import (
	"context"

	"tandem/engine/api"
	"tandem/engine/base/names"
	"tandem/engine/record/logs"
	"tandem/persist/store"
)

// recordSession serves session.record.
func (s *Sessions) recordSession(ctx context.Context, in api.SessionRecordInput) (out api.SessionRecordOutput, err error) {
	if in.Until < 0 {
		return out, api.Errorf(api.CodeInvalid, "record %s: until cannot be negative", names.Shown(in.ID))
	}
	session, view, err := s.Control.OpenSession(ctx, in.ID)
	if err != nil {
		return out, err
	}
	if view.IsPrivate() {
		return out, api.Errorf(api.CodeForbidden, "record %s: it is a private session, and a recording would be a file", view.Name)
	}
	if in.Since == nil {
		if out.Repaint, out.Start, err = session.Repaint(ctx); err != nil {
			return out, err
		}
		out.NextCursor, out.End, out.State = out.Start, 0, view.State
		out.Dropped, out.End = session.Kept()
	} else if err = s.recordLog(ctx, in, view.ID, &out); err != nil {
		return out, err
	}
	resizes, err := s.Store.ReadResizes(view.ID)
	if err != nil {
		return out, err
	}
	out.Sizes = sizesBetween(resizes, out.Start, out.NextCursor, view)
	return out, nil
}

// recordLog reads a part of the log.
func (s *Sessions) recordLog(ctx context.Context, in api.SessionRecordInput, id string, out *api.SessionRecordOutput) error {
	limit := in.Max
	if in.Until > 0 && *in.Since >= 0 {
		left := max(in.Until-*in.Since, 0)
		limit = int(min(left, int64(min(max(limit, 0), logs.MaxRead))))
		if in.Max == 0 {
			limit = int(min(left, logs.DefaultRead))
		}
	}
	if limit < 0 || in.WaitMS < 0 {
		return api.Errorf(api.CodeInvalid, "record %s: max and wait_ms cannot be negative", names.Shown(in.ID))
	}
	log, err := readLog(ctx, s.Control, s.Logs, api.ProcessLogInput{ID: id, Since: in.Since, Max: limit, WaitMS: in.WaitMS, Exact: true, Times: true})
	if err != nil {
		return err
	}
	if out.Data, err = log.Bytes(); err != nil {
		return err
	}
	out.Start, out.NextCursor, out.End = log.Start, log.NextCursor, log.End
	out.Dropped, out.Times, out.State = log.Dropped, log.Times, log.State
	// If since counts from the end, the read above was not limited by until.
	if in.Until > 0 && out.NextCursor > in.Until {
		out.NextCursor = max(in.Until, out.Start)
		out.Data = out.Data[:out.NextCursor-out.Start]
	}
	return nil
}

// sizesBetween returns the sizes that a terminal had while a part of its log was written. A size
// set exactly at the end is included, so that a follower learns of it at once.
func sizesBetween(resizes []store.Resize, from, to int64, view api.Process) []api.LogSize {
	now := api.LogSize{Offset: from}
	if view.Terminal != nil {
		now.Cols, now.Rows = view.Terminal.Cols, view.Terminal.Rows
	}
	sizes := []api.LogSize{now}
	for _, r := range resizes {
		size := api.LogSize{Offset: max(r.Offset, from), Cols: r.Cols, Rows: r.Rows}
		switch {
		case r.Offset <= from:
			sizes[0] = size
		case r.Offset <= to:
			sizes = append(sizes, size)
		}
	}
	return sizes
}
