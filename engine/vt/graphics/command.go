package graphics

import (
	"bytes"
	"math"
	"strconv"
)

// A Command is one of kitty's graphics commands.
type Command struct {
	values  ['z' + 1]int64 // by key; letters that stand for something are their code
	has     ['z' + 1]bool
	control []byte
	Payload []byte // as it came: base64
}

// ParseCommand reads what stands behind "APC G". The command refers to b. A command
// of which something cannot be understood is none.
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
		n, ok := value(pair[0], pair[2:])
		if !ok {
			return c, false
		}
		c.values[pair[0]], c.has[pair[0]] = n, true
	}
	return c, true
}

// value reads what is given for a key: a letter for some, else a number of 32 bits.
func value(key byte, b []byte) (n int64, ok bool) {
	switch key {
	case 'a', 'd', 'o', 't':
		return int64(b[0]), len(b) == 1
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	return n, err == nil && n >= math.MinInt32 && n <= math.MaxUint32
}

// Has says that a key is given.
func (c *Command) Has(key byte) bool { return c.has[key] }

// Letter is the letter given for a key, or another one if none is.
func (c *Command) Letter(key, otherwise byte) byte {
	if !c.has[key] {
		return otherwise
	}
	return byte(c.values[key])
}

// ID is the number of 32 bits given for a key, 0 if none is.
func (c *Command) ID(key byte) uint32 { return uint32(c.values[key]) }

// Int is the number given for a key, from 0 to a limit.
func (c *Command) Int(key byte, limit int) int {
	return int(min(max(c.values[key], 0), int64(limit)))
}

// Z is the z-index.
func (c *Command) Z() int32 { return int32(c.values['z']) }

// Action is what is to be done; to transmit a picture if nothing is said.
func (c *Command) Action() byte { return c.Letter('a', 't') }
