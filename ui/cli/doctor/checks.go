package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/sockets"
	"tandem/persist/datadir"
	"tandem/themes"
	"tandem/ui/cli/output"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

// The minimum size for the whole dashboard.
const (
	minCols = 60
	minRows = 15
)

// examineFolder checks the data folder and returns its path.
func examineFolder() (dir string, findings []Finding) {
	const check = "data folder"
	dir, err := api.DataDir()
	if err != nil {
		return "", []Finding{{check, Fail, err.Error(), api.AsError(err).Hint}}
	}
	const fix = "make room for it, make it writable, or choose another with TANDEM_DATA_DIR"
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := checkWritable(existingParent(dir)); err != nil {
			return dir, []Finding{{check, Fail, fmt.Sprintf("%s cannot be created: %v", dir, err), fix}}
		}
		return dir, []Finding{{check, OK, dir + " will be created", ""}}
	case err != nil:
		return dir, []Finding{{check, Fail, err.Error(), fix}}
	case !info.IsDir():
		return dir, []Finding{{check, Fail, dir + " is not a folder", fix}}
	}
	if err := checkWritable(dir); err != nil {
		return dir, []Finding{{check, Fail, fmt.Sprintf("%s cannot be written to: %v", dir, err), fix}}
	}
	if !isPrivate(info) {
		detail := fmt.Sprintf("%s is open to other users (%v)", dir, info.Mode().Perm())
		return dir, []Finding{{check, Warn, detail, "chmod 700 " + dir}}
	}
	return dir, []Finding{{check, OK, dir, ""}}
}

// examineEngine checks the engine, if one is running.
func (o Options) examineEngine(ctx context.Context, dir string) []Finding {
	socket, _ := sockets.Paths(dir)
	conn, err := o.Reach(ctx)
	var info api.Info
	if err == nil {
		defer conn.Close()
		info, err = api.EngineInfo.Call(ctx, conn, api.Empty{})
	}
	// Only an engine that holds the lock is expected to answer.
	silent := errors.Is(err, api.CodeUnavailable) || errors.Is(err, context.DeadlineExceeded)
	if pid := lockHolder(dir); pid != "" && silent {
		return []Finding{{"engine", Fail, fmt.Sprintf("process %s holds %s but does not answer at %s", pid, datadir.EngineLock, socket),
			"check again in a moment; if this persists, kill -9 " + pid + ": the next command starts another engine and sessions keep running"}}
	}
	if errors.Is(err, api.CodeUnavailable) {
		detail := "not running; the next command starts it"
		if _, err := os.Lstat(socket); err == nil {
			detail += "; the previous one left " + socket
		}
		return []Finding{{"engine", OK, detail, ""}}
	}
	if err != nil {
		return []Finding{{"engine", Fail, err.Error(), api.AsError(err).Hint}}
	}
	engine := Finding{"engine", OK, fmt.Sprintf("version %s, pid %d, %s", info.Version, info.EnginePID, info.Socket), ""}
	if info.Version != o.Version {
		engine.Status = Warn
		engine.Detail += ", but this program is " + Compared(o.Version, info.Version)
		engine.Fix = "the next command of the newer version replaces it; sessions keep running"
	}
	keeper := Finding{"keeper", OK, fmt.Sprintf("pid %d", info.KeeperPID), ""}
	if info.KeeperPID == 0 {
		keeper = Finding{"keeper", Warn, "none; a new one is starting", "check again in a moment; if it stays like this, see engine.log"}
	}
	findings := []Finding{engine, keeper}
	if info.KeeperPID != 0 {
		findings = append(findings, o.examineScope(ctx, dir, info.KeeperPID)...)
	}
	findings = append(findings, examineUser(ctx, conn)...)
	if info.KeptOutput != nil {
		findings = append(findings, Finding{"kept output", OK, output.KeptText(info.KeptOutput), ""})
	}
	for _, why := range info.Unread {
		findings = append(findings, Finding{"unreachable", Warn, why, "everything keeps running; the engine retries every few seconds"})
	}
	return findings
}

// Compared describes the version of a program beside the engine's, such as "0.3.0, newer than the
// engine".
func Compared(program, engine string) string {
	switch {
	case client.IsNewer(program, engine):
		return program + ", newer than the engine"
	case client.IsNewer(engine, program):
		return program + ", older than the engine"
	}
	return program
}

// lockHolder returns the pid of the engine holding the lock on dir, or "". If the pid cannot be
// read, it returns "(unknown)".
func lockHolder(dir string) string {
	f, err := os.Open(filepath.Join(dir, datadir.EngineLock))
	if err != nil {
		return ""
	}
	defer f.Close()
	if !errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK) {
		return ""
	}
	// The holder may not have written its pid yet.
	pid, _ := io.ReadAll(io.LimitReader(f, 32))
	return cmp.Or(strings.TrimSpace(string(pid)), "(unknown)")
}

// examineUser calls an operation reserved for the user. The error explains why the engine takes
// this terminal for an agent's.
func examineUser(ctx context.Context, engine api.Engine) []Finding {
	_, err := api.RequestList.Call(ctx, engine, api.Empty{})
	switch {
	case err == nil:
		return []Finding{{"user", OK, "recognised; agents' requests can be answered here", ""}}
	case errors.Is(err, api.CodeForbidden):
		return []Finding{{"user", Warn, "not recognised here, so agents' requests cannot be answered: " + api.AsError(err).Message,
			"use a terminal that no agent started or typed into; /proc must show your processes"}}
	}
	return nil // an older engine without the operation
}

// examineTerminal checks the requirements of the dashboard and attach.
func (o Options) examineTerminal() []Finding {
	out, isTerminal := output.Terminal(o.Stdout)
	findings := []Finding{o.examineTERM(isTerminal)}
	if isTerminal {
		findings = append(findings, examineSize(out))
		profile := colorprofile.Detect(out, o.Environ)
		f := Finding{"colour", OK, profile.String(), ""}
		if profile < colorprofile.ANSI256 && o.Env("NO_COLOR") == "" {
			f.Status, f.Fix = Warn, "if your terminal shows more, set TERM to an entry with 256 colours, or COLORTERM=truecolor"
		}
		findings = append(findings, f)
	}
	locale := Finding{"locale", OK, "UTF-8", ""}
	if !themes.UTF8(o.Environ) {
		locale = Finding{"locale", Warn, "not UTF-8; symbols are shown as ASCII", "set LANG to a UTF-8 locale, such as C.UTF-8"}
	}
	return append(findings, locale)
}

func (o Options) examineTERM(isTerminal bool) Finding {
	const fix = "set TERM to your terminal's type, such as xterm-256color"
	switch t := o.Env("TERM"); {
	case !isTerminal:
		return Finding{"terminal", Warn, "standard output is not a terminal; the dashboard and attach need one", "run tandem in a terminal"}
	case t == "" || t == "dumb":
		return Finding{"terminal", Fail, fmt.Sprintf("TERM is %q, which cannot show a screen", t), fix}
	default:
		return Finding{"terminal", OK, t, ""}
	}
}

func examineSize(f *os.File) Finding {
	cols, rows, err := term.GetSize(f.Fd())
	if err != nil || cols == 0 || rows == 0 {
		return Finding{"size", Warn, "the terminal does not report its size", "try `stty cols 80 rows 24`"}
	}
	detail := fmt.Sprintf("%d×%d", cols, rows)
	if cols < minCols || rows < minRows {
		return Finding{"size", Warn, detail, fmt.Sprintf("the dashboard needs %d×%d", minCols, minRows)}
	}
	return Finding{"size", OK, detail, ""}
}

// examineShell checks the program of a new session.
func (o Options) examineShell() Finding {
	shell := o.Env("SHELL")
	switch {
	case shell == "" && isExecutable("/bin/sh"):
		return Finding{"shell", OK, "/bin/sh, because SHELL is not set", ""}
	case isExecutable(shell):
		return Finding{"shell", OK, shell, ""}
	}
	return Finding{"shell", Fail, fmt.Sprintf("SHELL is %q, which is not a program", shell), "set SHELL to your shell, such as /bin/bash"}
}
