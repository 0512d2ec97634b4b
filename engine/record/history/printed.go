package history

import (
	"context"

	"tandem/engine/api"
)

// RunsAt returns the commands of a session that printed lines of its log, given the offsets of their
// starts and ends; nil for those printed by none, or by one that is not in the history.
func (h *History) RunsAt(ctx context.Context, session string, lines [][2]int64) (runs []*api.Command, err error) {
	runs = make([]*api.Command, len(lines))
	err = h.viewIndex(ctx, func(x *historyIndex) error {
		process, known := x.processNumber(session)
		kind, used := x.findWord(KindSession)
		if !known || !used {
			return nil
		}
		printed := make([]*historyEntry, len(lines)) // of several, the last one
		for i := range x.rows {
			e := &x.rows[i]
			if e.process != process || e.kind != kind {
				continue
			}
			for n, line := range lines {
				// A command's first line begins with the prompt's marks, before its output.
				if e.logStart < line[1] && (e.logEnd > line[0] || e.running) {
					printed[n] = e
				}
			}
		}
		for n, e := range printed {
			if e != nil {
				c := x.toCommand(e)
				runs[n] = &c
			}
		}
		return nil
	})
	if err != nil {
		return nil, historyError("search", err)
	}
	return runs, nil
}
