package factory

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/client/retry"
	"tandem/ui/cli/output"
)

// A Factory holds what commands share during one run of the program.
type Factory struct {
	Options
	Out output.Printer

	Hosts []string // machines to run on, from --host or TANDEM_HOST; none means this one
	Here  bool     // the command works on this machine only, even with TANDEM_HOST
}

// New returns a factory with the defaults of o filled in.
func New(o Options) *Factory {
	o = o.complete()
	return &Factory{Options: o, Out: o.Printer()}
}

// Host returns the machine to run a command on; "" for this one.
func (f *Factory) Host() string {
	switch {
	case f.Here:
		return ""
	case f.OnHost != "":
		return f.OnHost
	case len(f.Hosts) > 0:
		return f.Hosts[0]
	}
	return f.Env("TANDEM_HOST")
}

// Dial connects to the engine of the command's machine, never to another one's.
func (f *Factory) Dial(ctx context.Context) (*client.Client, error) { return f.dialOr(ctx, f.Connect) }

// DialRunning is like Dial, but starts no engine here.
func (f *Factory) DialRunning(ctx context.Context) (*client.Client, error) {
	return f.dialOr(ctx, f.Reach)
}

// dialOr connects to the engine of the command's machine. If that is this machine, it calls local.
func (f *Factory) dialOr(ctx context.Context, local func(context.Context) (*client.Client, error)) (*client.Client, error) {
	if host := f.Host(); host != "" {
		return f.ConnectMachine(ctx, host)
	}
	return local(ctx)
}

// DialIfAlive connects to the engine. If none runs, it starts one only if needed to report or stop
// something: a live keeper or, if withExited is set, processes without a keeper. Otherwise it
// returns a nil client and no error.
func (f *Factory) DialIfAlive(ctx context.Context, withExited bool) (*client.Client, error) {
	conn, err := f.DialRunning(ctx)
	if !errors.Is(err, api.CodeUnavailable) {
		return conn, err
	}
	// A keeper without an engine may hold sessions, and only an engine can list or stop them.
	if keeperAnswers() || withExited && f.HasProcesses() {
		return f.Dial(ctx)
	}
	return nil, nil
}

// keeperAnswers reports whether the data folder's keeper answers.
func keeperAnswers() bool {
	dir, err := api.DataDir()
	if err != nil {
		return false
	}
	return client.KeeperAnswers(dir)
}

// DialRetrying connects for calls that are retried when safe. It does not wait for an offline
// machine.
func (f *Factory) DialRetrying(ctx context.Context) (*retry.Conn, error) {
	conn, err := retry.Connect(ctx, f.Dial)
	if err == nil {
		conn.Hasty = true
	}
	return conn, err
}

// AnnounceWaits makes conn print a note while it waits for an offline machine.
func (f *Factory) AnnounceWaits(conn *retry.Conn) {
	conn.Away = func() { fmt.Fprintf(f.Stderr, "tandem: %s is offline, waiting\n", conn.Machine()) }
}

// Call connects and calls an operation. It does not wait for an offline machine.
func Call[In, Out any](ctx context.Context, f *Factory, op api.Operation[In, Out], in In) (Out, error) {
	return callRetrying(ctx, f, op, in, true)
}

// CallWaiting calls an operation like Call, but waits for an offline machine.
func CallWaiting[In, Out any](ctx context.Context, f *Factory, op api.Operation[In, Out], in In) (Out, error) {
	return callRetrying(ctx, f, op, in, false)
}

// callRetrying calls an operation. If the connection is lost, it calls the operation again if that
// is safe. If hasty is set, it does not wait for an offline machine.
func callRetrying[In, Out any](ctx context.Context, f *Factory, op api.Operation[In, Out], in In, hasty bool) (Out, error) {
	conn, err := f.DialRetrying(ctx)
	if err != nil {
		var none Out
		return none, err
	}
	defer conn.Close()
	conn.Hasty = hasty
	return op.Call(ctx, conn, in)
}

// ByID returns a function for CallEach that calls op, an operation with an id as its only input.
func ByID[Out any](op api.Operation[api.IDInput, Out]) func(context.Context, api.Engine, string) (Out, error) {
	return func(ctx context.Context, e api.Engine, id string) (Out, error) {
		return op.Call(ctx, e, api.IDInput{ID: id})
	}
}

// CallEach calls the function do with every id, at most atOnce at a time, and continues after
// errors. It prints the results in the order of ids; as JSON they are an array.
func CallEach[Out any](cmd *cobra.Command, f *Factory, ids []string, atOnce int,
	do func(context.Context, api.Engine, string) (Out, error), text func(Out) string) error {
	conn, err := f.DialRetrying(cmd.Context())
	if err != nil {
		return err
	}
	defer conn.Close()
	outs, errs := make([]Out, len(ids)), make([]error, len(ids))
	slots := make(chan struct{}, atOnce)
	var calls sync.WaitGroup
	for i, id := range ids {
		slots <- struct{}{}
		calls.Go(func() {
			outs[i], errs[i] = do(cmd.Context(), conn, id)
			<-slots
		})
	}
	calls.Wait()
	return output.AnswerAll(f.Out, outs, errs, text)
}

// ListIfRunning lists sessions and processes. It starts an engine only if processes are alive
// without one.
func (f *Factory) ListIfRunning(ctx context.Context, in api.ProcessListInput) ([]api.Process, error) {
	client, err := f.DialIfAlive(ctx, true)
	if err != nil || client == nil {
		return nil, err
	}
	defer client.Close()
	out, err := api.ProcessList.Call(ctx, client, in)
	return out.Processes, err
}

// Confirm asks question on the terminal before an irreversible change. It returns an error unless
// the answer is yes.
func (f *Factory) Confirm(verb, question string) error {
	if _, ok := output.Terminal(f.Stdin); !ok {
		return output.UsageError(verb+": no terminal to ask on", "give --yes to do it anyway")
	}
	fmt.Fprintf(f.Stderr, "%s [y/N] ", question)
	line, err := bufio.NewReader(f.Stdin).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	if err != nil {
		// End the line of the prompt after ctrl+d.
		f.Out.Tell("")
	}
	return &output.ExitError{Status: output.StatusFailed, Err: errors.New(verb + ": cancelled, nothing was changed")}
}

// Folder returns the folder to start something in. On another machine cwd must be absolute, or
// empty for its home directory.
func (f *Factory) Folder(cwd string) (string, error) {
	host := f.Host()
	switch {
	case host == "":
		dir, err := filepath.Abs(cwd)
		if err != nil {
			return "", fmt.Errorf("find folder %q: %w", cwd, err)
		}
		return dir, nil
	case cwd == "" || filepath.IsAbs(cwd):
		return cwd, nil
	}
	return "", output.UsageError("find folder "+output.Visible(cwd)+" on "+host+": must be an absolute path", "this folder is not on that machine")
}

// StartEnviron returns the environment for something to start. It returns nil on another machine,
// whose engine uses its own.
func (f *Factory) StartEnviron() map[string]string {
	if f.Host() != "" {
		return nil
	}
	return api.Environ(f.Environ)
}

// StartUmask returns the umask for something to start, or "" on another machine, whose engine uses
// its own.
func (f *Factory) StartUmask() string {
	if f.Host() != "" {
		return ""
	}
	return api.Umask()
}

// TerminalSize returns the size of this program's terminal, or 0, 0 without one.
func (f *Factory) TerminalSize() (cols, rows int) {
	for _, stream := range []any{f.Stdout, f.Stderr, f.Stdin} {
		if file, ok := output.Terminal(stream); ok {
			if cols, rows, err := term.GetSize(file.Fd()); err == nil {
				return cols, rows
			}
		}
	}
	return 0, 0
}

// DisplayPath returns path with a tilde for the home directory. It leaves paths of another machine
// unchanged, because that machine's home directory is unknown.
func (f *Factory) DisplayPath(path string) string {
	if f.Host() != "" {
		return path
	}
	return TildePath(path)
}
