package history

import (
	"slices"
	"strings"
	"sync"

	"tandem/engine/base/secrets"
)

// maxRecent is the maximum length of the list of recent commands. The oldest are dropped.
const maxRecent = 10_000

// Recent is the list of commands run successfully by agents, the oldest first. It is lost when the
// engine exits. The zero value is empty.
type Recent struct {
	mu    sync.Mutex
	lines []string
}

func (r *Recent) List() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lines)
}

func (r *Recent) Add(lines []string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.appendLines(lines)
	return slices.Clone(r.lines)
}

func (r *Recent) Replace(lines []string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = nil
	r.appendLines(lines)
	return slices.Clone(r.lines)
}

func (r *Recent) appendLines(lines []string) {
	for _, l := range lines {
		if strings.TrimSpace(l) != "" {
			r.lines = append(r.lines, secrets.RedactLine(l))
		}
	}
	if n := len(r.lines); n > maxRecent {
		r.lines = slices.Delete(r.lines, 0, n-maxRecent)
	}
}
