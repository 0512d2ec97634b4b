package api

// SessionRecord is the source of recordings.
var SessionRecord = NewOperation[SessionRecordInput, SessionRecordOutput]("session.record",
	"Reads a session's output byte for byte, with its times and the sizes of its terminal.", Read,
	Row[SessionRecordInput]{Access: Unrestricted, IDs: (*SessionRecordInput).ids})

// SessionRecordInput is the input of session.record.
type SessionRecordInput struct {
	ID     string `json:"id" jsonschema:"id, unique prefix of an id, or name"`
	Since  *int64 `json:"since,omitempty" jsonschema:"absolute offset in the log, 0 for everything kept; default: from now on, with a repaint"`
	Until  int64  `json:"until,omitempty" jsonschema:"absolute offset at which to stop; 0 for the end of the log"`
	Max    int    `json:"max,omitempty" jsonschema:"maximum bytes; default 64 KiB, at most 1 MiB"`
	WaitMS int    `json:"wait_ms,omitempty" jsonschema:"milliseconds to wait for output if there is none yet; at most 50000"`
}

// SessionRecordOutput is the output of session.record.
type SessionRecordOutput struct {
	Repaint    []byte    `json:"repaint,omitempty" jsonschema:"if \"since\" is missing: output in base64 that draws the screen as it was at \"start\", on a terminal of its size; pictures use kitty's protocol"`
	Data       []byte    `json:"data,omitempty" jsonschema:"the unchanged output from \"start\" on, in base64"`
	Start      int64     `json:"start" jsonschema:"absolute offset of \"data\""`
	NextCursor int64     `json:"next_cursor" jsonschema:"pass this as \"since\" in the next call"`
	End        int64     `json:"end" jsonschema:"absolute offset after the last byte written so far"`
	Dropped    int64     `json:"dropped" jsonschema:"bytes before the oldest one kept"`
	Times      []LogTime `json:"times,omitempty" jsonschema:"when parts of \"data\" were written, oldest first; known only for output since the engine started"`
	Sizes      []LogSize `json:"sizes" jsonschema:"sizes of the terminal while \"data\" was printed, oldest first; the first is the size at the beginning of \"data\""`
	State      State     `json:"state" jsonschema:"the session's state"`
}

func (o *SessionRecordOutput) Bulk() []Member {
	return []Member{
		{Name: "repaint", Data: &o.Repaint},
		{Name: "data", Data: &o.Data},
	}
}

// A LogSize is the size of a terminal while its log was written, from Offset up to the Offset of
// the next LogSize.
type LogSize struct {
	Offset int64 `json:"offset" jsonschema:"absolute offset from which the size applies"`
	Cols   int   `json:"cols" jsonschema:"width in cells"`
	Rows   int   `json:"rows" jsonschema:"height in cells"`
}
