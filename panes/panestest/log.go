package panestest

import (
	"regexp"
	"strings"

	"tandem/engine/api"
)

// LogOf answers a request for a log.
func LogOf(log string, in api.ProcessLogInput) api.ProcessLogOutput {
	end := int64(len(log))
	since := int64(0)
	if in.Since != nil {
		if since = *in.Since; since < 0 {
			since += end
		}
		since = max(min(since, end), 0)
	}
	out := api.ProcessLogOutput{Start: since, End: end}
	if in.Grep != "" {
		return grepOf(log, in, since, out)
	}
	size := int64(in.Max)
	if size == 0 {
		size = 64 << 10
	}
	out.NextCursor = min(since+size, end)
	out.Data = log[since:out.NextCursor]
	return out
}

func grepOf(log string, in api.ProcessLogInput, since int64, out api.ProcessLogOutput) api.ProcessLogOutput {
	re := regexp.MustCompile(in.Grep)
	at := int64(0)
	for line := range strings.Lines(log) {
		if re.MatchString(strings.TrimSuffix(line, "\n")) {
			m := api.LogMatch{Offset: at, Text: line}
			if out.Total++; at < since {
				out.Before++
			}
			switch {
			case in.Backward && at < since:
				out.Matches = []api.LogMatch{m}
			case !in.Backward && at >= since && len(out.Matches) == 0:
				out.Matches = append(out.Matches, m)
			}
		}
		at += int64(len(line))
	}
	if out.NextCursor = out.End; in.Backward {
		out.NextCursor = 0
	}
	return out
}
