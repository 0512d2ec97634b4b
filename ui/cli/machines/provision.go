package machines

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/sleep"
	"tandem/engine/remote/hosts/transport"
	"tandem/ui/cli/output"
)

// A visibleWriter forwards another machine's messages with control characters escaped.
type visibleWriter struct{ to io.Writer }

func (s *visibleWriter) Write(p []byte) (int, error) {
	_, err := io.WriteString(s.to, output.VisibleLines(strings.ReplaceAll(string(p), "\r", "")))
	return len(p), err
}

// login logs in over ssh in this terminal and leaves the connection in the background, for links to
// use.
func (v *Commands) login(ctx context.Context, m transport.Machine) error {
	dataDir, err := v.f.Machines.DataDir()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return fmt.Errorf("log in to %s: %w", m.Name, err)
	}
	own := transport.Masters(dataDir, []transport.Machine{m})
	if slices.Contains(own, transport.ControlPath(dataDir, m.Name)) && v.ssh(ctx, m, transport.Check(m, dataDir), nil, io.Discard) == nil {
		return nil // a login exists already
	}
	if err := v.ssh(ctx, m, m.Master(dataDir), nil, nil); err != nil {
		return api.Errorf(api.CodeUnavailable, "log in to %s: ssh %s: %v", m.Name, m.SSH, err).
			WithHint("ssh's messages are above; `ssh " + m.SSH + "` has to work")
	}
	return nil
}

// endMaster closes the background connection of a machine, if there is one, even after ctx has
// ended.
func (v *Commands) endMaster(ctx context.Context, m transport.Machine) {
	if dataDir, err := v.f.Machines.DataDir(); err == nil && m.SSH != "" {
		v.endMasters(ctx, []string{transport.ControlPath(dataDir, m.Name)})
	}
}

// endTimeout is how long a master may take to exit.
const endTimeout = 5 * time.Second

// EndLogins closes all ssh connections kept in the background for links.
func (v *Commands) EndLogins(ctx context.Context) {
	if dataDir, err := v.f.Machines.DataDir(); err == nil {
		known, _ := v.f.Machines.Load() // on error, those in the data folder are still found
		v.endMasters(ctx, transport.Masters(dataDir, known))
	}
}

// endMasters closes the connections at control paths, if they exist, even after ctx has ended.
func (v *Commands) endMasters(ctx context.Context, paths []string) {
	for _, path := range paths {
		// A login must not outlive an interrupted command, so the cleanup ignores its cancellation.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
		if v.ssh(ctx, transport.Machine{}, transport.EndMaster(path), strings.NewReader(""), io.Discard) == nil { // on error there is no master
			awaitRemoval(ctx, path)
		}
		cancel()
	}
}

// awaitRemoval waits until an exiting master has removed its socket.
func awaitRemoval(ctx context.Context, path string) {
	for {
		if _, err := os.Lstat(path); err != nil || sleep.For(ctx, 10*time.Millisecond) != nil {
			return
		}
	}
}

// ssh runs an ssh command. If in or out is nil, it uses the terminal's, so that ssh can ask for a
// password.
func (v *Commands) ssh(ctx context.Context, m transport.Machine, argv []string, in io.Reader, out io.Writer) error {
	cmd := m.Command(argv, v.f.Environ)
	stop := context.AfterFunc(ctx, func() {
		if cmd.Process != nil {
			_ = cmd.Process.Signal(syscall.SIGTERM) // ssh then restores the terminal
		}
	})
	defer stop()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, v.f.Out.Stderr
	if in == nil {
		cmd.Stdin = v.f.Stdin
	}
	if out == nil {
		cmd.Stdout = v.f.Out.Stderr // standard output is for the answer
	}
	if out == io.Discard {
		cmd.Stderr = nil
	}
	return cmd.Run()
}

// probeMark begins the lines of a probe's answer; banners may come before them.
const probeMark = "tandem-probe "

// probeLine makes a shell print the system, the processor and the path of tandem. It searches the
// paths that a link searches.
const probeLine = `echo; echo "` + probeMark + `$(uname -s) $(uname -m)"; ` +
	`for t in tandem "$HOME/.local/bin/tandem" "$HOME/bin/tandem" /usr/local/bin/tandem "$HOME/go/bin/tandem" /opt/tandem/bin/tandem; do ` +
	`p=$(command -v "$t" 2>/dev/null) && echo "` + probeMark + `at $p" && "$p" --version && break; done; true`

// A probe is the answer of a machine to probeLine.
type probe struct {
	os, arch string // in Go's terms
	path     string // path of tandem; "" if there is none
	bridge   bool   // the key there allows only tandem bridge, which answered
	version  string
}

func readProbe(text string) (p probe, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		rest, marked := strings.CutPrefix(line, probeMark)
		system, processor, _ := strings.Cut(rest, " ")
		switch {
		case marked && system == "at":
			p.path = processor
		case marked:
			p.os, p.arch = strings.ToLower(system), goArch(processor)
		case p.path != "" && strings.HasPrefix(line, "tandem "):
			p.version = strings.TrimPrefix(line, "tandem ")
		}
	}
	if p.os == "" {
		return p, errNothingRan
	}
	return p, nil
}

// goArch converts a processor name of uname to Go's.
func goArch(machine string) string {
	switch machine {
	case "x86_64", "amd64":
		return "amd64"
	case "aarch64", "arm64":
		return "arm64"
	}
	return machine
}

// provision logs in and installs tandem if it is missing, or with upgrade if its version differs.
func (v *Commands) provision(ctx context.Context, m transport.Machine, upgrade bool) error {
	if _, err := exec.LookPath("ssh"); err != nil {
		return api.Errorf(api.CodeUnavailable, "reach %s: ssh is not installed here", m.Name).WithHint("install openssh-client, or give a command after --")
	}
	if err := v.login(ctx, m); err != nil {
		return err
	}
	err := v.install(ctx, m, upgrade)
	if err == nil || upgrade {
		v.release(ctx, m)
	}
	return cmp.Or(err, ctx.Err())
}

// install is provision after the login.
func (v *Commands) install(ctx context.Context, m transport.Machine, upgrade bool) error {
	there, err := v.probe(ctx, m)
	if err != nil {
		return fmt.Errorf("look for tandem on %s: %w", m.Name, err)
	}
	switch {
	case there.bridge && upgrade && there.version != v.f.Version:
		return api.Errorf(api.CodeConflict, "copy tandem to %s: the key there allows `tandem bridge` only", m.Name).WithHint("install tandem " + v.f.Version + " there")
	case there.bridge:
		v.f.Out.Tell("%s has tandem %s, and allows `tandem bridge` only", m.Name, there.version)
		return nil
	case there.path != "" && (!upgrade || there.version == v.f.Version):
		v.f.Out.Tell("%s has tandem %s at %s", m.Name, there.version, there.path)
	case there.os != runtime.GOOS || there.arch != runtime.GOARCH:
		return api.Errorf(api.CodeConflict, "copy tandem to %s: it is %s %s, and this tandem is for %s %s", m.Name, there.os, there.arch, runtime.GOOS, runtime.GOARCH).
			WithHint("install tandem " + v.f.Version + " there in ~/.local/bin, and add it again")
	default:
		if err := v.copyProgram(ctx, m, there); err != nil {
			return err
		}
	}
	if upgrade {
		return v.takeOver(ctx, m)
	}
	return nil
}

func (v *Commands) probe(ctx context.Context, m transport.Machine) (probe, error) {
	answer, err := v.runRemote(ctx, m, probeLine, nil, probeTimeout)
	if err != nil {
		return probe{}, err
	}
	if answer.hello == nil {
		return readProbe(answer.text)
	}
	if answer.hello.Error != "" {
		return probe{}, api.Errorf(api.CodeUnavailable, "its bridge has no engine: %s", answer.hello.Error).WithHint(answer.hello.Hint)
	}
	return probe{bridge: true, version: output.Visible(answer.hello.Version)}, nil
}

// runRemote runs a line of the Bourne shell on a machine.
func (v *Commands) runRemote(ctx context.Context, m transport.Machine, line string, in io.Reader, timeout time.Duration) (answer, error) {
	dataDir, err := v.f.Machines.DataDir()
	if err != nil {
		return answer{}, err
	}
	return v.ask(ctx, m.Command(m.Foreground(dataDir, transport.Run(withMark(line))), v.f.Environ), in, timeout)
}

// copyProgram copies this executable to a machine, over an existing one. It renames the file at the
// end, so that an interrupted copy leaves no partial program.
func (v *Commands) copyProgram(ctx context.Context, m transport.Machine, there probe) error {
	// The path of this program may already refer to a newer version.
	own, err := os.Open("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("copy tandem to %s: %w", m.Name, err)
	}
	defer own.Close()
	info, err := own.Stat()
	if err != nil {
		return fmt.Errorf("copy tandem to %s: %w", m.Name, err)
	}
	to := `"$HOME/.local/bin/tandem"`
	if there.path != "" && !strings.ContainsAny(there.path, "'\"$`\\!\n") {
		to = `"` + there.path + `"`
	}
	line := `f=` + to + `; mkdir -p "${f%/*}" && cat > "$f.new" && chmod 755 "$f.new" && mv -f "$f.new" "$f" && echo "` + probeMark + `at $f"`
	answer, err := v.runRemote(ctx, m, line, own, workTimeout)
	if err != nil {
		return fmt.Errorf("copy tandem to %s: %w", m.Name, err)
	}
	_, path, ok := strings.Cut(answer.text, probeMark+"at ")
	if !ok {
		return fmt.Errorf("copy tandem to %s: the file was not written", m.Name)
	}
	path, _, _ = strings.Cut(path, "\n")
	v.f.Out.Tell("copied tandem %s (%d MB) to %s:%s", v.f.Version, info.Size()>>20, m.Name, strings.TrimSpace(path))
	return nil
}

// takeOver makes the tandem of a machine replace an older engine there.
func (v *Commands) takeOver(ctx context.Context, m transport.Machine) error {
	if _, err := v.runRemote(ctx, m, transport.TandemLine("info"), nil, workTimeout); err != nil {
		return fmt.Errorf("take over the engine of %s: %w", m.Name, err)
	}
	return nil
}

// release closes the login if links can connect without it; they then also reconnect after a
// restart of this machine. Otherwise it keeps the login and prints a note.
func (v *Commands) release(ctx context.Context, m transport.Machine) {
	// Connect as a link does, without a terminal for questions.
	var said bytes.Buffer
	cmd := m.Command(m.Unattended(transport.Run(withMark("true"))), v.f.Environ)
	cmd.Stderr = &said
	if _, err := v.ask(ctx, cmd, nil, probeTimeout); err == nil {
		v.endMaster(ctx, m)
		return
	}
	if ctx.Err() != nil {
		return
	}
	kept := fmt.Sprintf("; this login stays in the background until ssh ends it, or `tandem machine connect %s` makes another", m.Name)
	if transport.NeedsPerson(said.String()) {
		v.f.Out.Tell("%s needs you to log in%s", m.Name, kept)
		return
	}
	v.f.Out.Tell("%s cannot be reached without this login: %s%s", m.Name, output.Visible(cmp.Or(strings.TrimSpace(said.String()), "no answer")), kept)
}
