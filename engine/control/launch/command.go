package launch

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"tandem/engine/api"
	"tandem/engine/control/supervise"
	"tandem/engine/system/keeper"
	"tandem/engine/system/sandbox"
	"tandem/persist/store"
)

// A launchCommand is the command that starts a record's child.
type launchCommand struct {
	argv, env []string
	proxyURL  string // of its proxy; "" without one
}

// commandFor returns the command that starts a record's child. If the child has a sandbox or
// another umask than the keeper, the command runs it through the launch stage.
func (l *Launcher) commandFor(r store.Record, keeperPID int) (w launchCommand, err error) {
	if !r.Sandboxed {
		w.argv, w.env = r.Argv, l.childEnv(r)
		if r.TTY {
			var set []string
			w.argv, set = l.Keys().Inject(r.ID, r.Argv, w.env, r.Private)
			w.env = replaceEnv(w.env, set)
		}
		if r.Umask == "" || r.Umask == api.UmaskOf(strconv.Itoa(keeperPID)) {
			return w, nil
		}
	} else {
		var layers sandbox.Layers
		if layers, w.proxyURL, err = l.loadSandbox(r); err == nil {
			err = layers.Check(l.Closed...)
		}
		if err != nil {
			return launchCommand{}, err
		}
		l.Tampers.Begin(r.ID, r.Name, r.CWD, layers.Writable())
		w.argv, w.env = r.Argv, replaceEnv(l.childEnv(r), layers.Env(w.proxyURL))
	}
	if len(w.argv) > 0 { // the launch stage could report a missing program only by exiting
		if _, err := keeper.LookPath(w.argv[0], r.CWD, w.env); err != nil {
			return launchCommand{}, api.Errorf(api.CodeInvalid, "start %q: %v", w.argv[0], err).WithReason(lookReason(err))
		}
	}
	w.argv, w.env = l.throughLaunchStage(r, w.argv, w.env, w.proxyURL)
	return w, nil
}

// lookReason returns the reason for an error of keeper.LookPath.
func lookReason(err error) api.Reason {
	if errors.Is(err, keeper.ProgramNotFound) {
		return api.ReasonProgramNotFound
	}
	return api.ReasonNotStartable
}

// startReason returns the reason why the keeper refused a start. It returns "" if the error has no
// known reason.
func startReason(spec keeper.Spec, refused error) api.Reason {
	switch {
	case errors.Is(refused, keeper.ProgramNotFound):
		return api.ReasonProgramNotFound
	case errors.Is(refused, keeper.NotStartable):
		return api.ReasonNotStartable
	}
	// A keeper up to 0.2.0 sends no reason.
	if len(spec.Argv) > 0 {
		if _, err := keeper.LookPath(spec.Argv[0], spec.CWD, spec.Env); err != nil {
			return lookReason(err)
		}
	}
	return ""
}

// CommandLike returns the arguments and the environment to run a command as if it belonged to a
// record's child: with its variables and in its sandbox.
func (l *Launcher) CommandLike(r store.Record, command []string) (argv, env []string, err error) {
	if !r.Sandboxed {
		return command, l.childEnv(r), nil
	}
	layers, proxyURL, err := l.loadSandbox(r)
	if err != nil {
		return nil, nil, err
	}
	argv, env = l.throughLaunchStage(r, command, replaceEnv(l.childEnv(r), layers.Env(proxyURL)), proxyURL)
	return argv, env, nil
}

// loadSandbox returns the layers of a record's sandbox, and the URL of its proxy if they need one.
func (l *Launcher) loadSandbox(r store.Record) (layers sandbox.Layers, proxyURL string, err error) {
	if layers, err = sandbox.LoadLayers(l.Store.SandboxPath(r.ID)); err != nil {
		return nil, "", err
	}
	if layers.NeedsProxy() {
		proxyURL, err = l.Proxies.Grant(r.ID, r.ProxyURL, layers, l.refusalReporter(r))
	}
	return layers, proxyURL, err
}

// ConfinerFor returns a function that confines the calling thread to the sandbox of a record's
// child. Use it before opening files that the child has named. It is nil if the child has no
// sandbox.
func (l *Launcher) ConfinerFor(r store.Record) func() error {
	if !r.Sandboxed {
		return nil
	}
	return func() error {
		layers, err := sandbox.LoadLayers(l.Store.SandboxPath(r.ID))
		if err != nil {
			return err
		}
		return layers.ConfineThread(l.Closed...)
	}
}

func (l *Launcher) throughLaunchStage(r store.Record, argv, env []string, proxyURL string) (stageArgv, stageEnv []string) {
	// The path through /proc leads to this version's launch stage, even if the file was replaced by
	// an update.
	exe, profile := fmt.Sprintf("/proc/%d/exe", os.Getpid()), ""
	if r.Sandboxed {
		profile = l.Store.SandboxPath(r.ID)
	}
	return sandbox.Command(exe, profile, r.Umask, argv), sandbox.Environ(env, l.DataDir, proxyURL)
}

// replaceEnv appends variables to env, replacing those of the same name.
func replaceEnv(env, with []string) []string {
	names := make(map[string]bool)
	for _, pair := range with {
		name, _, _ := strings.Cut(pair, "=")
		names[name] = true
	}
	env = slices.DeleteFunc(env, func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return names[name]
	})
	return append(env, with...)
}

// refusalInterval is the minimum time between two notices about a session's refused connections.
const refusalInterval = 10 * time.Second

// refusalReporter returns a function that reports refused connections. It appends them to the
// process's log. The log of a session belongs to its terminal, so for a session it shows a notice
// instead.
func (l *Launcher) refusalReporter(r store.Record) func(line string) {
	if r.TTY {
		var lastNotice atomic.Int64 // time of the last notice: a program may retry forever
		return func(line string) {
			now := time.Now().UnixNano()
			if last := lastNotice.Load(); now-last > int64(refusalInterval) && lastNotice.CompareAndSwap(last, now) {
				l.Control.PublishNoticeOf(r, line)
			}
		}
	}
	return func(line string) {
		f, err := os.OpenFile(l.Store.ErrorLogPath(r), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			l.Log.Warn("write refused connection", "id", r.ID, "error", err)
			return
		}
		defer f.Close()
		if _, err := f.WriteString(line + "\n"); err != nil {
			l.Log.Warn("write refused connection", "id", r.ID, "error", err)
		}
	}
}

// RestoreGrant lets a process started by an earlier engine keep using its proxy, and watches the
// folders it can write. If that engine exited before it saved the proxy's URL, the URL is taken
// from the child's environment.
func (l *Launcher) RestoreGrant(f *supervise.Found) error {
	r := &f.Rec
	if !r.Sandboxed || api.State(r.State).Ended() {
		return nil
	}
	layers, err := sandbox.LoadLayers(l.Store.SandboxPath(r.ID))
	if err == nil {
		l.Tampers.Begin(r.ID, r.Name, r.CWD, layers.Writable())
	}
	if child, ok := f.Child(); ok && r.ProxyURL == "" {
		r.ProxyURL = readProxyURL(supervise.IdentityOf(child))
	}
	if r.ProxyURL == "" {
		return nil
	}
	now := ""
	if err == nil {
		now, err = l.Proxies.Grant(r.ID, r.ProxyURL, layers, l.refusalReporter(*r))
	}
	if err == nil && now != r.ProxyURL {
		err = fmt.Errorf("its proxy port %d is already in use; restart it to get another", sandbox.ProxyPort(r.ProxyURL))
	}
	if err != nil {
		l.Log.Error("restore network", "id", r.ID, "error", err)
		return fmt.Errorf("%s: %v", r.Name, err)
	}
	return nil
}

// readProxyURL reads the URL of a child's proxy from its environment. It returns "" if the child
// has exited or has no proxy.
func readProxyURL(child store.Identity) string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(child.PID) + "/environ")
	// Check Alive after reading, because the PID may have been reused by then.
	if err != nil || !child.Alive() {
		return ""
	}
	for pair := range bytes.SplitSeq(text, []byte{0}) {
		pair = bytes.TrimPrefix(pair, []byte(sandbox.ChildPrefix)) // added by the launch stage
		if value, ok := bytes.CutPrefix(pair, []byte("HTTP_PROXY=")); ok {
			return string(value)
		}
	}
	return ""
}
