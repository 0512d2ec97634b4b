package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"tandem/engine/api"
	"tandem/themes"
	"tandem/ui/cli/output"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"
)

// The least size in which the dashboard shows all of itself.
const (
	leastCols = 60
	leastRows = 15
)

// examineFolder checks the data folder, and tells which it is.
func examineFolder() (dir string, findings []finding) {
	const check = "data folder"
	dir, err := api.DataDir()
	if err != nil {
		return "", []finding{{check, fail, err.Error(), api.AsError(err).Hint}}
	}
	const fix = "make room for it, make it writable, or choose another with TANDEM_DATA_DIR"
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := writable(existing(dir)); err != nil {
			return dir, []finding{{check, fail, fmt.Sprintf("%s cannot be made: %v", dir, err), fix}}
		}
		return dir, []finding{{check, ok, dir + " will be made", ""}}
	case err != nil:
		return dir, []finding{{check, fail, err.Error(), fix}}
	case !info.IsDir():
		return dir, []finding{{check, fail, dir + " is not a folder", fix}}
	}
	if err := writable(dir); err != nil {
		return dir, []finding{{check, fail, fmt.Sprintf("%s cannot be written to: %v", dir, err), fix}}
	}
	if !private(info) {
		detail := fmt.Sprintf("%s is open to other users (%v)", dir, info.Mode().Perm())
		return dir, []finding{{check, warn, detail, "chmod 700 " + dir}}
	}
	return dir, []finding{{check, ok, dir, ""}}
}

// examineEngine asks the engine, if one runs.
func (a *app) examineEngine(ctx context.Context, dir string) []finding {
	socket, _ := api.Sockets(dir)
	client, err := a.Reach(ctx)
	if errors.Is(err, api.CodeUnavailable) {
		detail := "not running; the next call starts it"
		if _, err := os.Lstat(socket); err == nil {
			detail += ", in place of the one that left " + socket
		}
		return []finding{{"engine", ok, detail, ""}}
	}
	if err != nil {
		return []finding{{"engine", fail, err.Error(), api.AsError(err).Hint}}
	}
	defer client.Close()
	info, err := api.EngineInfo.Call(ctx, client, api.Empty{})
	if err != nil {
		return []finding{{"engine", fail, err.Error(), api.AsError(err).Hint}}
	}
	engine := finding{"engine", ok, fmt.Sprintf("version %s, pid %d, %s", info.Version, info.EnginePID, info.Socket), ""}
	if info.Version != a.Version {
		engine.Status = warn
		engine.Detail += ", but this program is " + a.Version
		engine.Fix = "the next call of the newer version replaces it; no session ends"
	}
	keeper := finding{"keeper", ok, fmt.Sprintf("pid %d", info.KeeperPID), ""}
	if info.KeeperPID == 0 {
		keeper = finding{"keeper", warn, "none; a new one is being started", "look again in a moment, and then at engine.log"}
	}
	return []finding{engine, keeper}
}

// examineTerminal checks what the dashboard and attach need.
func (a *app) examineTerminal() []finding {
	out, isTerminal := output.Terminal(a.Stdout)
	findings := []finding{a.examineTERM(isTerminal)}
	if isTerminal {
		findings = append(findings, examineSize(out))
		profile := colorprofile.Detect(out, a.Environ)
		f := finding{"colour", ok, profile.String(), ""}
		if profile < colorprofile.ANSI256 && a.env("NO_COLOR") == "" {
			f.Status, f.Fix = warn, "set TERM to a name with 256 colours, or COLORTERM=truecolor, if the terminal has them"
		}
		findings = append(findings, f)
	}
	locale := finding{"locale", ok, "UTF-8", ""}
	if !themes.UTF8(a.Environ) {
		locale = finding{"locale", warn, "not UTF-8; signs are shown as ASCII", "set LANG to a UTF-8 locale, such as C.UTF-8"}
	}
	return append(findings, locale)
}

func (a *app) examineTERM(isTerminal bool) finding {
	const fix = "set TERM to what the terminal is, such as xterm-256color"
	switch t := a.env("TERM"); {
	case !isTerminal:
		return finding{"terminal", warn, "standard output is no terminal; the dashboard and attach need one", "run tandem in a terminal"}
	case t == "" || t == "dumb":
		return finding{"terminal", fail, fmt.Sprintf("TERM is %q, which shows no screen", t), fix}
	default:
		return finding{"terminal", ok, t, ""}
	}
}

func examineSize(f *os.File) finding {
	cols, rows, err := term.GetSize(f.Fd())
	if err != nil || cols == 0 || rows == 0 {
		return finding{"size", warn, "the terminal does not tell its size", "try `stty cols 80 rows 24`"}
	}
	detail := fmt.Sprintf("%d×%d", cols, rows)
	if cols < leastCols || rows < leastRows {
		return finding{"size", warn, detail, fmt.Sprintf("the dashboard wants %d×%d", leastCols, leastRows)}
	}
	return finding{"size", ok, detail, ""}
}

// examineShell checks what a new session starts.
func (a *app) examineShell() finding {
	shell := a.env("SHELL")
	switch {
	case shell == "" && executable("/bin/sh"):
		return finding{"shell", ok, "/bin/sh, as SHELL is not set", ""}
	case executable(shell):
		return finding{"shell", ok, shell, ""}
	}
	return finding{"shell", fail, fmt.Sprintf("SHELL is %q, which is no program", shell), "set SHELL to your shell, such as /bin/bash"}
}
