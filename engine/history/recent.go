package history

import (
	"slices"
	"strings"
	"sync"

	"tandem/engine/secrets"
)

// recentMost bounds the list of recent commands; the oldest give way.
const recentMost = 10_000

// Recent is the list of what agents ran with success, oldest first. It
// is there as long as the engine. Its zero value is empty.
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
	r.append(lines)
	return slices.Clone(r.lines)
}

func (r *Recent) Replace(lines []string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = nil
	r.append(lines)
	return slices.Clone(r.lines)
}

func (r *Recent) append(lines []string) {
	for _, l := range lines {
		if strings.TrimSpace(l) != "" {
			r.lines = append(r.lines, secrets.RedactLine(l))
		}
	}
	if n := len(r.lines); n > recentMost {
		r.lines = slices.Delete(r.lines, 0, n-recentMost)
	}
}
