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
)

// SchemaVersion is written into every record. Records of smaller versions
// load; those of larger ones are refused, not damaged.
const SchemaVersion = 1

const (
	recordName = "record.json"
	exitName   = "exit.json"
	stdinName  = "stdin"

	// maxJSON bounds what is read of a record: arguments and environment of a
	// process are at most a few megabytes.
	maxJSON = 32 << 20
)

// The logs in a process's folder: LogName, or where they are split the other two.
const (
	LogName    = "process.log"
	StdoutName = "stdout.log"
	StderrName = "stderr.log"
)

// ErrNewer is in the error of a file that a later version of Tandem has
// written. The file is left as it is.
var ErrNewer = errors.New("written by a newer Tandem")

// A Record is what must survive about one process: what it is, what is wanted
// of it, and who it was when last seen. What is embedded stands in the file
// between the fields around it, so a group keeps its place.
//
// Restart, Readiness, Project, Dependency and Run repeat types of the API, and are converted from
// and to them: what is on disk must not change when the API does, and this package must not
// import it.
type Record struct {
	Schema int    `json:"schema"`
	ID     string `json:"id"`
	Kind   string `json:"kind"` // "session" or "process"
	Name   string `json:"name"`
	Command
	Terminal
	Origin
	Keyboard string `json:"keyboard,omitempty"` // who took a terminal's keyboard away from agents
	Open     bool   `json:"open,omitempty"`     // agents held to a sandbox may type into a terminal outside it
	Desired  string `json:"desired"`            // "running" or "stopped"
	EndedBy  string `json:"ended_by,omitempty"` // who wanted it stopped, if anybody asked
	State    string `json:"state"`              // last announced, api.State
	Error    string `json:"error,omitempty"`

	Identity  *Identity `json:"identity,omitempty"` // set once a child exists
	Former    *Identity `json:"former,omitempty"`   // of the child before, while the next one is being started
	CreatedAt time.Time `json:"created_at"`
	StartedAt time.Time `json:"started_at,omitzero"`
	Title     string    `json:"title,omitempty"`

	Supervision
	SplitLog  bool    `json:"split_log,omitempty"` // stdout.log and stderr.log instead of process.log
	LogLimit  int64   `json:"log_limit,omitempty"` // bytes kept of each log; 0: the engine's default
	Sandboxed bool    `json:"sandboxed,omitempty"` // sandbox.json says how
	Cgroup    string  `json:"cgroup,omitempty"`    // folder of the cgroup that holds all that comes of it
	Transient bool    `json:"transient,omitempty"`
	Stdin     bool    `json:"stdin,omitempty"`     // its standard input is a FIFO in its folder
	Daemon    *Daemon `json:"daemon,omitempty"`    // set once it is one
	ProxyURL  string  `json:"proxy_url,omitempty"` // with a password: its way out of its sandbox

	Ownership
	Project *Project `json:"project,omitempty"` // set for what a project file started
	Progress
}

// An Origin is who started a process.
type Origin struct {
	Actor string `json:"actor"`
	From  string `json:"from,omitempty"` // user@host, of another machine
}

// A Command is the program that is run.
type Command struct {
	Argv    []string          `json:"argv"`
	CWD     string            `json:"cwd"`
	Env     map[string]string `json:"env,omitempty"`     // what was asked for beyond the engine's own
	Environ map[string]string `json:"environ,omitempty"` // what that is added to; nil: the engine's own
	Umask   string            `json:"umask,omitempty"`   // in octal; "": the keeper's own
}

// A Terminal is that of a process that has one.
type Terminal struct {
	TTY  bool `json:"tty"`
	Cols int  `json:"cols,omitempty"`
	Rows int  `json:"rows,omitempty"`

	Agent     *Agent     `json:"agent,omitempty"`      // the coding agent that runs there, or did when the session ended
	LeftAgent *LeftAgent `json:"left_agent,omitempty"` // the one that has ended there last, if its conversation is known
}

// Supervision is when a process is ready, how it is stopped, and what follows
// when it has ended by itself.
type Supervision struct {
	Restart       Restart    `json:"restart,omitzero"`
	Ready         *Readiness `json:"ready,omitempty"`
	StopSignal    string     `json:"stop_signal,omitempty"`
	StopTimeoutMS int        `json:"stop_timeout_ms,omitempty"`
}

// Ownership is whose a process is that an agent has started.
type Ownership struct {
	Owner  string    `json:"owner,omitempty"`  // id of the agent's client that started it
	Lease  string    `json:"lease,omitempty"`  // what becomes of it when that client goes
	LeftAt time.Time `json:"left_at,omitzero"` // when it went
}

// A Project is the entry of a project file that a process was started for.
type Project struct {
	File    string `json:"file"` // absolute path
	Name    string `json:"name"`
	Digest  string `json:"digest,omitempty"`  // of what the file said
	Project string `json:"project,omitempty"` // its name
}

// A Daemon is a one-shot command that had not ended in time.
type Daemon struct {
	Lines int `json:"lines"` // of each stream that are shown of it
}

// Restart says what happens to a process that has ended by itself.
type Restart struct {
	Policy       string `json:"policy,omitempty"` // "no", "on-failure", "always" or "unless-stopped"
	Max          int    `json:"max,omitempty"`
	DelayMS      int    `json:"delay_ms,omitempty"`
	SuccessCodes []int  `json:"success_codes,omitempty"`

	// Prompt is set where a policy was given, not keep_alive: its delays begin
	// shorter, and shorter runs are healthy. Older records have none.
	Prompt bool `json:"prompt,omitempty"`
}

// Readiness says when a process counts as ready; all that is set has to hold.
type Readiness struct {
	Log       string   `json:"log,omitempty"` // regular expression
	Port      int      `json:"port,omitempty"`
	HTTP      string   `json:"http,omitempty"` // URL
	Command   []string `json:"command,omitempty"`
	TimeoutMS int      `json:"timeout_ms,omitempty"`

	HTTPStatus  int               `json:"http_status,omitempty"` // 0: any from 200 to 299
	HTTPHeaders map[string]string `json:"http_headers,omitempty"`
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

// Save writes a record durably, and makes the process's folder if there is
// none yet. It sets the schema itself.
func (s *Store) Save(r Record) error { return s.save(r, true) }

// Write is Save that does not wait for the disk: what it wrote survives the
// death of every process, and a loss of power maybe not; the record is then an
// earlier one.
func (s *Store) Write(r Record) error { return s.save(r, false) }

// Update is Write for what means nothing any more after a loss of power. It
// makes no new file where it can do without: a folder in which files come and go
// is slow.
func (s *Store) Update(r Record) error {
	path, content, err := s.encode(r)
	if err != nil {
		return err
	}
	if overwrite(path, content) {
		return nil
	}
	return s.put(r.ID, path, content, false)
}

func (s *Store) save(r Record, durable bool) error {
	path, content, err := s.encode(r)
	if err != nil {
		return err
	}
	return s.put(r.ID, path, content, durable)
}

// recordStep is what the lengths of records are multiples of, so that an Update
// seldom changes it.
const recordStep = 2 << 10

// encode gives the path and content of a record's file.
func (s *Store) encode(r Record) (path string, content []byte, err error) {
	if path, err = s.file(r.ID, recordName); err != nil {
		return "", nil, err
	}
	r.Schema = SchemaVersion
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return "", nil, fmt.Errorf("save record %s: %w", path, err)
	}
	for len(b)%recordStep != recordStep-1 {
		b = append(b, ' ')
	}
	return path, append(b, '\n'), nil
}

func (s *Store) put(id, path string, content []byte, durable bool) error {
	if err := s.makeDir(id, durable); err != nil {
		return fmt.Errorf("save record %s: %w", path, err)
	}
	if err := replaceFile(path, durable, content); err != nil {
		return fmt.Errorf("save record %s: %w", path, err)
	}
	return nil
}

// makeDir makes a process's folder. Its name gets on disk with the first
// durable write into it.
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

// Load reads every record, oldest first. A damaged one is set aside as
// record.json.bad and reported in problems; other records are unaffected. One that
// cannot be read, or has a newer schema (ErrNewer), is reported as Unread and left
// alone. A directory without a record is not a process's. Load also removes files
// left by crashes.
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
	for range runtime.GOMAXPROCS(0) {
		loading.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(entries); i = next.Add(1) - 1 {
				found[i], wrong[i] = s.load(entries[i])
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

// load reads what an entry of the processes folder holds; nil is not a record.
func (s *Store) load(e fs.DirEntry) (*Record, error) {
	if !e.IsDir() {
		return nil, nil
	}
	if !validID(e.Name()) {
		return nil, s.finishRemoval(e.Name())
	}
	stale := removeStaleTemps(s.Dir(e.Name()))
	r, err := s.LoadRecord(e.Name())
	if r == nil && err == nil {
		s.removeEmpty(e)
	}
	return r, errors.Join(stale, err)
}

// IsOneShot reports whether a record is of a command that is run and waited for.
func (r Record) IsOneShot() bool { return r.Transient && !r.Stdin }

// removeEmpty deletes the folder of a process that a crash has left without a
// record, if nothing is in it but what is written before. It spares young ones, as
// somebody may be about to write into them.
func (s *Store) removeEmpty(e fs.DirEntry) {
	info, err := e.Info()
	if err != nil || time.Since(info.ModTime()) < tempAge {
		return
	}
	dir := s.Dir(e.Name())
	if inside, err := os.ReadDir(dir); err == nil && len(inside) == 1 && inside[0].Name() == sandboxName {
		_ = os.Remove(filepath.Join(dir, sandboxName))
	}
	_ = os.Remove(dir) // one that holds anything stays
}

func appendError(errs []error, err error) []error {
	if err == nil {
		return errs
	}
	return append(errs, err)
}

// loadRecord reads the record of one process. If it is damaged it is set aside
// and the error says so.
func (s *Store) loadRecord(id string) (r Record, err error) {
	path := filepath.Join(s.Dir(id), recordName)
	err = loadFile(path, func(b []byte) error {
		r, err = decodeRecord(b, id)
		return err
	})
	if err != nil {
		return Record{}, fmt.Errorf("load record %s: %w", path, err)
	}
	return r, nil
}

// loadFile reads a file and has decode make something of it. What it does not
// take is damaged: the file is set aside, which the error says; but not what a
// newer version has written.
func loadFile(path string, decode func([]byte) error) error {
	b, err := readBounded(path)
	if err != nil {
		return Cause(err)
	}
	wrong := decode(b)
	if wrong == nil || errors.Is(wrong, ErrNewer) {
		return wrong
	}
	aside, err := SetAside(path)
	if err != nil {
		return fmt.Errorf("damaged: %v; it cannot be set aside: %v", wrong, Cause(err))
	}
	return fmt.Errorf("%w: %v; set aside as %s", errDamaged, wrong, filepath.Base(aside))
}

// decodeRecord checks and decodes the content of the record of process id.
func decodeRecord(b []byte, id string) (Record, error) {
	var r Record
	if err := decodeSchema(b, &r); err != nil {
		return Record{}, err
	}
	if r.ID != id {
		return Record{}, fmt.Errorf("it is of process %q", r.ID)
	}
	return r, nil
}

// decodeSchema decodes a file's JSON into v if its schema is known.
func decodeSchema(b []byte, v any) error {
	if err := checkSchema(b); err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}

// checkSchema looks at the schema alone, because the other fields may mean
// something else in a newer one.
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

// readSchema reads an object up to its schema, which comes first in what is
// written here; 0 if it has none.
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

// SetAside renames a damaged file to the first of .bad, .bad.2, .bad.3, … that
// is free.
func SetAside(path string) (string, error) {
	aside := path + ".bad"
	for n := 2; ; n++ {
		_, err := os.Lstat(aside)
		if errors.Is(err, fs.ErrNotExist) {
			return aside, os.Rename(path, aside)
		}
		if err != nil {
			return "", err
		}
		aside = path + ".bad." + strconv.Itoa(n)
	}
}

// readBounded reads a whole file, of which more than maxJSON bytes are an
// error.
func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxJSON+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxJSON {
		return nil, fmt.Errorf("larger than %d bytes", maxJSON)
	}
	return b, nil
}

// Exit reads the last exit of a process; ok is false when there is none. One
// that says nothing about how the process ended is an error, never a code.
func (s *Store) Exit(id string) (e Exit, ok bool, err error) {
	path, err := s.file(id, exitName)
	if err != nil {
		return Exit{}, false, err
	}
	b, err := readBounded(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Exit{}, false, nil
	}
	if err != nil {
		return Exit{}, false, fmt.Errorf("read exit %s: %w", path, Cause(err))
	}
	if e, err = decodeExit(b); err != nil {
		return Exit{}, false, fmt.Errorf("read exit %s: %w", path, err)
	}
	return e, true, nil
}

func decodeExit(b []byte) (Exit, error) {
	var e Exit
	if err := decodeSchema(b, &e); err != nil {
		return Exit{}, err
	}
	if e.Code == nil && e.Signal == "" && !e.Unknown {
		return Exit{}, errors.New("it has no code and no signal")
	}
	return e, nil
}
