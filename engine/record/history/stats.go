package history

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"tandem/engine/api"
	"tandem/engine/base/names"
)

// statsRows is the default length of the lists of history.stats.
const statsRows = 10

func (h *History) Stats(ctx context.Context, in api.HistoryStatsInput) (out api.HistoryStatsOutput, err error) {
	if in.Limit < 0 {
		return out, api.Errorf(api.CodeInvalid, "count history: limit cannot be negative")
	}
	err = h.viewIndex(ctx, func(x *historyIndex) error {
		out = x.countRows(in)
		return nil
	})
	if err != nil {
		return api.HistoryStatsOutput{}, historyError("count", err)
	}
	return out, nil
}

// countRows returns statistics of the rows.
func (x *historyIndex) countRows(in api.HistoryStatsInput) api.HistoryStatsOutput {
	var out api.HistoryStatsOutput
	texts, failures := make([]int, x.texts.count()), make([]int, x.texts.count())
	days := make(map[string]int)
	folders, actors := make(map[string]int), make(map[string]int)
	var chosen map[uint32]bool
	if in.Actor != "" {
		chosen = x.matchActors(in.Actor)
	}
	for i := range x.rows {
		e := &x.rows[i]
		if in.Since != nil && e.started < in.Since.UnixMicro() {
			continue
		}
		actors[x.words[e.actor]]++
		if chosen != nil && !chosen[e.actor] {
			continue
		}
		out.Total++
		if e.hasFailed() {
			out.Failed++
			failures[e.text]++
		}
		texts[e.text]++
		days[time.UnixMicro(e.started).Format(time.DateOnly)]++
		if e.cwd != noWord {
			folders[x.words[e.cwd]]++
		}
	}
	programs, commands, failing := make(map[string]int), make(map[string]int), make(map[string]int)
	for n, count := range texts {
		if count > 0 {
			out.Unique++
			line := x.texts.line(uint32(n))
			commands[line] = count
			if failures[n] > 0 {
				failing[line] = failures[n]
			}
			programs[programOf(line)] += count
		}
	}
	limit := cmp.Or(in.Limit, statsRows)
	out.Programs, out.Commands = topCounts(programs, limit), topCounts(commands, limit)
	out.Folders, out.Actors = topCounts(folders, limit), topCounts(actors, limit)
	out.Failures, out.Days = topCounts(failing, limit), newestDays(days, limit)
	return out
}

// newestDays returns the last days, newest first.
func newestDays(days map[string]int, limit int) []api.NameCount {
	all := make([]api.NameCount, 0, len(days))
	for _, day := range slices.Sorted(maps.Keys(days)) {
		all = append(all, api.NameCount{Name: day, Count: days[day]})
	}
	slices.Reverse(all)
	return all[:min(limit, len(all))]
}

// programOf returns the first word of a command line, without assignments before it. Shell
// operators separate words too.
func programOf(line string) string {
	first := ""
	between := func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(";|&<>()", r) }
	for word := range strings.FieldsFuncSeq(line, between) {
		if first == "" {
			first = word
		}
		if name, _, set := strings.Cut(word, "="); !set || !names.IsVariable(name) {
			return word
		}
	}
	return first
}

func topCounts(counts map[string]int, limit int) []api.NameCount {
	all := make([]api.NameCount, 0, len(counts))
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, api.NameCount{Name: name, Count: counts[name]})
	}
	slices.SortStableFunc(all, func(a, b api.NameCount) int { return cmp.Compare(b.Count, a.Count) })
	return all[:min(limit, len(all))]
}
