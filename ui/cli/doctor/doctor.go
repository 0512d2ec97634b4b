package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/persist/datadir"
	"tandem/persist/regular"
	"tandem/ui/cli/output"
)

// engineTimeout is how long a running engine may take to answer.
const engineTimeout = 3 * time.Second

// A Verdict is the result of a check.
type Verdict string

const (
	OK   Verdict = "ok"
	Warn Verdict = "warn" // it works with restrictions
	Fail Verdict = "fail" // it does not work
)

// A Finding is the result of one check, with an explanation.
type Finding struct {
	Check  string  `json:"check"`
	Status Verdict `json:"status"`
	Detail string  `json:"detail"`
	Fix    string  `json:"fix,omitempty"` // what to do; empty for OK
}

// Options configures the checks.
type Options struct {
	Version string                                        // this program's version
	Reach   func(context.Context) (*client.Client, error) // connects to a running engine
	Stdout  io.Writer
	Environ []string
	Env     func(name string) string
	Sandbox func() Sandbox                // reports how agents are confined; nil skips the check
	Lost    func() []LostKeeper           // finds lost keepers; nil skips the check
	Config  func() []Finding              // reports problems with the configuration
	Reboot  func(context.Context) Finding // reports whether a reboot starts the engine
	Traces  func() []string               // lists everything installed on this machine besides the data folder
}

// Examine runs all checks, in the order of the report.
func Examine(ctx context.Context, o Options) []Finding {
	// An unresponsive engine must not block the other checks.
	ctx, cancel := context.WithTimeout(ctx, engineTimeout)
	defer cancel()
	dir, findings := examineFolder()
	if dir != "" {
		findings = append(findings, o.examineEngine(ctx, dir)...)
		findings = append(findings, o.examineLost()...)
		findings = append(findings, examineRecords(dir)...)
		findings = append(findings, examineHistory(dir)...)
	}
	findings = append(findings, o.examineTerminal()...)
	findings = append(findings, o.examineShell())
	findings = append(findings, o.Config()...)
	findings = append(findings, examineKernel(existingParent(dir))...)
	findings = append(findings, examineLogin()...)
	findings = append(findings, o.Reboot(ctx))
	findings = append(findings, o.examineSandbox()...)
	return append(findings, o.examineTraces(dir)...)
}

// examineTraces lists everything that uninstalling must remove.
func (o Options) examineTraces(dataDir string) []Finding {
	if o.Traces == nil {
		return nil
	}
	var findings []Finding
	if _, err := os.Stat(dataDir); err == nil {
		findings = append(findings, Finding{"installed", OK, "data folder " + dataDir, ""})
	}
	for _, trace := range o.Traces() {
		findings = append(findings, Finding{"installed", OK, trace, ""})
	}
	return findings
}

// A LostKeeper is a keeper out of reach for clients, because its data folder was deleted.
type LostKeeper struct {
	Keeper   int      // pid
	Programs []string // running programs, with their pids
	End      func(context.Context) error
}

func (l LostKeeper) String() string {
	what := "no sessions or processes"
	if len(l.Programs) > 0 {
		what = strings.Join(l.Programs, ", ")
	}
	return fmt.Sprintf("pid %d can no longer be reached because its data folder was deleted; it runs %s", l.Keeper, what)
}

// examineLost reports lost keepers.
func (o Options) examineLost() []Finding {
	if o.Lost == nil {
		return nil
	}
	var findings []Finding
	for _, l := range o.Lost() {
		findings = append(findings, Finding{"lost keeper", Warn, l.String(), "`tandem shutdown --all` stops it and everything it runs"})
	}
	return findings
}

// A Sandbox describes how agents are confined on this machine.
type Sandbox struct {
	Profile  string // file named by agents.sandbox; "" for none
	Fault    error  // reason that it cannot be enforced; nil if it can
	Promises []Promise
}

// A Promise is a guarantee of the sandbox.
type Promise struct {
	Name string // a sentence without its full stop
	Why  string // missing kernel feature; "" if the promise holds
}

// examineSandbox reports how agents are confined, and each promise of the sandbox.
func (o Options) examineSandbox() []Finding {
	if o.Sandbox == nil {
		return nil
	}
	const check = "sandbox"
	s := o.Sandbox()
	var findings []Finding
	switch {
	case s.Fault != nil:
		findings = append(findings, Finding{check, Fail, s.Fault.Error(), "fix it; until then agents' calls fail"})
	case s.Profile == "":
		findings = append(findings, Finding{check, Warn, "none is set for agents, so what they run can do anything you can",
			"set agents.sandbox in config.toml; docs/policy.md shows how"})
	default:
		findings = append(findings, Finding{check, OK, "agents are confined by " + s.Profile, ""})
	}
	for _, p := range s.Promises {
		f := Finding{check, OK, p.Name, ""}
		if p.Why != "" {
			f.Status, f.Detail, f.Fix = Warn, "not available here: "+p.Name, p.Why
		}
		findings = append(findings, f)
	}
	return findings
}

// Text formats the report, with a line or two for each finding.
func Text(out output.Printer, findings []Finding) string {
	paint := out.Painter()
	tints := map[Verdict]output.Tint{OK: output.Green, Warn: output.Yellow, Fail: output.Red}
	width := 0
	for _, f := range findings {
		width = max(width, len(f.Check))
	}
	var b strings.Builder
	last := ""
	for _, f := range findings {
		mark, check := paint(tints[f.Status], fmt.Sprintf("%-4s", f.Status)), f.Check
		if check == last {
			check = ""
		}
		last = f.Check
		fmt.Fprintf(&b, "%s  %-*s  %s\n", mark, width, check, output.Visible(f.Detail))
		if f.Fix != "" {
			fmt.Fprintf(&b, "      %-*s  → %s\n", width, "", output.Visible(f.Fix))
		}
	}
	return b.String()
}

// existingParent returns dir, or the nearest existing directory above it.
func existingParent(dir string) string {
	for dir != "" {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return os.TempDir()
}

// examineRecords looks for damaged records, including those already set aside by an engine.
func examineRecords(dir string) []Finding {
	folders, err := os.ReadDir(filepath.Join(dir, datadir.Processes))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return []Finding{unreadRecord(err)}
	}
	count := 0
	var damaged []string
	var findings []Finding
	for _, folder := range folders {
		path := filepath.Join(dir, datadir.Processes, folder.Name(), "record.json")
		aside, _ := filepath.Glob(path + ".bad*") // fails only for an invalid pattern
		text, err := regular.ReadFile(path)
		// A file among the folders gives ENOTDIR and is not a record.
		there := !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR)
		if there || len(aside) > 0 {
			count++
		}
		switch {
		case len(aside) > 0:
			damaged = append(damaged, aside[0])
		case there && err != nil:
			findings = append(findings, unreadRecord(err))
		case there && !isRecord(text, folder.Name()):
			damaged = append(damaged, path)
		}
	}
	f := Finding{"records", OK, fmt.Sprintf("%d, none damaged", count), ""}
	if len(damaged) > 0 {
		f.Status, f.Detail = Warn, fmt.Sprintf("%d of %d are damaged; the first: %s", len(damaged), count, damaged[0])
		f.Fix = "delete the folder of a record you do not need; the engine sets damaged ones aside when it starts"
	}
	return append(findings, f)
}

// unreadRecord returns the finding for an unreadable record or records directory.
func unreadRecord(err error) Finding {
	return Finding{"records", Fail, err.Error(), "make it readable; the engine does not change it and retries every few seconds"}
}

// isRecord reports whether text is the record of the process with the given id. Records of a newer
// version may have another format.
func isRecord(text []byte, id string) bool {
	var r struct {
		Schema int    `json:"schema"`
		ID     string `json:"id"`
	}
	return json.Unmarshal(text, &r) == nil && r.Schema > 0 && (r.ID == id || r.Schema > 1)
}

// checkWritable creates and removes a file in dir, and returns the first error.
func checkWritable(dir string) error {
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 64<<10)) // a small file may fit on a full disk
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

func isPrivate(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 == 0 }

// examineHistory reports damaged histories that were set aside.
func examineHistory(dir string) []Finding {
	var findings []Finding
	for _, path := range damagedHistories(dir) {
		findings = append(findings, Finding{"history", Warn, "was damaged and set aside as " + path, "sqlite3 can often recover it; delete it if you do not need it"})
	}
	return findings
}

// HistoryNote returns the end of a message about damaged histories on this machine, or "" if there
// are none.
func HistoryNote(host string) (note string) {
	if dir, err := api.DataDir(); err == nil && host == "" {
		for _, path := range damagedHistories(dir) {
			note += "; a damaged history is kept as " + path
		}
	}
	return note
}

// damagedHistories returns the paths of damaged histories in a data directory.
func damagedHistories(dir string) (paths []string) {
	aside, _ := filepath.Glob(filepath.Join(dir, datadir.History+".bad*")) // fails only for an invalid pattern
	for _, path := range aside {
		if !strings.HasSuffix(path, "-wal") && !strings.HasSuffix(path, "-shm") {
			paths = append(paths, path)
		}
	}
	return paths
}
