package search

import "unicode/utf8"

// A lineScan searches for matching lines with an automaton. It caches the sets of positions that
// occur in a table, so most characters cost one lookup. This is the idea of a lazy DFA: building
// all sets beforehand could take exponential time and memory, while a text usually visits few of
// them. Some expressions produce so many sets that hardly any occurs twice. The table then costs
// more than it saves, and the scan works without it for a while. A lineScan is not safe for
// concurrent use.
type lineScan struct {
	a *automaton

	// The columns of table are unlisted, ending, and the classes of a. A row is identified by its
	// offset. The first rows are special: 0 means not computed yet; see also matchRow and deadRow.
	// The rows from first on are sets.
	table  []uint32
	column [256]uint32 // by byte
	stride uint32
	first  uint32

	rows    []scanRow
	known   map[string]uint32
	maxRows int // maximum number of rows

	scratch, spare []uint64
	key            []byte

	read         int64 // bytes read so far
	computed     int64 // entries computed since the last reset
	readAtReset  int64 // value of read at that time
	noTableUntil int64 // work without the table until read reaches this
}

type scanRow struct {
	set    []uint64
	before preceding
}

const (
	unlisted = 0 // column of bytes outside ASCII
	ending   = 1
	classes  = 2

	specialRows = 3 // number of rows before the first set

	maxTable   = 2 << 20  // bytes of a table and its sets, approximately
	entryCost  = 256      // bytes that must be read per entry computed for the table to pay off
	directSpan = 16 << 20 // bytes to read without the table
)

func newLineScan(a *automaton) *lineScan {
	sc := &lineScan{a: a, stride: uint32(classes + len(a.masks)), scratch: make([]uint64, a.size), spare: make([]uint64, a.size)}
	sc.first = specialRows * sc.stride
	sc.maxRows = max(maxTable/(4*int(sc.stride)+24*a.size+100), 16)
	for c := range utf8.RuneSelf {
		sc.column[c] = uint32(classes + a.ascii[c])
	}
	sc.resetTable()
	return sc
}

// Special rows of table: the line matches, or it cannot match any more.
func (sc *lineScan) matchRow() uint32 { return sc.stride }
func (sc *lineScan) deadRow() uint32  { return 2 * sc.stride }

// resetTable empties the table.
func (sc *lineScan) resetTable() {
	sc.table = append(sc.table[:0], make([]uint32, sc.first)...)
	sc.rows = sc.rows[:0]
	sc.known = make(map[string]uint32)
	sc.computed, sc.readAtReset = 0, sc.read
	sc.rowOf(make([]uint64, sc.a.size), atStart)
}

// rowOf returns the row of a set of positions. If the set is new, a copy is added.
func (sc *lineScan) rowOf(set []uint64, before preceding) uint32 {
	sc.key = appendKey(append(sc.key[:0], byte(before)), set)
	if at, ok := sc.known[string(sc.key)]; ok {
		return at
	}
	at := uint32(len(sc.table))
	sc.table = append(sc.table, make([]uint32, sc.stride)...)
	sc.rows = append(sc.rows, scanRow{append([]uint64(nil), set...), before})
	sc.known[string(sc.key)] = at
	return at
}

// matches reports whether a line matches. The line must not contain a line feed; a carriage return
// at its end is ignored.
func (sc *lineScan) matches(line []byte) bool {
	line = trimCR(line)
	sc.read += int64(len(line)) + 1
	switch {
	case sc.read <= sc.noTableUntil:
		return sc.matchByStep(line)
	case sc.a.backward:
		return sc.matchByTableBackward(line)
	}
	return sc.matchByTable(line)
}

func (sc *lineScan) matchByTable(line []byte) bool {
	at, first, columns := sc.first, sc.first, &sc.column
	for i := 0; ; {
		// followTable may replace the table.
		table := sc.table
		for ; i < len(line); i++ {
			next := table[at+columns[line[i]]]
			if next < first {
				break
			}
			at = next
		}
		column, n := sc.columnAt(line[i:])
		if at = sc.followTable(at, column); at < sc.first {
			return at == sc.matchRow()
		}
		i += n
	}
}

func (sc *lineScan) matchByTableBackward(line []byte) bool {
	at, first, columns := sc.first, sc.first, &sc.column
	for {
		table := sc.table
		for ; len(line) > 0; line = line[:len(line)-1] {
			next := table[at+columns[line[len(line)-1]]]
			if next < first {
				break
			}
			at = next
		}
		column, n := sc.columnAt(line)
		if at = sc.followTable(at, column); at < sc.first {
			return at == sc.matchRow()
		}
		line = line[:len(line)-n]
	}
}

// columnAt returns the column of the next character of a line, and its size in bytes.
func (sc *lineScan) columnAt(line []byte) (column, size int) {
	if len(line) == 0 {
		return ending, 0
	}
	decode, c := utf8.DecodeRune, line[0]
	if sc.a.backward {
		decode, c = utf8.DecodeLastRune, line[len(line)-1]
	}
	if c < utf8.RuneSelf {
		return classes + int(sc.a.ascii[c]), 1
	}
	r, n := decode(line)
	return classes + sc.a.classOf(r), n
}

// followTable returns the row that follows row at after a character of the given column, and
// computes it if necessary. If the outcome is decided, it returns matchRow or deadRow.
func (sc *lineScan) followTable(at uint32, column int) uint32 {
	if next := sc.table[at+uint32(column)]; next != 0 {
		return next
	}
	row := sc.rows[at/sc.stride-specialRows]
	if len(sc.rows) >= sc.maxRows { // the table is full
		// If too few bytes were read for each entry computed, the table does not pay off for this
		// text.
		if sc.read-sc.readAtReset < entryCost*sc.computed {
			sc.noTableUntil = sc.read + directSpan
		}
		sc.resetTable()
		at = sc.rowOf(row.set, row.before)
	}
	next := sc.deadRow()
	if column == ending {
		if sc.a.endsMatch(row.set, row.before) {
			next = sc.matchRow()
		}
	} else if class := column - classes; sc.a.step(sc.scratch, row.set, row.before, class) {
		next = sc.matchRow()
	} else if !sc.a.isStuck(sc.scratch) {
		next = sc.rowOf(sc.scratch, sc.a.precedingOf(class))
	}
	sc.table[at+uint32(column)] = next
	sc.computed++
	return next
}

// matchByStep matches a line without the table.
func (sc *lineScan) matchByStep(line []byte) bool {
	src, dst, before := sc.spare, sc.scratch, atStart
	for {
		column, n := sc.columnAt(line)
		if column == ending {
			return sc.a.endsMatch(src, before)
		}
		class := column - classes
		if sc.a.step(dst, src, before, class) {
			return true
		}
		if sc.a.isStuck(dst) {
			return false
		}
		src, dst, before = dst, src, sc.a.precedingOf(class)
		if sc.a.backward {
			line = line[:len(line)-n]
		} else {
			line = line[n:]
		}
	}
}
