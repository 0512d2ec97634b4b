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
	"strings"
	"syscall"
	"time"

	"tandem/engine/api"
	"tandem/engine/hosts/transport"
	"tandem/engine/sleep"
	"tandem/ui/cli/output"
)

// shown passes on what another machine says, with its control characters visible.
type shown struct{ to io.Writer }

func (s *shown) Write(p []byte) (int, error) {
	_, err := io.WriteString(s.to, output.VisibleLines(strings.ReplaceAll(string(p), "\r", "")))
	return len(p), err
}

// login logs in over ssh in this terminal and leaves the connection in the
// background, where links go through it.
func (v *Verbs) login(ctx context.Context, m transport.Machine) error {
	dataDir, err := v.DataDir()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return fmt.Errorf("log in to %s: %w", m.Name, err)
	}
	if v.ssh(ctx, m, transport.Check(m, dataDir), nil, io.Discard) == nil {
		return nil // it is there
	}
	if err := v.ssh(ctx, m, m.Master(dataDir), nil, nil); err != nil {
		return api.Errorf(api.CodeUnavailable, "log in to %s: ssh %s: %v", m.Name, m.SSH, err).
			WithHint("what ssh says is above; `ssh " + m.SSH + "` has to work")
	}
	return nil
}

// endMaster ends the connection that login left, if it is there, also after ctx is over.
func (v *Verbs) endMaster(ctx context.Context, m transport.Machine) {
	if dataDir, err := v.DataDir(); err == nil && m.SSH != "" {
		v.endMasters(ctx, []string{transport.ControlPath(dataDir, m.Name)})
	}
}

// endTimeout is how long a master may take to exit.
const endTimeout = 5 * time.Second

// EndLogins ends all ssh connections that stay in the background for links.
func (v *Verbs) EndLogins(ctx context.Context) {
	if dataDir, err := v.DataDir(); err == nil {
		known, _ := v.Load() // those in the data folder are found without it
		v.endMasters(ctx, transport.Masters(dataDir, known))
	}
}

// endMasters ends the connections at control paths, if they are there, also after ctx is over.
func (v *Verbs) endMasters(ctx context.Context, paths []string) {
	for _, path := range paths {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
		if v.ssh(ctx, transport.Machine{}, transport.EndMaster(path), strings.NewReader(""), io.Discard) == nil { // else there is none
			awaitRemoval(ctx, path)
		}
		cancel()
	}
}

// awaitRemoval waits until a master that is exiting has removed its socket.
func awaitRemoval(ctx context.Context, path string) {
	for {
		if _, err := os.Lstat(path); err != nil || sleep.For(ctx, 10*time.Millisecond) != nil {
			return
		}
	}
}

// ssh runs a command of ssh. Without an input and outputs of its own it has the
// terminal's, where ssh asks what it has to.
func (v *Verbs) ssh(ctx context.Context, m transport.Machine, argv []string, in io.Reader, out io.Writer) error {
	cmd := m.Command(argv, v.Environ)
	stop := context.AfterFunc(ctx, func() {
		if cmd.Process != nil {
			_ = cmd.Process.Signal(syscall.SIGTERM) // on which ssh restores the terminal
		}
	})
	defer stop()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, v.Out.Stderr
	if in == nil {
		cmd.Stdin = v.Stdin
	}
	if out == nil {
		cmd.Stdout = v.Out.Stderr // standard output is the verb's
	}
	if out == io.Discard {
		cmd.Stderr = nil
	}
	return cmd.Run()
}

// probeMark stands before what a machine says of itself; banners come before it.
const probeMark = "tandem-probe "

// probeLine has a shell tell system, processor and where tandem is. It is found
// as links find it.
const probeLine = `echo; echo "` + probeMark + `$(uname -s) $(uname -m)"; ` +
	`for t in tandem "$HOME/.local/bin/tandem" "$HOME/bin/tandem" /usr/local/bin/tandem "$HOME/go/bin/tandem" /opt/tandem/bin/tandem; do ` +
	`p=$(command -v "$t" 2>/dev/null) && echo "` + probeMark + `at $p" && "$p" --version && break; done; true`

// A probe is what a machine says of itself.
type probe struct {
	os, arch string // as Go calls them
	path     string // of tandem; "" if it has none
	bridge   bool   // the key there is held to tandem bridge, which answered
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

// goArch is Go's name of a processor that uname names.
func goArch(machine string) string {
	switch machine {
	case "x86_64", "amd64":
		return "amd64"
	case "aarch64", "arm64":
		return "arm64"
	}
	return machine
}

// provision logs in and sees to it that there is a tandem: of this version, if
// that is asked for.
func (v *Verbs) provision(ctx context.Context, m transport.Machine, upgrade bool) error {
	if _, err := exec.LookPath("ssh"); err != nil {
		return api.Errorf(api.CodeUnavailable, "reach %s: there is no ssh here", m.Name).WithHint("install openssh-client, or give a command after --")
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
func (v *Verbs) install(ctx context.Context, m transport.Machine, upgrade bool) error {
	there, err := v.probe(ctx, m)
	if err != nil {
		return fmt.Errorf("look for tandem on %s: %w", m.Name, err)
	}
	switch {
	case there.bridge && upgrade && there.version != v.Version:
		return api.Errorf(api.CodeConflict, "copy tandem to %s: the key there allows `tandem bridge` only", m.Name).WithHint("install tandem " + v.Version + " there")
	case there.bridge:
		v.Out.Tell("%s has tandem %s, and allows `tandem bridge` only", m.Name, there.version)
		return nil
	case there.path != "" && (!upgrade || there.version == v.Version):
		v.Out.Tell("%s has tandem %s at %s", m.Name, there.version, there.path)
	case there.os != runtime.GOOS || there.arch != runtime.GOARCH:
		return api.Errorf(api.CodeConflict, "copy tandem to %s: it is %s %s, and this tandem is for %s %s", m.Name, there.os, there.arch, runtime.GOOS, runtime.GOARCH).
			WithHint("install tandem " + v.Version + " there in ~/.local/bin, and add it again")
	default:
		if err := v.copy(ctx, m, there); err != nil {
			return err
		}
	}
	if upgrade {
		return v.takeOver(ctx, m)
	}
	return nil
}

func (v *Verbs) probe(ctx context.Context, m transport.Machine) (probe, error) {
	answer, err := v.far(ctx, m, probeLine, nil, cmp.Or(v.ProbeTimeout, probeTimeout))
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

// far runs a line of the Bourne shell on a machine.
func (v *Verbs) far(ctx context.Context, m transport.Machine, line string, in io.Reader, timeout time.Duration) (answer, error) {
	dataDir, err := v.DataDir()
	if err != nil {
		return answer{}, err
	}
	return v.ask(ctx, m.Command(m.Foreground(dataDir, transport.Run(marked(line))), v.Environ), in, timeout)
}

// copy puts this executable on a machine, over the one that is there. It is whole
// or not there at all.
func (v *Verbs) copy(ctx context.Context, m transport.Machine, there probe) error {
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
	answer, err := v.far(ctx, m, line, own, workTimeout)
	if err != nil {
		return fmt.Errorf("copy tandem to %s: %w", m.Name, err)
	}
	_, path, ok := strings.Cut(answer.text, probeMark+"at ")
	if !ok {
		return fmt.Errorf("copy tandem to %s: it was not written", m.Name)
	}
	path, _, _ = strings.Cut(path, "\n")
	v.Out.Tell("copied tandem %s (%d MB) to %s:%s", v.Version, info.Size()>>20, m.Name, strings.TrimSpace(path))
	return nil
}

// takeOver has the tandem of a machine replace an older engine there.
func (v *Verbs) takeOver(ctx context.Context, m transport.Machine) error {
	if _, err := v.far(ctx, m, transport.TandemLine("info"), nil, workTimeout); err != nil {
		return fmt.Errorf("take over the engine of %s: %w", m.Name, err)
	}
	return nil
}

// release ends the login if links do without it: they then come up again after a
// restart of this machine, too. Else it is kept.
func (v *Verbs) release(ctx context.Context, m transport.Machine) {
	var said bytes.Buffer
	cmd := m.Command(m.Unattended(transport.Run(marked("true"))), v.Environ)
	cmd.Stderr = &said
	if _, err := v.ask(ctx, cmd, nil, cmp.Or(v.ProbeTimeout, probeTimeout)); err == nil {
		v.endMaster(ctx, m)
		return
	}
	if ctx.Err() != nil {
		return
	}
	kept := fmt.Sprintf("; this login stays in the background until ssh ends it, or `tandem machine connect %s` makes another", m.Name)
	if transport.NeedsPerson(said.String()) {
		v.Out.Tell("%s needs you to log in%s", m.Name, kept)
		return
	}
	v.Out.Tell("%s cannot be reached without this login: %s%s", m.Name, output.Visible(cmp.Or(strings.TrimSpace(said.String()), "no answer")), kept)
}
