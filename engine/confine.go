package engine

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"tandem/engine/api"
	"tandem/engine/keeper"
	"tandem/engine/sandbox"
	"tandem/engine/supervise"
	"tandem/persist/store"
)

// A way is how a record's child is started.
type way struct {
	argv, env []string
	proxyURL  string // its way out, if it needs one
}

// launch returns how to start a record's child. A child that is confined, or needs another umask
// than that of the keeper, starts through the launch stage.
func (h *host) launch(r store.Record, keeperPID int) (w way, err error) {
	if !r.Sandboxed {
		w.argv, w.env = h.settings().shells.inject(r, r.Argv, h.childEnv(r))
		if r.Umask == "" || r.Umask == api.UmaskOf(strconv.Itoa(keeperPID)) {
			return w, nil
		}
	} else {
		var layers sandbox.Layers
		if layers, w.proxyURL, err = h.confinement(r); err == nil {
			err = layers.Check(h.closed...)
		}
		if err != nil {
			return way{}, err
		}
		w.argv, w.env = r.Argv, replaceEnv(h.childEnv(r), layers.Env(w.proxyURL))
	}
	if len(w.argv) > 0 { // the launch stage could report a missing program only by exiting
		if _, err := keeper.LookPath(w.argv[0], r.CWD, w.env); err != nil {
			return way{}, fmt.Errorf("start %q: %w", w.argv[0], err)
		}
	}
	w.argv, w.env = h.throughLaunchStage(r, w.argv, w.env, w.proxyURL)
	return w, nil
}

// launchConfined is how a command is started on behalf of a record's child,
// within the same sandbox.
func (h *host) launchConfined(r store.Record, command []string) (argv, env []string, err error) {
	layers, proxyURL, err := h.confinement(r)
	if err != nil {
		return nil, nil, err
	}
	argv, env = h.throughLaunchStage(r, command, replaceEnv(h.childEnv(r), layers.Env(proxyURL)), proxyURL)
	return argv, env, nil
}

// confinement gives a record's layers, and the URL of its way out if they need one.
func (h *host) confinement(r store.Record) (layers sandbox.Layers, proxyURL string, err error) {
	if layers, err = sandbox.LoadLayers(h.store.SandboxPath(r.ID)); err != nil {
		return nil, "", err
	}
	if layers.NeedsProxy() {
		proxyURL, err = h.proxies.grant(r.ID, r.ProxyURL, layers, h.refused(r))
	}
	return layers, proxyURL, err
}

// confineLike is what holds a thread to the sandbox of a record's child, for files that the
// child can lead us to; nil if it has none.
func confineLike(r store.Record, data *store.Store, closed []string) func() error {
	if !r.Sandboxed {
		return nil
	}
	return func() error {
		layers, err := sandbox.LoadLayers(data.SandboxPath(r.ID))
		if err != nil {
			return err
		}
		return layers.ConfineThread(closed...)
	}
}

func (h *host) throughLaunchStage(r store.Record, argv, env []string, proxyURL string) (stageArgv, stageEnv []string) {
	exe, profile := fmt.Sprintf("/proc/%d/exe", os.Getpid()), ""
	if r.Sandboxed {
		profile = h.store.SandboxPath(r.ID)
	}
	return sandbox.Command(exe, profile, r.Umask, argv), sandbox.Environ(env, h.o.DataDir, proxyURL)
}

// replaceEnv puts variables behind others, without those of the same name.
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

// refusalGap is the least time between two notices of refused connections of one
// session.
const refusalGap = 10 * time.Second

// refused gives what writes refused connections into a process's log. That of
// a terminal belongs to its session, so a person is told instead.
func (h *host) refused(r store.Record) func(line string) {
	if r.TTY {
		var told atomic.Int64 // when a person was told last: a program may try for ever
		return func(line string) {
			now := time.Now().UnixNano()
			if last := told.Load(); now-last > int64(refusalGap) && told.CompareAndSwap(last, now) {
				h.control.PublishNotice(r.Name + ": " + line)
			}
		}
	}
	return func(line string) {
		f, err := os.OpenFile(h.store.ErrorLogPath(r), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			h.log.Warn("write refused connection", "id", r.ID, "error", err)
			return
		}
		defer f.Close()
		if _, err := f.WriteString(line + "\n"); err != nil {
			h.log.Warn("write refused connection", "id", r.ID, "error", err)
		}
	}
}

// restoreGrant lets a process that runs since an engine before go on using its way
// out. If that engine died before it could write the URL down, the child's
// environment has it.
func (h *host) restoreGrant(f *supervise.Found) {
	r := &f.Rec
	if !r.Sandboxed || api.State(r.State).Ended() {
		return
	}
	if child, ok := f.Child(); ok && r.ProxyURL == "" {
		r.ProxyURL = proxyOf(supervise.IdentityOf(child))
	}
	if r.ProxyURL == "" {
		return
	}
	layers, err := sandbox.LoadLayers(h.store.SandboxPath(r.ID))
	now := ""
	if err == nil {
		now, err = h.proxies.grant(r.ID, r.ProxyURL, layers, h.refused(*r))
	}
	if err == nil && now != r.ProxyURL {
		err = fmt.Errorf("port %d, its way to the network, is already in use; restart it to get another", portOf(r.ProxyURL))
	}
	if err != nil {
		h.log.Error("restore network", "id", r.ID, "error", err)
		h.problems = append(h.problems, fmt.Sprintf("%s: %v", r.Name, err))
	}
}

// proxyOf is the way out that a child was given, "" if it lives no more or
// needs none.
func proxyOf(child store.Identity) string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(child.PID) + "/environ")
	if err != nil || !child.Alive() {
		return ""
	}
	for pair := range bytes.SplitSeq(text, []byte{0}) {
		pair = bytes.TrimPrefix(pair, []byte(sandbox.ChildPrefix)) // the launch stage's
		if value, ok := bytes.CutPrefix(pair, []byte("HTTP_PROXY=")); ok {
			return string(value)
		}
	}
	return ""
}
