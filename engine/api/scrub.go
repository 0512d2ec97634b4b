package api

import "slices"

// These are the operations that overwrite what was printed.
var (
	ScrubFind = NewOperation[ScrubInput, ScrubOutput]("scrub.find",
		"Finds the text that scrub.run would overwrite.", Read,
		Row[ScrubInput]{Access: UserOnly, IDs: (*ScrubInput).ids})
	ScrubRun = NewOperation[ScrubInput, ScrubOutput]("scrub.run",
		"Overwrites text with x in all files of the data directory and on all screens, and restarts the engine.", Destructive,
		Row[ScrubInput]{Access: UserOnly, Outlives: true, Repeat: RepeatAlways, IDs: (*ScrubInput).ids})
)

// ScrubInput is the input of scrub.find and scrub.run. It needs one of Match, Texts and Last. Text is
// found within a line, as printed or as shown.
type ScrubInput struct {
	Match string   `json:"match,omitempty" jsonschema:"regular expression (RE2) of the text" audit:"-"`
	Texts []string `json:"texts,omitempty" jsonschema:"the text: each of these, in the case given" audit:"-"`
	Last  string   `json:"last,omitempty" jsonschema:"a session: the line and the output of the last command that has ended there"`
	IDs   []string `json:"ids,omitempty" jsonschema:"sessions and processes whose output, record and commands are searched"`
	All   bool     `json:"all,omitempty" jsonschema:"search those of all sessions and processes"`
}

func (in *ScrubInput) ids() []*string {
	in.IDs = slices.Clone(in.IDs) // the caller keeps its list
	ids := pointersTo(in.IDs)
	if in.Last != "" {
		ids = append(ids, &in.Last)
	}
	return ids
}

// ScrubOutput is the output of scrub.find and scrub.run.
type ScrubOutput struct {
	Places  []ScrubPlaces `json:"places" jsonschema:"where the text is"`
	Command string        `json:"command,omitempty" jsonschema:"the command, if \"last\" is given"`
}

// Count returns the number of all places.
func (o ScrubOutput) Count() (n int) {
	for _, p := range o.Places {
		n += p.Count
	}
	return n
}

// ScrubPlaces are places of one kind, of one session or process.
type ScrubPlaces struct {
	Where  string `json:"where" jsonschema:"output, screen, record, history, kept output, agents' calls, engine log, environment, tmux or other files"`
	ID     string `json:"id,omitempty" jsonschema:"id of the session or process"`
	Name   string `json:"name,omitempty" jsonschema:"its name, if it has a record"`
	Count  int    `json:"count" jsonschema:"number of places"`
	Sample string `json:"sample,omitempty" jsonschema:"the first line with the text, which is overwritten here already"`
}
