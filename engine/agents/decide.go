package agents

import (
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/persist/store"
)

// The sources of what an agent is doing, those first that are trusted most.
const (
	Reported = "report"   // it, or a script, has said so: `tandem agent report`
	Filed    = "file"     // a file that it keeps says so
	Progress = "progress" // OSC 9;4
	Titled   = "title"    // the title that it has given its terminal
	Screened = "screen"   // a question stands at the bottom of its screen
	Reads    = "reads"    // the kernel: it waits for a line, or no longer does
)

// order is that of trust.
var order = [...]string{Reported, Filed, Progress, Titled, Screened, Reads}

// A Decision is what an agent is doing, and from which word that follows.
type Decision struct {
	State  api.AgentState
	Text   string
	Source string
	Since  time.Time
}

// Decide tells what follows from the last word of each source. The source trusted most
// decides, unless one that is trusted less has said something since that ends what the
// first had begun: an agent that reported to work may have been interrupted. A question
// that stands on the screen now counts for more than a title, which is often not set
// anew for it.
func Decide(words []store.AgentWord) Decision {
	best := -1
	for _, source := range order {
		i := slices.IndexFunc(words, func(w store.AgentWord) bool { return w.Source == source })
		if i >= 0 && (best < 0 || outweighs(words[i], words[best])) {
			best = i
		}
	}
	if best < 0 {
		return Decision{State: api.AgentUnknown}
	}
	w := words[best]
	return Decision{State: api.AgentState(w.State), Text: question(words, w), Source: w.Source, Since: w.At}
}

// question is what an agent asks that is blocked by its last word. What it reports names
// the command or the file that it is about, and its screen has at least the question,
// where a file of its own says that there is one.
func question(words []store.AgentWord, last store.AgentWord) string {
	for _, source := range [...]string{Reported, Screened} {
		for _, w := range words {
			if w.Source == source && w.State == string(api.AgentBlocked) && last.State == w.State && w.Text != "" {
				return w.Text
			}
		}
	}
	return last.Text
}

// outweighs reports whether a word counts for more than one of a source that is trusted
// more.
func outweighs(less, more store.AgentWord) bool {
	own := more.Source == Reported || more.Source == Filed
	if less.Source == Screened && !own {
		return true
	}
	if more.Source == Screened || !less.At.After(more.At) {
		return false
	}
	now := api.AgentState(less.State)
	switch api.AgentState(more.State) {
	case api.AgentWorking:
		return now != api.AgentWorking
	case api.AgentBlocked:
		return now == api.AgentWorking || now == api.AgentDone
	case api.AgentDone, api.AgentIdle:
		return now == api.AgentWorking || now == api.AgentBlocked && less.Source != Screened
	}
	return true
}

// hear takes in what a source says now; ok is false if it says nothing any more. A
// source that says the same as before has not spoken anew. What idles after it has
// worked is done.
func hear(words []store.AgentWord, said store.AgentWord, ok bool) []store.AgentWord {
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
	if said.Source != Reported && said.State == string(api.AgentIdle) {
		switch api.AgentState(before.State) {
		case api.AgentWorking, api.AgentBlocked, api.AgentDone:
			said.State = string(api.AgentDone)
		}
	}
	if said.State == before.State && said.Text == before.Text {
		return words
	}
	if said.State == before.State && said.Source != Reported {
		said.At = before.At // it asks the same in other words, or a spinner turns
	}
	words = slices.Clone(words)
	words[i] = said
	return words
}
