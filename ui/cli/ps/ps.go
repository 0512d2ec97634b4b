// Package ps implements the command ps: a table of processes and sessions with their resource use,
// printed once or updated continually.
package ps

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client/retry"
	"tandem/engine/base/sleep"
	"tandem/engine/base/units"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/ls"
	"tandem/ui/cli/output"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
)

// watchInterval is the time between two updates of ps --watch.
const watchInterval = time.Second

// NewPs returns the command ps.
func NewPs(f *factory.Factory) *cobra.Command {
	var watch, all bool
	cmd := &cobra.Command{
		Use:   "ps [-a] [--watch]",
		Short: "Show processes and sessions with their resource use",
		Long: "Shows processes and sessions with their state and resource use, children included.\nRESTARTS counts restarts by a restart policy. -a includes exited commands of `tandem exec`.\n--watch keeps updating until ctrl+c, with --json one line a second.\n" +
			"For a fleet's machines, selected by a pattern or --label, it shows their last report to the hub;\n--usage also asks each of them for CPU, memory and ports.",
		Example:     "tandem ps\ntandem ps --json | jq '.[] | select(.ports != []) | {name, ports}'",
		Annotations: factory.ListAnnotations("usage", "watch"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if watch {
				return watchList(cmd.Context(), f, all)
			}
			list, unread, err := listProcesses(cmd.Context(), f, all)
			if err != nil {
				return err
			}
			if unread > 0 {
				fmt.Fprintf(f.Out.Stderr, "tandem: not shown: %d unreachable; `tandem doctor` says why\n", unread)
			}
			return printList(f.Out, list, true)
		},
	}
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "go on, once a second")
	ls.AddAll(cmd, &all)
	cmd.Flags().Bool("usage", false, "ask each machine of a fleet for its resource use")
	return cmd
}

// listProcesses returns the processes, and the number of records that the engine could not read.
func listProcesses(ctx context.Context, f *factory.Factory, all bool) (list []api.Process, unread int, err error) {
	conn, err := f.DialRetrying(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer conn.Close()
	out, err := api.ProcessList.Call(ctx, conn, api.ProcessListInput{Metrics: true})
	if !all {
		out.Processes = ls.WithoutDone(out.Processes)
	}
	return out.Processes, conn.Unread(), err
}

// PrintReported prints the processes that a machine of a fleet reported to the hub, without their
// resource use.
func PrintReported(out output.Printer, all []api.Process) error {
	for i, p := range all { // the hub omits zero restarts
		if p.Kind == api.KindProcess && p.Supervision == nil {
			all[i].Supervision = &api.Supervision{}
		}
	}
	return printList(out, all, false)
}

// printList prints processes. If measured is false, their resource use is unknown.
func printList(out output.Printer, all []api.Process, measured bool) error {
	list, now := output.LiveFirst(all), time.Now()
	return output.AnswerList(out, newRows(list, now, measured), "no processes; start one with `tandem start`", func() string { return formatTable(out, list, now) })
}

// A row is an element of ps --json: the API's process, and its resource use in separate members.
// Unknown values are omitted.
type row struct {
	api.Process
	CPUPercent    *float64 `json:"cpu_percent,omitempty"`
	RSSBytes      *int64   `json:"rss_bytes,omitempty"`
	Ports         []int    `json:"ports,omitzero"`
	UptimeSeconds float64  `json:"uptime_seconds"` // 0 if no child is alive
	Restarts      int      `json:"restarts"`
}

func newRows(list []api.Process, now time.Time, measured bool) []row {
	rows := make([]row, len(list))
	for i, p := range list {
		rows[i] = row{Process: p, UptimeSeconds: uptime(p, now).Seconds(), Restarts: automaticRestarts(p)}
		if measured {
			m := cmp.Or(p.Metrics, &api.Metrics{})
			rows[i].CPUPercent, rows[i].RSSBytes, rows[i].Ports = &m.CPUPercent, &m.RSSBytes, append([]int{}, m.Ports...)
		}
	}
	return rows
}

// uptime returns how long the child has been alive, or 0 if there is none.
func uptime(p api.Process, now time.Time) time.Duration {
	if p.PID == 0 || p.StartedAt.IsZero() {
		return 0
	}
	return max(now.Sub(p.StartedAt), 0)
}

func automaticRestarts(p api.Process) int {
	if p.Supervision == nil {
		return 0
	}
	return p.Supervision.Automatic
}

func formatTable(out output.Printer, list []api.Process, now time.Time) string {
	t := out.Table("STATE", "NAME", "PID", "CPU", "MEM", "UP", "RESTARTS", "PORTS", "EXIT", "WHO")
	t.Spare = []string{"WHO", "RESTARTS", "EXIT", "UP", "PID", "PORTS"}
	for _, p := range list {
		state, tint := liveState(p)
		cpu, mem, ports := formatUsage(p.Metrics)
		pid, up, restarts := "-", "-", "-"
		if p.PID > 0 {
			pid, up = strconv.Itoa(p.PID), units.Age(uptime(p, now))
		}
		if p.Supervision != nil {
			restarts = strconv.Itoa(p.Supervision.Automatic)
		}
		t.Add(output.Tinted(state, tint), output.Tinted(output.Visible(p.Name), output.Strong), output.Text(pid), output.Text(cpu), output.Text(mem),
			output.Text(up), output.Text(restarts), output.Text(ports), output.Text(output.ExitText(p)), output.Text(output.WhoFrom(p.Actor, p.From)))
		for _, note := range troubleNotes(p, now) {
			t.Note(note)
		}
	}
	return t.String()
}

// liveState returns a process's state in a word or two, and its colour.
func liveState(p api.Process) (string, output.Tint) {
	if p.IsUnready() {
		return "not ready", output.Yellow
	}
	if p.WaitsForInput() {
		return "waits for input", output.Yellow
	}
	if p.State == api.StateWaiting || p.Interrupted != nil || p.IsPrivate() && !p.State.Ended() {
		return output.StateText(p), output.StateTint(p)
	}
	return string(p.State), output.StateTint(p)
}

// formatUsage formats a process's resource use; "-" if it was not measured.
func formatUsage(m *api.Metrics) (cpu, mem, ports string) {
	if m == nil {
		return "-", "-", "-"
	}
	ports = "-"
	if len(m.Ports) > 0 {
		ports = strings.ReplaceAll(strings.Trim(fmt.Sprint(m.Ports), "[]"), " ", ",")
	}
	return fmt.Sprintf("%.1f%%", m.CPUPercent), units.Bytes(m.RSSBytes), ports
}

// troubleNotes explains why a process does not run as it should, and adds its last lines of output.
func troubleNotes(p api.Process, now time.Time) []string {
	const maxLines = 3
	var lines []string
	if p.HasRemains() {
		lines = append(lines, "processes it started are still running; `tandem stop "+output.Visible(p.Name)+"` stops them")
	}
	if p.WaitsForInput() {
		lines = append(lines, "it reads its standard input, which stays silent; `tandem start --no-stdin` gives it /dev/null")
	}
	s := p.Supervision
	switch {
	case p.State != api.StateFailed && p.State != api.StateBackoff:
		return lines
	case p.Error != "":
		lines = append(lines, output.Visible(p.Error))
	}
	if s == nil {
		return lines
	}
	if p.State == api.StateBackoff && s.NextStart != nil {
		lines = append(lines, "starts again in "+max(s.NextStart.Sub(now), 0).Round(100*time.Millisecond).String())
	}
	for _, line := range s.LastLines[max(len(s.LastLines)-maxLines, 0):] {
		lines = append(lines, output.Visible(strings.TrimRight(line, "\r\n")))
	}
	return lines
}

// watchList prints the table repeatedly until a signal arrives.
func watchList(ctx context.Context, f *factory.Factory, all bool) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	p, err := retry.Connect(ctx, f.Dial)
	if err != nil {
		return err
	}
	defer p.Close()
	show := func(list []api.Process, now time.Time) error { return printAgain(f, list, now) }
	if terminal, ok := output.Terminal(f.Stdout); ok && !f.Out.JSON && f.Env("TERM") != "dumb" {
		const enter, leave = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
		// The alternate screen keeps the user's scrollback.
		if err := f.Out.Print(enter); err != nil {
			return err
		}
		defer func() { _ = f.Out.Print(leave) }() // an error means that the terminal is gone
		show = func(list []api.Process, now time.Time) error { return redraw(f, terminal, list, now) }
	}
	for {
		out, err := api.ProcessList.Call(ctx, p, api.ProcessListInput{Metrics: true})
		if !all {
			out.Processes = ls.WithoutDone(out.Processes)
		}
		if err == nil {
			err = show(output.LiveFirst(out.Processes), time.Now())
		}
		if err == nil {
			err = sleep.For(ctx, watchInterval)
		}
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// printAgain prints the table below the previous one.
func printAgain(f *factory.Factory, list []api.Process, now time.Time) error {
	if !f.Out.JSON {
		return f.Out.Print(formatTable(f.Out, list, now) + "\n")
	}
	return f.Out.PrintJSON(newRows(list, now, true), "")
}

// redraw draws the table over the previous one.
func redraw(f *factory.Factory, terminal *os.File, list []api.Process, now time.Time) error {
	cols, height, err := term.GetSize(terminal.Fd())
	if err != nil || cols < 1 || height < 1 {
		cols, height = 80, 24
	}
	lines := strings.Split(strings.TrimSuffix(formatTable(f.Out, list, now), "\n"), "\n")
	if len(lines) > height {
		hidden := len(lines) - height + 1
		lines = append(lines[:height-1], fmt.Sprintf("… and %d more lines", hidden))
	}
	var b strings.Builder
	// Overwrite the old table and erase only the rest, so that the screen does not flicker.
	b.WriteString("\x1b[H")
	for i, line := range lines {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(ansi.Truncate(line, cols, "") + "\x1b[0m\x1b[K")
	}
	b.WriteString("\x1b[J")
	return f.Out.Print(b.String())
}
