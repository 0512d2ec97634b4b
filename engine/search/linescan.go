package search

import "unicode/utf8"

// A lineScan looks for lines that match. It makes a table of the sets of an
// automaton that it comes across, so that most characters cost one look into
// it. Some expressions have so many sets that hardly one comes twice: then it
// does without for a while. It belongs to one goroutine.
type lineScan struct {
	a *automaton

	// Columns of table: unlisted, ending, and the classes of a. Rows are told by
	// where they begin: that of no set yet, of a match, of none to come, and of
	// the sets from first on.
	table  []uint32
	column [256]uint32 // of a byte
	stride uint32
	first  uint32

	rows  []scanRow
	known map[string]uint32
	most  int // rows

	scratch, spare []uint64
	key            []byte

	read   int64 // bytes so far
	built  int64 // entries of the table since it was empty
	since  int64 // read at that time
	direct int64 // up to which read it does without the table
}

type scanRow struct {
	set    []uint64
	before preceding
}

const (
	unlisted = 0 // column of what is not ASCII
	ending   = 1
	classes  = 2

	tableMost  = 2 << 20  // bytes of a table and its sets, about
	entryCost  = 256      // bytes that are read at least for each entry that is made
	directSpan = 16 << 20 // bytes that are read without a table
)

func newLineScan(a *automaton) *lineScan {
	sc := &lineScan{a: a, stride: uint32(classes + len(a.masks)), scratch: make([]uint64, a.size), spare: make([]uint64, a.size)}
	sc.first = 3 * sc.stride
	sc.most = max(tableMost/(4*int(sc.stride)+24*a.size+100), 16)
	for c := range utf8.RuneSelf {
		sc.column[c] = uint32(classes + a.ascii[c])
	}
	sc.reset()
	return sc
}

// Rows of table that are not sets.
func (sc *lineScan) matched() uint32  { return sc.stride }
func (sc *lineScan) hopeless() uint32 { return 2 * sc.stride }

// reset empties the table.
func (sc *lineScan) reset() {
	sc.table = append(sc.table[:0], make([]uint32, sc.first)...)
	sc.rows = sc.rows[:0]
	sc.known = make(map[string]uint32)
	sc.built, sc.since = 0, sc.read
	sc.row(make([]uint64, sc.a.size), atStart)
}

// row gives the row of a set, which it copies.
func (sc *lineScan) row(set []uint64, before preceding) uint32 {
	sc.key = keyOf(append(sc.key[:0], byte(before)), set)
	if at, ok := sc.known[string(sc.key)]; ok {
		return at
	}
	at := uint32(len(sc.table))
	sc.table = append(sc.table, make([]uint32, sc.stride)...)
	sc.rows = append(sc.rows, scanRow{append([]uint64(nil), set...), before})
	sc.known[string(sc.key)] = at
	return at
}

// matches reports whether a line matches; it may end with a carriage return,
// which does not count, but not with a line feed.
func (sc *lineScan) matches(line []byte) bool {
	line = bare(line)
	sc.read += int64(len(line)) + 1
	switch {
	case sc.read <= sc.direct:
		return sc.byStep(line)
	case sc.a.back:
		return sc.byTableBack(line)
	}
	return sc.byTable(line)
}

func (sc *lineScan) byTable(line []byte) bool {
	at, first, columns := sc.first, sc.first, &sc.column
	for i := 0; ; {
		table := sc.table // follow may make another
		for ; i < len(line); i++ {
			next := table[at+columns[line[i]]]
			if next < first {
				break
			}
			at = next
		}
		column, n := sc.columnAt(line[i:])
		if at = sc.follow(at, column); at < sc.first {
			return at == sc.matched()
		}
		i += n
	}
}

func (sc *lineScan) byTableBack(line []byte) bool {
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
		if at = sc.follow(at, column); at < sc.first {
			return at == sc.matched()
		}
		line = line[:len(line)-n]
	}
}

// columnAt is the column of what is to be read next of the rest of a line, and
// how many bytes that has.
func (sc *lineScan) columnAt(line []byte) (column, size int) {
	if len(line) == 0 {
		return ending, 0
	}
	decode, c := utf8.DecodeRune, line[0]
	if sc.a.back {
		decode, c = utf8.DecodeLastRune, line[len(line)-1]
	}
	if c < utf8.RuneSelf {
		return classes + int(sc.a.ascii[c]), 1
	}
	r, n := decode(line)
	return classes + sc.a.classOf(r), n
}

// follow gives the row to which a column leads, below first if that is not a set.
func (sc *lineScan) follow(at uint32, column int) uint32 {
	if next := sc.table[at+uint32(column)]; next != 0 {
		return next
	}
	row := sc.rows[at/sc.stride-3]
	if len(sc.rows) >= sc.most {
		if sc.read-sc.since < entryCost*sc.built {
			sc.direct = sc.read + directSpan
		}
		sc.reset()
		at = sc.row(row.set, row.before)
	}
	next := sc.hopeless()
	if column == ending {
		if sc.a.end(row.set, row.before) {
			next = sc.matched()
		}
	} else if class := column - classes; sc.a.step(sc.scratch, row.set, row.before, class) {
		next = sc.matched()
	} else if !sc.a.stuck(sc.scratch) {
		next = sc.row(sc.scratch, sc.a.after(class))
	}
	sc.table[at+uint32(column)] = next
	sc.built++
	return next
}

// byStep does without the table.
func (sc *lineScan) byStep(line []byte) bool {
	src, dst, before := sc.spare, sc.scratch, atStart
	for {
		column, n := sc.columnAt(line)
		if column == ending {
			return sc.a.end(src, before)
		}
		class := column - classes
		if sc.a.step(dst, src, before, class) {
			return true
		}
		if sc.a.stuck(dst) {
			return false
		}
		src, dst, before = dst, src, sc.a.after(class)
		if sc.a.back {
			line = line[:len(line)-n]
		} else {
			line = line[n:]
		}
	}
}
