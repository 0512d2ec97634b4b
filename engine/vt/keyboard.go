package vt

// kittyDepth is how many sets of flags a program may push.
const kittyDepth = 16

const kittyAll = 31 // all flags that the protocol defines

// A kittyStack is the progressive enhancement of the kitty keyboard protocol
// (sw.kovidgoyal.net/kitty/keyboard-protocol); each screen has its own.
type kittyStack struct {
	stack [kittyDepth]uint8
	n     int // entries in use behind the first, which is always there
}

func (k *kittyStack) flags() uint8 { return k.stack[k.n] }

// push adds a set of flags; the oldest goes when there are too many.
func (k *kittyStack) push(flags uint8) {
	if k.n == kittyDepth-1 {
		copy(k.stack[:], k.stack[1:])
		k.n--
	}
	k.n++
	k.stack[k.n] = flags
}

// pop takes n sets away; with the last one all flags are off.
func (k *kittyStack) pop(n int) {
	if n > k.n {
		*k = kittyStack{}
		return
	}
	k.n -= n
}

// setKitty does CSI > u (push), CSI < u (pop) and CSI = u (set).
func (t *host) setKitty(prefix byte) {
	k := &t.scr.kitty
	flags := uint8(t.param(0, 0) & kittyAll)
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

func (t *host) reportKitty() { t.replyf("\x1b[?%du", t.scr.kitty.flags()) }

// setModifyKeys does XTMODKEYS for modifyOtherKeys, the one that programs use.
func (t *host) setModifyKeys() {
	if t.ps.n == 0 || t.param(0, 0) == 4 {
		t.mode.keys.modifyOther = uint8(min(t.param(1, 0), 2))
	}
}

// reportModifyKeys does XTQMODKEYS.
func (t *host) reportModifyKeys() {
	if t.param(0, 0) == 4 {
		t.replyf("\x1b[>4;%dm", t.mode.keys.modifyOther)
	}
}
