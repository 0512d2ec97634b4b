package persist

// A Log is the output of one terminal: a file that is written through a shared
// mapping, so that a byte is in the page cache as soon as it was read from the
// PTY and no crash of this process can lose it. One goroutine appends; any
// number of readers read what is committed. Where the file system cannot
// preallocate, the log falls back to plain writes.
type Log struct{}

// LogOptions bound a log.
type LogOptions struct {
	Limit int64 // bytes kept; the head is freed by punching holes, offsets stay. 0: no bound
}

// OpenLog opens or creates the log at path. After a crash its end is the last
// byte that is not NUL.
func OpenLog(path string, o LogOptions) (*Log, error) { panic("not written") }

// Space returns a writable part of the mapping behind the end, at least min
// bytes long (min ≤ 64 KiB). Disk full is an error here and never a fault.
func (l *Log) Space(min int) ([]byte, error) { panic("not written") }

// Commit makes the first n bytes of the last Space part of the log.
func (l *Log) Commit(n int) { panic("not written") }

// Start and End are the absolute offsets of the first byte kept and behind the
// last one.
func (l *Log) Start() int64 { panic("not written") }
func (l *Log) End() int64   { panic("not written") }

// ReadAt copies committed bytes from absolute offset off; io.EOF at the end.
func (l *Log) ReadAt(p []byte, off int64) (int, error) { panic("not written") }

// Close unmaps, cuts the preallocated tail off and closes the file.
func (l *Log) Close() error { panic("not written") }

// A Resize is one line of the sizes journal: from Offset of the log on the
// terminal had this size.
type Resize struct {
	Offset     int64
	Cols, Rows int
}

// AppendResize adds to a process's sizes journal, ReadResizes reads it; a
// damaged line ends it.
func (s *Store) AppendResize(id string, r Resize) error  { panic("not written") }
func (s *Store) ReadResizes(id string) ([]Resize, error) { panic("not written") }

// A Checkpoint is the state of a terminal at one offset of its log, as the byte
// stream that puts a new terminal of that size into it. Replay starts there.
type Checkpoint struct {
	Offset     int64
	Cols, Rows int
	Repaint    []byte
}

// SaveCheckpoint keeps the last two checkpoints of a process, each whole or
// not there; ReadCheckpoints gives those there are, newest first.
func (s *Store) SaveCheckpoint(id string, c Checkpoint) error    { panic("not written") }
func (s *Store) ReadCheckpoints(id string) ([]Checkpoint, error) { panic("not written") }
