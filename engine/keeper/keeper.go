// Package keeper is the process that holds what must not die with the engine:
// PTY masters, children and their exit statuses. It has almost no code, decides
// nothing and imports nothing of Tandem's, because it is the one process that
// cannot be upgraded while it lives. The package is also the engine's client
// for it.
//
// # Wire
//
// The keeper listens on a unixpacket socket (0600, peer uid checked). A packet
// is one JSON message; descriptors travel beside it as SCM_RIGHTS, and a message
// that is too long for a packet as a memfd among them. Every request is answered
// by one reply with its id. Messages are versioned and frozen: fields may be
// added, never changed. What makes no sense is answered with an error; packets
// over the limit and strangers are cut off.
//
// # Processes
//
// One goroutine owns all state, forks and collects, so no exit can fall between
// a fork and its entry in the table. Opening files and writing exit.json happen
// beside it.
//
// The keeper confines nothing: a child that is to be confined is the engine's launch stage,
// which confines itself and becomes the program.
package keeper

// Options configure a keeper.
type Options struct {
	DataDir string   // holds processes/<id>, keeper.lock and engine.log
	Socket  string   // where to listen; if that fails, keeper.sock in DataDir
	Engine  []string // arguments that make this executable the engine

	// EnginePID is an engine that lives already, lost its keeper and will Dial
	// this one: none is started while it lives, and "ready" means that it can
	// dial. 0: start an engine.
	EnginePID int
}

// A Spec says how to start a child.
type Spec struct {
	ID   string   `json:"id"`
	Dir  string   `json:"dir"` // its folder, where exit.json goes
	Argv []string `json:"argv"`
	Path string   `json:"path,omitempty"` // of the program, absolute; empty is found by Argv[0]
	Env  []string `json:"env"`            // complete
	CWD  string   `json:"cwd"`
	TTY  bool     `json:"tty"`
	Cols uint16   `json:"cols,omitempty"` // 0: 80
	Rows uint16   `json:"rows,omitempty"` // 0: 24

	// Without a terminal: the files that stdout and stderr append to. Both may
	// name the same file; an empty one is /dev/null.
	Stdout string `json:"stdout,omitempty"`
	Stderr string `json:"stderr,omitempty"`

	// How many bytes of each of them are kept while no engine is connected; 0: all.
	LogLimit int64 `json:"log_limit,omitempty"`

	// The folder of a cgroup (version 2) that the child begins in, if that can be.
	Cgroup string `json:"cgroup,omitempty"`

	// Transient: how it ended means nothing any more after a loss of power, so
	// exit.json may stay in memory for as long as the kernel likes. An engine that is
	// connected writes that down itself and then has the child forgotten; exit.json is
	// made only if it does not.
	Transient bool `json:"transient,omitempty"`

	// Without a terminal: a FIFO that stdin reads from, for as long as the child
	// lives; empty is /dev/null.
	Stdin string `json:"stdin,omitempty"`

	// Confinement is what engines up to 0.2.0 had keepers confine a child with. A keeper refuses
	// a spec that has it; engines send it only to a keeper that announces that it confines.
	Confinement *struct{} `json:"confinement,omitempty"`
}

// A Child is one process that the keeper has or had.
type Child struct {
	ID        string `json:"id"`
	PID       int    `json:"pid"`
	StartTime uint64 `json:"start_time"` // field 22 of /proc/<pid>/stat
	BootID    string `json:"boot_id"`
	TTY       bool   `json:"tty"`
	Exit      *Exit  `json:"exit,omitempty"` // set once it has ended and exit.json was written
}

// Exit is how a child ended.
type Exit struct {
	Code    *int   `json:"code"`             // nil when a signal ended it or it is unknown
	Signal  string `json:"signal,omitempty"` // "SIGKILL"
	Unknown bool   `json:"unknown,omitempty"`
}
