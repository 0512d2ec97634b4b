package graphics

import (
	"bytes"
	"math"
	"strconv"
)

// A Command is one of kitty's graphics commands.
type Command struct {
	values  ['z' + 1]int64 // by key; letter values are their character codes
	has     ['z' + 1]bool
	control []byte
	Payload []byte // base64, not decoded
}

// ParseCommand parses the bytes after "APC G". The command refers to b. ok is false if any part is
// invalid.
func ParseCommand(b []byte) (c Command, ok bool) {
	control, payload, _ := bytes.Cut(b, []byte{';'})
	c.control, c.Payload = control, payload
	for len(control) > 0 {
		var pair []byte
		pair, control, _ = bytes.Cut(control, []byte{','})
		if len(pair) == 0 {
			continue
		}
		if len(pair) < 3 || pair[1] != '=' || pair[0] > 'z' || pair[0] < 'A' {
			return c, false
		}
		n, ok := parseValue(pair[0], pair[2:])
		if !ok {
			return c, false
		}
		c.values[pair[0]], c.has[pair[0]] = n, true
	}
	return c, true
}

// parseValue parses the value of a key: a letter for some keys, otherwise a number of 32 bits.
func parseValue(key byte, b []byte) (n int64, ok bool) {
	switch key {
	case 'a', 'd', 'o', 't':
		return int64(b[0]), len(b) == 1
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	return n, err == nil && n >= math.MinInt32 && n <= math.MaxUint32
}

// Has reports whether a key is given.
func (c *Command) Has(key byte) bool { return c.has[key] }

// Letter returns the letter given for a key, or the value of otherwise if the command has none.
func (c *Command) Letter(key, otherwise byte) byte {
	if !c.has[key] {
		return otherwise
	}
	return byte(c.values[key])
}

// ID returns the 32-bit number given for a key; 0 if none.
func (c *Command) ID(key byte) uint32 { return uint32(c.values[key]) }

// Int returns the number given for a key, clamped to 0…limit.
func (c *Command) Int(key byte, limit int) int {
	return int(min(max(c.values[key], 0), int64(limit)))
}

// Z returns the z-index.
func (c *Command) Z() int32 { return int32(c.values['z']) }

// Action returns the action; by default t, for transmitting a picture.
func (c *Command) Action() byte { return c.Letter('a', 't') }
