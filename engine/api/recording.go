package api

// SessionRecord is what recordings are made of.
var SessionRecord = NewOperation[SessionRecordInput, SessionRecordOutput]("session.record",
	"Reads a session's output byte for byte, with its times and the sizes of its terminal.", Read)

// SessionRecordInput is the input of session.record.
type SessionRecordInput struct {
	ID     string `json:"id" jsonschema:"id or name, or the beginning of one that no other has"`
	Since  *int64 `json:"since,omitempty" jsonschema:"absolute offset in the log, 0 for all that is kept; default: from now on, with a repaint"`
	Until  int64  `json:"until,omitempty" jsonschema:"absolute offset to end before; 0 for the end of the log"`
	Max    int    `json:"max,omitempty" jsonschema:"bytes at most; default 64 KiB, at most 1 MiB"`
	WaitMS int    `json:"wait_ms,omitempty" jsonschema:"when there is nothing yet, wait this long for more; at most 50000"`
}

// SessionRecordOutput is the output of session.record.
type SessionRecordOutput struct {
	Repaint    []byte    `json:"repaint,omitempty" jsonschema:"base64, without since: what draws the screen as it is at start on a terminal of its size, pictures by kitty's protocol"`
	Data       []byte    `json:"data,omitempty" jsonschema:"base64: the output from start on, as the program wrote it"`
	Start      int64     `json:"start" jsonschema:"absolute offset of data"`
	NextCursor int64     `json:"next_cursor" jsonschema:"since of the next call"`
	End        int64     `json:"end" jsonschema:"absolute offset behind the last byte written so far"`
	Dropped    int64     `json:"dropped" jsonschema:"bytes before the oldest one kept"`
	Times      []LogTime `json:"times,omitempty" jsonschema:"when parts of data were written, oldest first; the engine remembers that as long as it runs"`
	Sizes      []LogSize `json:"sizes" jsonschema:"sizes that the terminal had during data, oldest first; the first one holds at start"`
	State      State     `json:"state" jsonschema:"the session's state"`
}

func (o *SessionRecordOutput) Bulk() []Member {
	return []Member{
		{Name: "repaint", Data: &o.Repaint},
		{Name: "data", Data: &o.Data},
	}
}

// A LogSize tells the size of a terminal for what its log has from an offset on,
// up to that of the next one.
type LogSize struct {
	Offset int64 `json:"offset" jsonschema:"absolute offset"`
	Cols   int   `json:"cols" jsonschema:"width in cells"`
	Rows   int   `json:"rows" jsonschema:"height in cells"`
}
