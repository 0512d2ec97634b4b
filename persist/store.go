package persist

import "time"

// SchemaVersion is written into every record. Records of smaller versions
// load; those of larger ones are refused, not damaged.
const SchemaVersion = 1

// A Store is the data folder. Safe for concurrent use on different ids.
type Store struct{}

// Open makes the folder (0700) if needed and checks that it can be written.
// Errors say what to do.
func Open(dir string) (*Store, error) { panic("not written") }

// Dir is the folder of one process.
func (s *Store) Dir(id string) string { panic("not written") }

// A Record is what must survive about one process: what it is, what is wanted
// of it, and who it was when last seen.
type Record struct {
	Schema  int               `json:"schema"`
	ID      string            `json:"id"`
	Kind    string            `json:"kind"` // "session" or "process"
	Name    string            `json:"name"`
	Argv    []string          `json:"argv"`
	CWD     string            `json:"cwd"`
	Env     map[string]string `json:"env,omitempty"` // what was asked for beyond the engine's own
	TTY     bool              `json:"tty"`
	Cols    int               `json:"cols,omitempty"`
	Rows    int               `json:"rows,omitempty"`
	Actor   string            `json:"actor"`
	Desired string            `json:"desired"` // "running" or "stopped"
	State   string            `json:"state"`   // last announced, api.State
	Error   string            `json:"error,omitempty"`

	Identity  *Identity `json:"identity,omitempty"` // set once a child exists
	CreatedAt time.Time `json:"created_at"`
	StartedAt time.Time `json:"started_at,omitzero"`
	Title     string    `json:"title,omitempty"`
}

// Identity tells one process from every other there ever was: a pid counts
// only together with its start time and the boot it belongs to.
type Identity struct {
	BootID    string `json:"boot_id"`
	PID       int    `json:"pid"`
	StartTime uint64 `json:"start_time"` // field 22 of /proc/<pid>/stat, clock ticks since boot
}

// Exit is how a process ended; the keeper writes it as exit.json.
type Exit struct {
	Schema   int       `json:"schema"`
	Identity Identity  `json:"identity"`
	Code     *int      `json:"code"`             // nil when a signal ended it or it is unknown
	Signal   string    `json:"signal,omitempty"` // "SIGKILL"
	Unknown  bool      `json:"unknown,omitempty"`
	ExitedAt time.Time `json:"exited_at"`
}

// Save writes a record durably.
func (s *Store) Save(r Record) error { panic("not written") }

// Load reads every record, oldest first. A damaged one is set aside as
// record.json.bad and reported in problems; it costs no other anything.
func (s *Store) Load() (records []Record, problems []error) { panic("not written") }

// Exit reads the last exit of a process; ok is false when there is none.
func (s *Store) Exit(id string) (e Exit, ok bool, err error) { panic("not written") }

// Remove deletes a process's folder.
func (s *Store) Remove(id string) error { panic("not written") }

// NewID makes an id that no folder has: 12 lower-case hex digits.
func (s *Store) NewID() (string, error) { panic("not written") }

// BootID is the id of this boot (/proc/sys/kernel/random/boot_id).
func BootID() (string, error) { panic("not written") }

// Identify reads the start time of a live pid and makes its identity.
func Identify(pid int) (Identity, error) { panic("not written") }

// Alive reports whether the process with this identity still runs (zombies do
// not).
func (i Identity) Alive() bool { panic("not written") }
