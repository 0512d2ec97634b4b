// Package transport is the way to another machine: the command that reaches it,
// what its bridge says first, what a person has to be asked, and the frames in
// which many connections share one. Both ends of a link use it.
package transport

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/xtaci/smux"

	"tandem/engine/api"
)

// A Machine is what config.toml says of one.
type Machine struct {
	Name      string
	SSH       string            // "user@box", as ssh takes it; or Transport
	Transport []string          // a command whose standard input and output is the machine's bridge
	Env       map[string]string // added to the environment of ssh or of the command
}

// Target is how a machine is reached, for people.
func (m Machine) Target() string {
	if m.SSH != "" {
		return m.SSH
	}
	return strings.Join(m.Transport, " ")
}

// find is a line for the shell of a machine that runs tandem wherever it is:
// a shell that is no login shell often has a short PATH. Nothing in it means
// anything else to fish, csh or a shell of Windows: login shells get it as one
// word in single quotes.
const find = `for t in tandem "$HOME/.local/bin/tandem" "$HOME/bin/tandem" /usr/local/bin/tandem "$HOME/go/bin/tandem" /opt/tandem/bin/tandem; do ` +
	`command -v "$t" >/dev/null 2>&1 && exec "$t" `

// Run is what a login shell of any kind runs as a line of the Bourne shell.
// The line has no single quote.
func Run(line string) string { return "exec sh -c '" + line + "'" }

// Tandem is what a login shell of any kind runs as tandem with arguments, which
// are words without anything that a shell would read.
func Tandem(args string) string { return Run(TandemLine(args)) }

// TandemLine is Tandem as a line of the Bourne shell.
func TandemLine(args string) string {
	return find + args + `; done; echo "` + missing + `" >&2; exit 127`
}

// missing is what Tandem says where there is none.
const missing = "tandem: not found on this machine"

// plainSSH returns ssh with options that override those of ~/.ssh/config that would change
// what a command of Tandem's does: run another one, detach, or lose its input. An ssh that
// lacks one of the options (before OpenSSH 8.7) ignores it.
func plainSSH(more ...string) []string {
	argv := []string{"ssh", "-T"}
	for _, option := range []string{"IgnoreUnknown=*", "RequestTTY=no", "RemoteCommand=none", "StdinNull=no", "ClearAllForwardings=yes"} {
		argv = append(argv, "-o", option)
	}
	return append(argv, more...)
}

// foregroundSSH returns plainSSH without its options for detaching, which -f and -N of
// Master set.
func foregroundSSH(more ...string) []string {
	return plainSSH(append([]string{"-o", "SessionType=default", "-o", "ForkAfterAuthentication=no"}, more...)...)
}

// ssh is the command that runs a line of a login shell on a machine. In the
// background it asks nobody anything.
func (m Machine) ssh(control string, background bool, more ...string) []string {
	argv := foregroundSSH("-o", "ConnectTimeout=10")
	if background {
		argv = append(argv, "-o", "BatchMode=yes", "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3")
	}
	if isSocket(control) {
		argv = append(argv, "-o", "ControlMaster=no", "-S", control)
	}
	return append(append(argv, more...), "--", m.SSH)
}

// Background is the command of a link that asks nobody.
func (m Machine) Background(dataDir string) []string {
	if m.SSH == "" {
		return m.Transport
	}
	return append(m.ssh(ControlPath(dataDir, m.Name), true), Tandem("bridge"))
}

// Foreground is a command of ssh that runs a line on the machine, and may ask the
// person at the terminal.
func (m Machine) Foreground(dataDir, line string) []string {
	return append(m.ssh(ControlPath(dataDir, m.Name), false), line)
}

// Master is the command of ssh that logs in, asks what it has to, and stays in
// the background for others to go through.
func (m Machine) Master(dataDir string) []string {
	return plainSSH("-o", "ConnectTimeout=20", "-o", "ControlMaster=yes", "-o", "ControlPersist=yes", "-o", "ServerAliveInterval=15",
		"-S", ControlPath(dataDir, m.Name), "-f", "-N", "--", m.SSH)
}

// Check is the command of ssh that tells whether Master's connection is there.
func Check(m Machine, dataDir string) []string {
	return foregroundSSH("-q", "-O", "check", "-S", ControlPath(dataDir, m.Name), "--", m.SSH)
}

// Unattended is the command of ssh that runs a line if it can log in without a person.
func (m Machine) Unattended(line string) []string { return append(m.ssh("", true), line) }

// EndMaster is the command of ssh that ends what Master left at a control path.
func EndMaster(path string) []string { return foregroundSSH("-O", "exit", "-S", path, "--", "tandem") }

// Masters returns the control paths of a data directory that exist: all in it, and outside
// it those of machines.
func Masters(dataDir string, machines []Machine) []string {
	paths, _ := filepath.Glob(filepath.Join(dataDir, masterPrefix+"*"))
	for _, m := range machines {
		if path := ControlPath(dataDir, m.Name); m.SSH != "" && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return slices.DeleteFunc(paths, func(path string) bool { return !isSocket(path) })
}

const masterPrefix = "ssh-"

func isSocket(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().Type() == os.ModeSocket
}

// ControlPath is the socket of the ssh connection that a person has opened for
// others to go through. ssh binds it under a name that is longer by 17 bytes.
func ControlPath(dataDir, name string) string {
	sum := sha256.Sum256([]byte(dataDir + "\x00" + name))
	engine, _ := api.Sockets(dataDir)
	path := filepath.Join(filepath.Dir(engine), masterPrefix+hex.EncodeToString(sum[:4]))
	if len(path)+17 > api.MaxSocketPath {
		path = filepath.Join(cmp.Or(os.Getenv("XDG_RUNTIME_DIR"), "/tmp"), "tandem-ssh-"+hex.EncodeToString(sum[:8]))
	}
	return path
}

// Command makes a process of argv with the machine's environment. A program
// called tandem that is not in the PATH is this one.
func (m Machine) Command(argv []string, env []string) *exec.Cmd {
	cmd := exec.Command(argv[0], argv[1:]...)
	if argv[0] == "tandem" && cmd.Err != nil {
		cmd = exec.Command("/proc/self/exe", argv[1:]...)
		cmd.Args[0] = "tandem"
	}
	for name, value := range m.Env {
		env = append(env, name+"="+value)
	}
	cmd.Env = env
	return cmd
}

// Alone gives a command a session of its own: without a terminal, it can ask
// nobody, and all that it starts can be ended with it.
func Alone(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// Frames is how both ends cut their streams into pieces. A stream that nobody
// reads holds up no other: each has a window of its own.
func Frames() *smux.Config {
	return &smux.Config{
		Version: 2, KeepAliveInterval: 10 * time.Second, KeepAliveTimeout: 40 * time.Second,
		MaxFrameSize: 16 << 10, MaxReceiveBuffer: 64 << 20, MaxStreamBuffer: 512 << 10,
	}
}

// expressions are compiled when something is first said: few programs need them.
type expressions struct{ question, login, address *regexp.Regexp }

var compiled = sync.OnceValue(func() expressions {
	return expressions{
		// the ends of what a program says that waits for a person
		regexp.MustCompile(`(?i)(password|passphrase|passcode|verification code|one-time|\botp\b|\bpin\b|\byes/no|token|log ?in|username)[^\n]*[:?>]\s*$`),
		// what a program says that cannot go on without a person
		regexp.MustCompile(`(?i)host key verification failed|remote host identification has changed|permission denied|too many authentication failures|` +
			`no more authentication methods|authentication failed|a terminal is required|a password is required|not logged in|please (log ?in|authenticate)|to authenticate, visit|` +
			`confirm user presence|needs? an additional check`),
		regexp.MustCompile(`https?://\S+`),
	}
})

// Asks reports whether what a program has said, and then waited, is a question.
func Asks(said string) bool {
	e := compiled()
	return e.question.MatchString(said) || e.login.MatchString(said) && e.address.MatchString(said)
}

// NeedsPerson reports whether a program that has ended, or says nothing more, wanted
// a person.
func NeedsPerson(said string) bool {
	e := compiled()
	return e.login.MatchString(said) || e.question.MatchString(said)
}

// Missing reports whether a machine has said that it has no tandem.
func Missing(said string) bool { return strings.Contains(said, missing) }
