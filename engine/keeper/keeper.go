package keeper

import (
	"context"
	"io"
	"os"
)

// Options configure a keeper.
type Options struct {
	DataDir string   // holds processes/<id>, keeper.lock and engine.log
	Socket  string   // where to listen
	Engine  []string // arguments that make this executable the engine
}

// Main runs the keeper until nothing needs it. If another keeper has the data
// folder already, it asks that one to start its engine instead and returns.
// Once the engine says it is ready, "ready\n" is written to ready; whatever
// prevents that is written there as one line of error and returned. It closes
// ready in every case.
func Main(ctx context.Context, o Options, ready io.WriteCloser) error { panic("not written") }

// A Spec says how to start a child.
type Spec struct {
	ID   string   `json:"id"`
	Dir  string   `json:"dir"` // its folder, where exit.json goes
	Argv []string `json:"argv"`
	Env  []string `json:"env"` // complete
	CWD  string   `json:"cwd"`
	TTY  bool     `json:"tty"`
	Cols uint16   `json:"cols,omitempty"`
	Rows uint16   `json:"rows,omitempty"`

	// Without a terminal: the files that stdout and stderr append to.
	Stdout string `json:"stdout,omitempty"`
	Stderr string `json:"stderr,omitempty"`
}

// A Child is one process that the keeper has or had.
type Child struct {
	ID        string `json:"id"`
	PID       int    `json:"pid"`
	StartTime uint64 `json:"start_time"` // field 22 of /proc/<pid>/stat
	BootID    string `json:"boot_id"`
	TTY       bool   `json:"tty"`
	Exit      *Exit  `json:"exit,omitempty"` // set once it has ended
}

// Exit is how a child ended.
type Exit struct {
	Code    *int   `json:"code"`             // nil when a signal ended it or it is unknown
	Signal  string `json:"signal,omitempty"` // "SIGKILL"
	Unknown bool   `json:"unknown,omitempty"`
}

// A Client is the engine's connection to the keeper. Safe for concurrent use.
type Client struct{}

// Dial connects to a keeper and announces this process as the engine: when it
// dies, the keeper starts another one. Only one engine is announced at a time.
func Dial(ctx context.Context, socket string) (*Client, error) { panic("not written") }

// PID is the keeper's.
func (c *Client) PID() int { panic("not written") }

// Ready tells the keeper that clients can connect to the engine now.
func (c *Client) Ready() error { panic("not written") }

// Start starts a child and gives its identity and, for a terminal, the PTY
// master, non-blocking and ready for deadlines. An exit may be reported before
// Start returns.
func (c *Client) Start(ctx context.Context, s Spec) (Child, *os.File, error) { panic("not written") }

// List tells all children, those that ended and were not forgotten included.
func (c *Client) List(ctx context.Context) ([]Child, error) { panic("not written") }

// Master gives another duplicate of a child's PTY master.
func (c *Client) Master(ctx context.Context, id string) (*os.File, error) { panic("not written") }

// Adopt hands a child of an earlier keeper, and its PTY master if it has one,
// to this keeper.
func (c *Client) Adopt(ctx context.Context, child Child, dir string, master *os.File) error {
	panic("not written")
}

// Forget drops an ended child and closes the keeper's PTY master of it.
func (c *Client) Forget(ctx context.Context, id string) error { panic("not written") }

// Replace makes executable the engine's program, ends this engine (SIGTERM)
// and starts the new one. The caller is expected to exit.
func (c *Client) Replace(ctx context.Context, executable *os.File) error { panic("not written") }

// Pause tells the keeper not to start an engine when this one exits, until a
// client asks; a keeper that holds no children ends then.
func (c *Client) Pause(ctx context.Context) error { panic("not written") }

// Exits delivers children that have ended, after exit.json was written. It is
// closed when the connection to the keeper is lost. An exit that nobody received
// is in List.
func (c *Client) Exits() <-chan Child { panic("not written") }

// Close ends the connection.
func (c *Client) Close() error { panic("not written") }
