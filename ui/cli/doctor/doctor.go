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
	"tandem/ui/cli/output"
)

// doctorLimit is how long a running engine may take to answer the doctor.
const doctorLimit = 3 * time.Second

// A Verdict is how a check came out.
type Verdict string

const (
	OK   Verdict = "ok"
	Warn Verdict = "warn" // it works, but less well
	Fail Verdict = "fail" // it does not work
)

// A Finding is the outcome of one check.
type Finding struct {
	Check  string  `json:"check"`
	Status Verdict `json:"status"`
	Detail string  `json:"detail"`
	Fix    string  `json:"fix,omitempty"` // what to do, unless it is ok
}

// Options are what the checks look at.
type Options struct {
	Version string                                        // of this program
	Reach   func(context.Context) (*client.Client, error) // a running engine
	Stdout  io.Writer
	Environ []string
	Env     func(name string) string
	Sandbox func() Sandbox   // what agents are held to; nil for no such check
	Lost    func() []Lost    // nil for none
	Config  func() []Finding // what is wrong with the configuration
	Traces  func() []string  // what Tandem has put on this machine besides its data folder
}

// Examine does all checks, in the order of the report.
func Examine(ctx context.Context, o Options) []Finding {
	ctx, cancel := context.WithTimeout(ctx, doctorLimit)
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
	findings = append(findings, examineKernel(existing(dir))...)
	findings = append(findings, examineLogin()...)
	findings = append(findings, o.examineSandbox()...)
	return append(findings, o.examineTraces(dir)...)
}

// examineTraces lists what uninstalling has to remove.
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

// Lost is a keeper that no client reaches any more, because its data folder was
// deleted.
type Lost struct {
	Keeper   int      // its pid
	Programs []string // that run under it, with their pids
	End      func(context.Context) error
}

func (l Lost) String() string {
	what := "no sessions or processes"
	if len(l.Programs) > 0 {
		what = strings.Join(l.Programs, ", ")
	}
	return fmt.Sprintf("pid %d can no longer be reached because its data folder was deleted; it runs %s", l.Keeper, what)
}

// examineLost tells of keepers that cannot be reached.
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

// Sandbox is what confines agents on this machine.
type Sandbox struct {
	Profile  string // the file that agents.sandbox names; "" for none
	Fault    error  // why it cannot be enforced
	Promises []Promise
}

// A Promise is what a sandbox keeps, or what this kernel lacks for it.
type Promise struct {
	Name string // a sentence without its full stop
	Why  string // what is missing; "" if it holds
}

// examineSandbox tells what agents are held to, and each promise of the sandbox.
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

// Text is the report, a line or two for each finding.
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

// existing is the data folder or the nearest folder above it that there is.
func existing(dir string) string {
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

// examineRecords looks for records that are damaged, and for those that an
// engine has set aside because they were.
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
		aside, _ := filepath.Glob(path + ".bad*") // fails for no such pattern
		text, err := os.ReadFile(path)
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

// isRecord reports whether a text is the record of the process with an id, or
// one of a newer version, which may be otherwise.
func isRecord(text []byte, id string) bool {
	var r struct {
		Schema int    `json:"schema"`
		ID     string `json:"id"`
	}
	return json.Unmarshal(text, &r) == nil && r.Schema > 0 && (r.ID == id || r.Schema > 1)
}

// writable tries to make a file in a folder.
func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 64<<10)) // what a small record takes on a full disk says nothing
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

// executable reports whether path is a program.
func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// private reports whether only the owner may enter a folder.
func private(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 == 0 }

// examineHistory reports histories that were damaged and set aside.
func examineHistory(dir string) []Finding {
	var findings []Finding
	for _, path := range damagedHistories(dir) {
		findings = append(findings, Finding{"history", Warn, "was damaged and set aside as " + path, "sqlite3 can often recover it; delete it if you do not need it"})
	}
	return findings
}

// HistoryNote names the damaged histories on this machine for a message that ends there; "" for none.
func HistoryNote(host string) (note string) {
	if dir, err := api.DataDir(); err == nil && host == "" {
		for _, path := range damagedHistories(dir) {
			note += "; a damaged history is kept as " + path
		}
	}
	return note
}

// damagedHistories returns the paths of the histories in a data folder that were set aside.
func damagedHistories(dir string) (paths []string) {
	aside, _ := filepath.Glob(filepath.Join(dir, datadir.History+".bad*")) // fails for no such pattern
	for _, path := range aside {
		if !strings.HasSuffix(path, "-wal") && !strings.HasSuffix(path, "-shm") {
			paths = append(paths, path)
		}
	}
	return paths
}
