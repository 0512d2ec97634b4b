package vt

// maxKittyStack is how many sets of flags a program may push.
const maxKittyStack = 16

const allKittyFlags = 31 // all flags defined by the protocol

// A kittyStack is the state of the kitty keyboard protocol's progressive enhancement
// (sw.kovidgoyal.net/kitty/keyboard-protocol). Each screen has its own.
type kittyStack struct {
	stack [maxKittyStack]uint8
	n     int // entries in use after the first, which always exists
}

func (k *kittyStack) flags() uint8 { return k.stack[k.n] }

// push adds a set of flags, and drops the oldest if the stack is full.
func (k *kittyStack) push(flags uint8) {
	if k.n == maxKittyStack-1 {
		copy(k.stack[:], k.stack[1:])
		k.n--
	}
	k.n++
	k.stack[k.n] = flags
}

// pop removes n sets. Removing more than there are clears all flags.
func (k *kittyStack) pop(n int) {
	if n > k.n {
		*k = kittyStack{}
		return
	}
	k.n -= n
}

// setKittyFlags implements CSI > u (push), CSI < u (pop) and CSI = u (set).
func (t *host) setKittyFlags(prefix byte) {
	k := &t.store.scr.kitty
	flags := uint8(t.param(0, 0) & allKittyFlags)
	switch prefix {
	case '>':
		k.push(flags)
	case '<':
		k.pop(t.param(0, 1))
	case '=':
		switch t.param(1, 1) {
		case 1:
			k.stack[k.n] = flags
		case 2:
			k.stack[k.n] |= flags
		case 3:
			k.stack[k.n] &^= flags
		}
	}
}

func (t *host) reportKitty() { t.replyf("\x1b[?%du", t.store.scr.kitty.flags()) }

// setModifyKeys implements XTMODKEYS for modifyOtherKeys, the only resource programs use.
func (t *host) setModifyKeys() {
	if t.ps.n == 0 || t.param(0, 0) == 4 {
		t.page.mode.keys.modifyOther = uint8(min(t.param(1, 0), 2))
	}
}

// reportModifyKeys implements XTQMODKEYS.
func (t *host) reportModifyKeys() {
	if t.param(0, 0) == 4 {
		t.replyf("\x1b[>4;%dm", t.page.mode.keys.modifyOther)
	}
}
