// Package transport defines how to reach another machine: the command to run, the greeting of its
// bridge, prompts for the user, and the framing of many connections over one. Both ends of a link
// use it.
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

	"tandem/engine/api/sockets"

	"github.com/xtaci/smux"

	"tandem/engine/base/unixsocket"
)

// A Machine is a machine in config.toml.
type Machine struct {
	Name      string
	SSH       string            // "user@box", as for ssh; exclusive with Transport
	Transport []string          // command whose standard input and output connect to the machine's bridge
	Env       map[string]string // additional environment of the command
}

// Target returns how to reach a machine, for display.
func (m Machine) Target() string {
	if m.SSH != "" {
		return m.SSH
	}
	return strings.Join(m.Transport, " ")
}

// findTandem is a shell line to run tandem from any of its usual directories, because a non-login
// shell often has a short PATH. fish, csh and Windows shells pass it unchanged: login shells get
// it as one word in single quotes.
const findTandem = `for t in tandem "$HOME/.local/bin/tandem" "$HOME/bin/tandem" /usr/local/bin/tandem "$HOME/go/bin/tandem" /opt/tandem/bin/tandem; do ` +
	`command -v "$t" >/dev/null 2>&1 && exec "$t" `

// Run returns a command for any login shell to run line in a Bourne shell. line must not contain a
// single quote.
func Run(line string) string { return "exec sh -c '" + line + "'" }

// Tandem returns a command for any login shell that runs tandem with args. They must be words
// without special characters.
func Tandem(args string) string { return Run(TandemLine(args)) }

// TandemLine is Tandem as a line for a Bourne shell.
func TandemLine(args string) string {
	return findTandem + args + `; done; echo "` + missingText + `" >&2; exit 127`
}

// missingText is the output of Tandem if tandem is not installed.
const missingText = "tandem: not found on this machine"

// plainSSH returns an ssh command with options that override those in ~/.ssh/config that would
// break Tandem's commands: running another command, detaching, or losing the input. It also
// disables forwarding of the user's agent and display, because a machine stays linked for a long
// time. ssh before OpenSSH 8.7 ignores options it lacks.
func plainSSH(more ...string) []string {
	argv := []string{"ssh", "-T"}
	for _, option := range []string{"IgnoreUnknown=*", "RequestTTY=no", "RemoteCommand=none", "StdinNull=no", "ClearAllForwardings=yes",
		"ForwardAgent=no", "ForwardX11=no"} {
		argv = append(argv, "-o", option)
	}
	return append(argv, more...)
}

// foregroundSSH returns plainSSH with options that keep ssh in the foreground. Master does not use
// it, because these options conflict with its -f and -N.
func foregroundSSH(more ...string) []string {
	return plainSSH(append([]string{"-o", "SessionType=default", "-o", "ForkAfterAuthentication=no"}, more...)...)
}

// sshCommand returns the command to run a login shell's line on a machine. In the background, it
// never prompts.
func (m Machine) sshCommand(control string, background bool, more ...string) []string {
	argv := foregroundSSH("-o", "ConnectTimeout=10")
	if background {
		argv = append(argv, "-o", "BatchMode=yes", "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3")
	}
	// Without a shared connection, ssh logs in by itself.
	if isOwnSocket(control) {
		argv = append(argv, "-o", "ControlMaster=no", "-S", control)
	}
	return append(append(argv, more...), "--", m.SSH)
}

// Background returns the command of a link, without prompts.
func (m Machine) Background(dataDir string) []string {
	if m.SSH == "" {
		return m.Transport
	}
	return append(m.sshCommand(ControlPath(dataDir, m.Name), true), Tandem("bridge"))
}

// Foreground returns an ssh command to run line on the machine, with prompts at the terminal if
// needed.
func (m Machine) Foreground(dataDir, line string) []string {
	return append(m.sshCommand(ControlPath(dataDir, m.Name), false), line)
}

// Master returns an ssh command to log in, prompting if needed, and to stay in the background as a
// shared connection.
func (m Machine) Master(dataDir string) []string {
	return plainSSH("-o", "ConnectTimeout=20", "-o", "ControlMaster=yes", "-o", "ControlPersist=yes", "-o", "ServerAliveInterval=15",
		"-S", ControlPath(dataDir, m.Name), "-f", "-N", "--", m.SSH)
}

// Check returns an ssh command to check for Master's connection.
func Check(m Machine, dataDir string) []string {
	return foregroundSSH("-q", "-O", "check", "-S", ControlPath(dataDir, m.Name), "--", m.SSH)
}

// Unattended returns an ssh command to run line, provided it can log in without the user.
func (m Machine) Unattended(line string) []string { return append(m.sshCommand("", true), line) }

// EndMaster returns an ssh command to close Master's connection at a control path.
func EndMaster(path string) []string { return foregroundSSH("-O", "exit", "-S", path, "--", "tandem") }

// Masters returns the control paths of existing shared connections: all in the data directory, and
// those of machines whose path is elsewhere.
func Masters(dataDir string, machines []Machine) []string {
	paths, _ := filepath.Glob(filepath.Join(dataDir, masterPrefix+"*"))
	for _, m := range machines {
		if path := ControlPath(dataDir, m.Name); m.SSH != "" && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return slices.DeleteFunc(paths, func(path string) bool { return !isOwnSocket(path) })
}

const masterPrefix = "ssh-"

// isOwnSocket reports whether path is a socket of this user. ssh does not check who owns the socket,
// so in a shared directory another user could impersonate the machine.
func isOwnSocket(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Type() != os.ModeSocket {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// ControlPath returns the socket of the shared ssh connection to a machine. ssh binds it under a
// temporary name 17 bytes longer.
func ControlPath(dataDir, name string) string {
	sum := sha256.Sum256([]byte(dataDir + "\x00" + name))
	engine, _ := sockets.Paths(dataDir)
	path := filepath.Join(filepath.Dir(engine), masterPrefix+hex.EncodeToString(sum[:4]))
	// Fall back to a directory with a short path.
	if len(path)+17 > unixsocket.MaxPath {
		path = filepath.Join(cmp.Or(os.Getenv("XDG_RUNTIME_DIR"), "/tmp"), "tandem-ssh-"+hex.EncodeToString(sum[:8]))
	}
	return path
}

// Command returns a command for argv with the machine's environment. If tandem is not in the PATH,
// it runs this program instead.
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

// Alone starts a command in a session of its own: without a terminal it cannot prompt, and it can
// be killed with its children.
func Alone(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// Frames returns the framing for both ends of a link. Each stream has its own window, so an unread
// stream does not block the others.
func Frames() *smux.Config {
	return &smux.Config{
		Version: 2, KeepAliveInterval: 10 * time.Second, KeepAliveTimeout: 40 * time.Second,
		MaxFrameSize: 16 << 10, MaxReceiveBuffer: 64 << 20, MaxStreamBuffer: 512 << 10,
	}
}

// expressions are compiled on first use, since few programs need them.
type expressions struct{ question, login, address *regexp.Regexp }

var promptExpressions = sync.OnceValue(func() expressions {
	return expressions{
		// prompts: the end of a program's output before it waits for the user
		regexp.MustCompile(`(?i)(password|passphrase|passcode|verification code|one-time|\botp\b|\bpin\b|\byes/no|token|log ?in|username)[^\n]*[:?>]\s*$`),
		// output of a program that cannot continue without the user
		regexp.MustCompile(`(?i)host key verification failed|remote host identification has changed|permission denied|too many authentication failures|` +
			`no more authentication methods|authentication failed|a terminal is required|a password is required|not logged in|please (log ?in|authenticate)|to authenticate, visit|` +
			`confirm user presence|needs? an additional check`),
		regexp.MustCompile(`https?://\S+`),
	}
})

// Asks reports whether a program's output, followed by silence, is a prompt.
func Asks(said string) bool {
	e := promptExpressions()
	return e.question.MatchString(said) || e.login.MatchString(said) && e.address.MatchString(said)
}

// NeedsPerson reports whether a program needed the user, judging by its output after it exited or
// fell silent.
func NeedsPerson(said string) bool {
	e := promptExpressions()
	return e.login.MatchString(said) || e.question.MatchString(said)
}

// Missing reports whether the output says that tandem is not installed.
func Missing(said string) bool { return strings.Contains(said, missingText) }
