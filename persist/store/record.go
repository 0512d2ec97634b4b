package store

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"tandem/persist/regular"
)

// SchemaVersion is the version of new records. Later versions are rejected with ErrNewer.
const SchemaVersion = 1

const (
	recordName = "record.json"
	stdinName  = "stdin"

	asideSuffix = ".bad" // of damaged files

	// maxJSON is the maximum size of a record that is read, in bytes. The arguments and the
	// environment of a process are at most a few megabytes.
	maxJSON = 32 << 20
)

// These are the log files of a process: LogName or, if the streams are split, the others.
const (
	LogName    = "process.log"
	StdoutName = "stdout.log"
	StderrName = "stderr.log"
)

// ErrNewer is wrapped by errors about a file written by a later version, which is left unchanged.
var ErrNewer = errors.New("written by a newer Tandem")

// A Record is the persistent state of one process: its definition, its desired state, and its last
// known identity. Embedded structs group fields without changing their place in the file.
//
// Restart, Readiness, Project, Dependency and Run repeat types of the API. The format on disk must
// not change with the API, and this package must not import it.
type Record struct {
	Schema int    `json:"schema"`
	ID     string `json:"id"`
	Kind   string `json:"kind"` // "session" or "process"
	Name   string `json:"name"`
	Command
	Terminal
	Origin
	Keyboard        string `json:"keyboard,omitempty"` // who locked a terminal's keyboard against agents
	AdmitsSandboxed bool   `json:"open,omitempty"`     // agents held to a sandbox may type into a terminal outside it
	Desired         string `json:"desired"`            // "running" or "stopped"
	EndedBy         string `json:"ended_by,omitempty"` // who requested the stop, if anyone did
	State           string `json:"state"`              // last announced; an api.State
	Error           string `json:"error,omitempty"`

	Identity  *Identity `json:"identity,omitempty"` // set once there is a child
	Former    *Identity `json:"former,omitempty"`   // of the previous child, while the next one is being started
	CreatedAt time.Time `json:"created_at"`
	StartedAt time.Time `json:"started_at,omitzero"`
	Title     string    `json:"title,omitempty"`

	Supervision
	SplitLog   bool    `json:"split_log,omitempty"` // stdout.log and stderr.log instead of process.log
	LogLimit   int64   `json:"log_limit,omitempty"` // bytes kept of each log; 0: the engine's default
	Sandboxed  bool    `json:"sandboxed,omitempty"` // confined as sandbox.json describes
	Cgroup     string  `json:"cgroup,omitempty"`    // directory of the cgroup that holds the process and its descendants
	Transient  bool    `json:"transient,omitempty"`
	Unanswered bool    `json:"unanswered,omitempty"` // the caller of a one-shot command disconnected before it got the result
	Daemon     *Daemon `json:"daemon,omitempty"`     // set once it has become a daemon
	ProxyURL   string  `json:"proxy_url,omitempty"`  // proxy for leaving its sandbox, with a password

	Ownership
	Project *Project `json:"project,omitempty"` // set for processes started by a project file
	Progress
}

// An Origin identifies who started a process.
type Origin struct {
	Actor string `json:"actor"`
	From  string `json:"from,omitempty"` // user@host, of another machine
}

// A Command is a program to run.
type Command struct {
	Argv    []string          `json:"argv"`
	CWD     string            `json:"cwd"`
	Env     map[string]string `json:"env,omitempty"`     // requested variables, added to Environ
	Environ map[string]string `json:"environ,omitempty"` // base environment; nil for the engine's own
	Umask   string            `json:"umask,omitempty"`   // octal; "" for the keeper's own

	Stdin   bool `json:"stdin,omitempty"`    // process.write writes to its standard input
	NoStdin bool `json:"no_stdin,omitempty"` // standard input is /dev/null; otherwise, without a terminal, a FIFO in its directory
}

// A Terminal describes the terminal of a process.
type Terminal struct {
	TTY  bool `json:"tty"`
	Cols int  `json:"cols,omitempty"`
	Rows int  `json:"rows,omitempty"`

	Agent     *Agent     `json:"agent,omitempty"`      // coding agent running there now, or when the session exited
	LeftAgent *LeftAgent `json:"left_agent,omitempty"` // last coding agent that exited there, if its conversation is known

	Folder      string        `json:"folder,omitempty"`      // last one seen, if not CWD
	Interrupted *Interruption `json:"interrupted,omitempty"` // set if a reboot or crash ended it, until it has been restored
	Typed       string        `json:"typed,omitempty"`       // command for the first prompt of its shell, to resume the former run
	Typing      string        `json:"typing,omitempty"`      // TypingInsert or TypingRun as long as Typed has not been typed

	Private bool `json:"private,omitempty"` // only savedPart of the record is on disk
}

// Supervision describes when a process is ready, how it is stopped, and whether it is restarted.
type Supervision struct {
	Restart       Restart    `json:"restart,omitzero"`
	Ready         *Readiness `json:"ready,omitempty"`
	StopSignal    string     `json:"stop_signal,omitempty"`
	StopTimeoutMS int        `json:"stop_timeout_ms,omitempty"`
	RunLimit
}

// Ownership describes the agent that started a process.
type Ownership struct {
	Owner  string    `json:"owner,omitempty"`  // id of the agent's client
	Lease  string    `json:"lease,omitempty"`  // what to do when that client disconnects
	LeftAt time.Time `json:"left_at,omitzero"` // when it disconnected
}

// A Project is the entry in a project file for which a process was started.
type Project struct {
	File    string `json:"file"` // absolute path
	Name    string `json:"name"`
	Digest  string `json:"digest,omitempty"`  // digest of the entry's content
	Project string `json:"project,omitempty"` // name of the project
}

// A Daemon is a one-shot command that did not exit in time.
type Daemon struct {
	Lines int `json:"lines"` // number of lines of each stream to show
}

// Restart is the restart policy of a process that exits by itself.
type Restart struct {
	Policy       string `json:"policy,omitempty"` // "no", "on-failure" or "always"
	Max          int    `json:"max,omitempty"`
	DelayMS      int    `json:"delay_ms,omitempty"`
	FixedDelay   bool   `json:"fixed_delay,omitempty"`
	SuccessCodes []int  `json:"success_codes,omitempty"`

	// ShortDelays selects the shorter delays for processes with an explicit restart policy, instead
	// of those for keep_alive. Restarts begin sooner, and shorter runs count as healthy. It is
	// false in older records.
	ShortDelays bool `json:"prompt,omitempty"`
}

// Readiness describes when a process counts as ready. All conditions that are set must be met.
type Readiness struct {
	Log       string   `json:"log,omitempty"` // regular expression
	Port      int      `json:"port,omitempty"`
	HTTP      string   `json:"http,omitempty"` // URL
	Command   []string `json:"command,omitempty"`
	TimeoutMS int      `json:"timeout_ms,omitempty"`

	HTTPStatus  int               `json:"http_status,omitempty"` // 0: any from 200 to 299
	HTTPHeaders map[string]string `json:"http_headers,omitempty"`
}

// Save writes a record durably, and creates the process's directory if needed. It sets the schema.
func (s *Store) Save(r Record) error { return s.saveRecord(r, true) }

// Write is like Save, but does not wait for the disk. The record survives a crash of all processes,
// but a power failure in the next second may restore an earlier record.
func (s *Store) Write(r Record) error { return s.saveRecord(r, false) }

// Update is like Write, for a process that a reboot does not start. It overwrites the file in place
// if it can, because creating and renaming files is slow.
func (s *Store) Update(r Record) error {
	path, content, err := s.encodeRecord(r)
	if err != nil {
		return err
	}
	if overwriteInPlace(path, content) {
		s.Flusher.Add(path)
		return nil
	}
	return s.putRecord(r.ID, path, content, false)
}

func (s *Store) saveRecord(r Record, durable bool) error {
	path, content, err := s.encodeRecord(r)
	if err != nil {
		return err
	}
	return s.putRecord(r.ID, path, content, durable)
}

// recordStep is the unit of record lengths in bytes. Padding keeps the length the same, so updates
// can overwrite the file.
const recordStep = 2 << 10

// encodeRecord returns the path and the content of a record's file.
func (s *Store) encodeRecord(r Record) (path string, content []byte, err error) {
	if path, err = s.pathOf(r.ID, recordName); err != nil {
		return "", nil, err
	}
	r = r.savedPart()
	r.Schema = SchemaVersion
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return "", nil, fmt.Errorf("save record %s: %w", path, err)
	}
	// Pad with spaces, which JSON ignores.
	for len(b)%recordStep != recordStep-1 {
		b = append(b, ' ')
	}
	return path, append(b, '\n'), nil
}

func (s *Store) putRecord(id, path string, content []byte, durable bool) error {
	if err := s.makeDir(id, durable); err != nil {
		return fmt.Errorf("save record %s: %w", path, err)
	}
	if err := s.Flusher.replaceFile(path, durable, content); err != nil {
		return fmt.Errorf("save record %s: %w", path, err)
	}
	return nil
}

// makeDir creates a process's directory. The first durable write into the directory also makes its
// name durable.
func (s *Store) makeDir(id string, durable bool) error {
	err := os.Mkdir(s.Dir(id), 0o700)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	s.mu.Lock()
	if err == nil {
		s.fresh[id] = struct{}{}
	}
	_, fresh := s.fresh[id]
	if durable {
		delete(s.fresh, id)
	}
	s.mu.Unlock()
	if !fresh || !durable {
		return nil
	}
	return s.syncProcesses()
}

// Load reads all records, the oldest first. It sets a damaged record aside as record.json.bad and
// reports it in problems; others are not affected. A record that cannot be read, or has a newer
// schema (ErrNewer), is reported as Unread and left alone. Directories without a record are
// ignored. Load also removes files left by crashes.
func (s *Store) Load() (records []Record, problems []error) {
	entries, err := s.readDir(s.processes())
	if err != nil {
		return nil, []error{&Unread{Err: fmt.Errorf("load records: %w", err)}}
	}
	problems = appendError(problems, removeStaleTemps(s.dir))
	problems = appendError(problems, removeStaleTemps(s.processes()))
	found := make([]*Record, len(entries))
	wrong := make([]error, len(entries))
	var next atomic.Int64
	var loading sync.WaitGroup
	// Read in parallel: there may be thousands of records.
	for range runtime.GOMAXPROCS(0) {
		loading.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(entries); i = next.Add(1) - 1 {
				found[i], wrong[i] = s.loadEntry(entries[i])
			}
		})
	}
	loading.Wait()
	for i, r := range found {
		problems = appendError(problems, wrong[i])
		if r != nil {
			records = append(records, *r)
		}
	}
	slices.SortFunc(records, func(a, b Record) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return records, problems
}

// loadEntry reads the record in one entry of the processes directory. It returns nil if there is
// none.
func (s *Store) loadEntry(e fs.DirEntry) (*Record, error) {
	if !e.IsDir() {
		return nil, nil
	}
	if !validID(e.Name()) {
		return nil, s.finishRemoval(e.Name())
	}
	stale := removeStaleTemps(s.Dir(e.Name()))
	r, err := s.LoadRecord(e.Name())
	switch {
	case r == nil && err == nil:
		s.removeUnused(e)
	case err == nil:
		s.Flusher.addRecent(filepath.Join(s.Dir(r.ID), recordName))
	}
	return r, errors.Join(stale, err)
}

// IsOneShot reports whether a record is for a one-shot command: its caller waits for it.
func (r Record) IsOneShot() bool { return r.Transient && !r.Stdin }

func appendError(errs []error, err error) []error {
	if err == nil {
		return errs
	}
	return append(errs, err)
}

// loadRecord reads the record of one process. It sets a damaged record aside; the error then wraps
// errDamaged.
func (s *Store) loadRecord(id string) (r Record, err error) {
	path := filepath.Join(s.Dir(id), recordName)
	err = s.loadFile(path, func(b []byte) error {
		r, err = decodeRecord(b, id)
		return err
	})
	if err != nil {
		return Record{}, fmt.Errorf("load record %s: %w", path, err)
	}
	return r, nil
}

// loadFile reads a file and calls decode with its content. If decode fails, the file is damaged and
// set aside, unless a newer version wrote it. A file cut short by a power failure counts as never
// written.
func (s *Store) loadFile(path string, decode func([]byte) error) error {
	b, err := readBounded(path)
	if err != nil {
		return Cause(err)
	}
	wrong := decode(b)
	if wrong == nil || errors.Is(wrong, ErrNewer) {
		return wrong
	}
	if s.power.wasCutShort(path, b) {
		return cmp.Or(os.Remove(path), fs.ErrNotExist)
	}
	aside, err := SetAside(path)
	if err != nil {
		return fmt.Errorf("damaged: %v; it cannot be set aside: %v", wrong, Cause(err))
	}
	return fmt.Errorf("%w: %v; set aside as %s", errDamaged, wrong, filepath.Base(aside))
}

// decodeRecord decodes the record of the process id. It checks the schema and the id in it.
func decodeRecord(b []byte, id string) (Record, error) {
	var r Record
	err := decodeSchema(b, &r)
	switch {
	case err != nil:
		return Record{}, err
	case r.ID != id:
		return Record{}, fmt.Errorf("it is of process %q", r.ID)
	case r.Restart.Policy == "unless-stopped": // of an earlier release, where it was a policy of its own
		r.Restart.Policy = "always"
	}
	return r, nil
}

// decodeSchema decodes JSON into v, if this version knows its schema.
func decodeSchema(b []byte, v any) error {
	if err := checkSchema(b); err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}

// checkSchema reads only the schema, because the other fields may have a different meaning in a
// newer one.
func checkSchema(b []byte) error {
	if len(bytes.Trim(b, "\x00 \t\r\n")) == 0 {
		return errors.New("it is empty")
	}
	schema, err := readSchema(b)
	switch {
	case err != nil:
		return err
	case schema > SchemaVersion:
		return fmt.Errorf("%w (schema %d, this one knows %d)", ErrNewer, schema, SchemaVersion)
	case schema < 1:
		return fmt.Errorf("it has schema %d", schema)
	}
	return nil
}

// readSchema returns the schema of a JSON object, or 0 if it has none. It stops after the schema,
// which Tandem writes first.
func readSchema(b []byte) (schema int, err error) {
	d := json.NewDecoder(bytes.NewReader(b))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return 0, err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return 0, err
		}
		if key == "schema" {
			err := d.Decode(&schema)
			return schema, err
		}
		var other json.RawMessage
		if err := d.Decode(&other); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// SetAside appends the first free suffix of .bad, .bad.2 and so on to a damaged file's name, and
// returns the new path.
func SetAside(path string) (string, error) {
	aside := path + asideSuffix
	for n := 2; ; n++ {
		_, err := os.Lstat(aside)
		if errors.Is(err, fs.ErrNotExist) {
			return aside, os.Rename(path, aside)
		}
		if err != nil {
			return "", err
		}
		aside = path + asideSuffix + "." + strconv.Itoa(n)
	}
}

// readBounded reads a whole file. It returns an error if the file exceeds maxJSON bytes.
func readBounded(path string) ([]byte, error) {
	f, _, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// One more byte than allowed distinguishes a longer file from one at the limit.
	b, err := io.ReadAll(io.LimitReader(f, maxJSON+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxJSON {
		return nil, fmt.Errorf("larger than %d bytes", maxJSON)
	}
	return b, nil
}
