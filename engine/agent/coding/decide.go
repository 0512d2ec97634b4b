package coding

import (
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/persist/store"
)

// The sources of an agent's state, most trusted first.
const (
	SourceReport   = "report"   // said by the agent or a script: `tandem agent report`
	SourceFile     = "file"     // a file kept by the agent
	SourceProgress = "progress" // OSC 9;4
	SourceTitle    = "title"    // the terminal's title
	SourceScreen   = "screen"   // a question at the bottom of the screen
	SourceReads    = "reads"    // the kernel: the agent waits for a line, or no longer does
)

// trustOrder lists the sources, most trusted first.
var trustOrder = [...]string{SourceReport, SourceFile, SourceProgress, SourceTitle, SourceScreen, SourceReads}

// A Decision is an agent's state and the source it is based on.
type Decision struct {
	State  api.AgentState
	Text   string
	Source string
	Since  time.Time
}

// Decide derives an agent's state from the last word of each source. The most trusted source
// decides, unless a less trusted one has since reported something that ends that state: an agent
// that reported working may have been interrupted. A question that is on the screen takes
// precedence over a title, because few agents change their title when they ask.
func Decide(words []store.AgentWord) Decision {
	best := -1
	for _, source := range trustOrder {
		i := slices.IndexFunc(words, func(w store.AgentWord) bool { return w.Source == source })
		if i >= 0 && (best < 0 || outweighs(words[i], words[best])) {
			best = i
		}
	}
	if best < 0 {
		return Decision{State: api.AgentUnknown}
	}
	w := words[best]
	return Decision{State: api.AgentState(w.State), Text: questionOf(words, w), Source: w.Source, Since: w.At}
}

// questionOf returns the question of a blocked agent. A report names the command or file in
// question and is preferred; the screen has the question if the agent's own file says only that
// there is one.
func questionOf(words []store.AgentWord, last store.AgentWord) string {
	for _, source := range [...]string{SourceReport, SourceScreen} {
		for _, w := range words {
			if w.Source == source && w.State == string(api.AgentBlocked) && last.State == w.State && w.Text != "" {
				return w.Text
			}
		}
	}
	return last.Text
}

// outweighs reports whether word takes precedence over trusted, the word of a more trusted source.
func outweighs(word, trusted store.AgentWord) bool {
	own := trusted.Source == SourceReport || trusted.Source == SourceFile
	// A question on the screen is certain; only the agent's own word outweighs it.
	if word.Source == SourceScreen && !own {
		return true
	}
	if trusted.Source == SourceScreen || !word.At.After(trusted.At) {
		return false
	}
	now := api.AgentState(word.State)
	switch api.AgentState(trusted.State) {
	case api.AgentWorking:
		return now != api.AgentWorking
	case api.AgentBlocked:
		return now == api.AgentWorking || now == api.AgentDone
	case api.AgentDone, api.AgentIdle:
		return now == api.AgentWorking || now == api.AgentBlocked && word.Source != SourceScreen
	}
	return true
}

// updateWord records what a source says now; ok is false if it no longer says anything. Repeating
// the same state is not news. An agent idle after working counts as done.
func updateWord(words []store.AgentWord, said store.AgentWord, ok bool) []store.AgentWord {
	i := slices.IndexFunc(words, func(w store.AgentWord) bool { return w.Source == said.Source })
	switch {
	case i < 0 && !ok:
		return words
	case !ok:
		return slices.Delete(slices.Clone(words), i, i+1)
	case i < 0:
		return append(slices.Clone(words), said)
	}
	before := words[i]
	if said.Source != SourceReport && said.State == string(api.AgentIdle) {
		switch api.AgentState(before.State) {
		case api.AgentWorking, api.AgentBlocked, api.AgentDone:
			said.State = string(api.AgentDone)
		}
	}
	if said.State == before.State && said.Text == before.Text {
		return words
	}
	if said.State == before.State && said.Source != SourceReport {
		said.At = before.At // the question was reworded or a spinner turned
		// Callers keep earlier slices, so never change one in place.
	}
	words = slices.Clone(words)
	words[i] = said
	return words
}
