package rendered

import "bytes"

// A Trace is text of a line of output. From has, for each byte of the text, the offset in the line of
// the byte that it came from, or -1 for a blank that the line does not contain.
type Trace struct {
	Text []byte
	From []int32
}

// Printed returns the text of a line of output without its escape sequences and control characters,
// whether or not it was overwritten later in the line. controls are the bounds of these in the line,
// and moves reports whether one of them moves the cursor or erases text. Where moves is false,
// AppendText returns the same text.
func Printed(line []byte) (t Trace, controls [][2]int, moves bool) {
	next := newControls()
	for at := 0; at < len(line); {
		end := next.find(line, at)
		t.Text = append(t.Text, line[at:end]...)
		for ; at < end; at++ {
			t.From = append(t.From, int32(at))
		}
		if at < len(line) {
			at += controlLen(line[at:])
			controls = append(controls, [2]int{end, at})
			moves = moves || movesCursor(line[end:at]) && (line[end] != '\r' || at < len(line))
		}
	}
	return t, controls, moves
}

// Shown returns the text that AppendText returns for a line of output.
func Shown(line []byte) (t Trace) {
	for _, cell := range drawLine(bytes.TrimRight(line, "\r"), nil).cells {
		t.Text = append(t.Text, cell.text...)
		for i := range cell.text {
			from := cell.from
			if from >= 0 {
				from += int32(i)
			}
			t.From = append(t.From, from)
		}
	}
	return t
}
