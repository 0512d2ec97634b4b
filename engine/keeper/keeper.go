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
	// Umask is the child's file mode creation mask in octal; "" is the keeper's own.
	Umask string `json:"umask,omitempty"`
	TTY   bool   `json:"tty"`
	Cols  uint16 `json:"cols,omitempty"` // 0: 80
	Rows  uint16 `json:"rows,omitempty"` // 0: 24

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

	// What the child and all that it starts are held to; nil is nothing. Only for
	// a keeper that Confines.
	Confinement *Confinement `json:"confinement,omitempty"`
}

// A Confinement is ready to be applied to the thread that forks a child. Whoever
// asks for it has worked it out; the keeper looks into none of it.
type Confinement struct {
	// Descriptors of Landlock rulesets, applied in turn. They travel beside the
	// message.
	Rulesets []int `json:"-"`
	// Flags of landlock_restrict_self(2).
	Flags uint32 `json:"flags,omitempty"`
	// The program of a seccomp(2) filter, each struct sock_filter as it is in memory.
	Filter []byte `json:"filter"`
	// Capabilities that stay, each the bit of its number.
	Keep uint64 `json:"keep"`
	// Landlock's rights to open again, in each ruleset, what is open already as
	// standard input, output or error, for writing and for reading.
	Write uint64 `json:"write"`
	Read  uint64 `json:"read"`
}

// Close closes the rulesets. A nil Confinement has none.
func (c *Confinement) Close() {
	if c != nil {
		closeFDs(c.Rulesets)
		c.Rulesets = nil
	}
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
