// Package keeper implements the process that holds what must survive the engine: PTY masters,
// children and their exit statuses. It is the one process that cannot be upgraded while it runs.
// So it stays small, makes no decisions about sessions and processes, and imports none of Tandem's
// other packages. The package also contains the engine's client for it.
//
// # Wire
//
// The keeper listens on a unixpacket socket (mode 0600, peer uid checked). A packet is one JSON
// message. Descriptors travel with it as SCM_RIGHTS; a message too long for a packet is sent as a
// memfd among them. Each request gets one reply with its id. Messages are versioned and frozen:
// fields may be added, never changed. The keeper answers an invalid message with an error. It
// disconnects peers of other users and those that exceed the size limit.
//
// # Processes
//
// One goroutine owns all state, forks and reaps, so no exit can be missed between a fork and its
// table entry. Other goroutines open files and write exit.json.
//
// The keeper does not confine children. To confine one, the engine starts its launch stage, which
// confines itself and then executes the program.
package keeper

// Options configures a keeper.
type Options struct {
	DataDir string   // contains processes/<id>, keeper.lock and engine.log
	Socket  string   // path to listen on; if that fails, keeper.sock in DataDir
	Engine  []string // arguments that make this executable the engine

	// EnginePID is the pid of an engine that lost its keeper and will Dial this one. The keeper
	// starts no engine while it lives, and is ready once it listens. 0 means to start an engine.
	EnginePID int
}

// A Spec describes how to start a child.
type Spec struct {
	ID   string   `json:"id"`
	Dir  string   `json:"dir"` // directory of the child, for exit.json
	Argv []string `json:"argv"`
	Path string   `json:"path,omitempty"` // absolute path of the program; empty to look up Argv[0]
	Env  []string `json:"env"`            // complete environment
	CWD  string   `json:"cwd"`
	TTY  bool     `json:"tty"`
	Cols uint16   `json:"cols,omitempty"` // 0 means 80
	Rows uint16   `json:"rows,omitempty"` // 0 means 24

	// Stdout and Stderr are the files to which a child without a terminal appends its output. Both
	// may be the same file; empty means /dev/null.
	Stdout string `json:"stdout,omitempty"`
	Stderr string `json:"stderr,omitempty"`

	// LogLimit is the number of bytes to keep of each while no engine is connected; 0 means all.
	LogLimit int64 `json:"log_limit,omitempty"`

	// Cgroup is the directory of a cgroup (version 2) to start the child in, if possible.
	Cgroup string `json:"cgroup,omitempty"`

	// Transient is set if the exit is meaningless after a power failure, so exit.json need not
	// reach the disk. A connected engine records the exit itself and then forgets the child; the
	// keeper writes exit.json only if it does not.
	Transient bool `json:"transient,omitempty"`

	// Stdin is the FIFO that a child without a terminal reads as stdin; empty means /dev/null.
	Stdin string `json:"stdin,omitempty"`

	// Confinement was set by engines up to 0.2.0 to let the keeper confine a child. A keeper
	// rejects a spec with it; engines send it only to a keeper that announces support.
	Confinement *struct{} `json:"confinement,omitempty"`
}

// A Child is a process that the keeper started or adopted.
type Child struct {
	ID        string `json:"id"`
	PID       int    `json:"pid"`
	StartTime uint64 `json:"start_time"` // field 22 of /proc/<pid>/stat
	BootID    string `json:"boot_id"`
	TTY       bool   `json:"tty"`
	Exit      *Exit  `json:"exit,omitempty"` // set once it has exited and exit.json was written
}

// Exit is how a child exited.
type Exit struct {
	Code    *int   `json:"code"`             // nil if a signal killed it or the status is unknown
	Signal  string `json:"signal,omitempty"` // "SIGKILL"
	Unknown bool   `json:"unknown,omitempty"`
}
