package cli

import (
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
	"tandem/ui/cli/ls"
	"tandem/ui/cli/output"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
)

// watchStep is how often ps --watch looks.
const watchStep = time.Second

func psCommand(a *app) *cobra.Command {
	var watch bool
	cmd := &cobra.Command{
		Use:     "ps [--watch]",
		Short:   "Show what processes and sessions do and use",
		Long:    "Shows processes and sessions with their state and resource use, children included.\n--watch keeps updating until ctrl+c, with --json one line a second.",
		Example: "tandem ps\ntandem ps --json | jq '.[] | select(.ports != []) | {name, ports}'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if watch {
				return a.watchProcesses(cmd.Context())
			}
			out, err := call(cmd.Context(), a, api.ProcessList, api.ProcessListInput{Metrics: true})
			if err != nil {
				return err
			}
			list := ls.LiveFirst(out.Processes)
			now := time.Now()
			return output.AnswerList(a.out, processRows(list, now), "no processes; start one with `tandem start`", func() string { return processTable(a.out, list, now) })
		},
	}
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "go on, once a second")
	return cmd
}

// A processRow is a row of ps --json: the API's process, and what it uses
// beside its other members.
type processRow struct {
	api.Process
	CPUPercent    float64 `json:"cpu_percent"`
	RSSBytes      int64   `json:"rss_bytes"`
	Ports         []int   `json:"ports"`
	UptimeSeconds float64 `json:"uptime_seconds"` // 0 unless a child is alive
	Restarts      int     `json:"restarts"`
}

func processRows(list []api.Process, now time.Time) []processRow {
	rows := make([]processRow, len(list))
	for i, p := range list {
		rows[i] = processRow{Process: p, Ports: []int{}, UptimeSeconds: uptime(p, now).Seconds(), Restarts: restarts(p)}
		if p.Metrics != nil {
			rows[i].CPUPercent, rows[i].RSSBytes = p.Metrics.CPUPercent, p.Metrics.RSSBytes
			rows[i].Ports = append(rows[i].Ports, p.Metrics.Ports...)
		}
	}
	return rows
}

// uptime is how long the child has been alive; 0 if there is none.
func uptime(p api.Process, now time.Time) time.Duration {
	if p.PID == 0 || p.StartedAt.IsZero() {
		return 0
	}
	return max(now.Sub(p.StartedAt), 0)
}

func restarts(p api.Process) int {
	if p.Supervision == nil {
		return 0
	}
	return p.Supervision.Restarts
}

func processTable(out output.Printer, list []api.Process, now time.Time) string {
	t := out.Table("STATE", "NAME", "PID", "CPU", "MEM", "UP", "RESTARTS", "PORTS", "EXIT", "WHO")
	t.Spare = []string{"WHO", "RESTARTS", "EXIT", "UP", "PID", "PORTS"}
	for _, p := range list {
		state, tint := liveState(p)
		cpu, mem, ports := used(p.Metrics)
		pid, up, again := "-", "-", "-"
		if p.PID > 0 {
			pid, up = strconv.Itoa(p.PID), output.Span(uptime(p, now))
		}
		if p.Supervision != nil {
			again = strconv.Itoa(p.Supervision.Restarts)
		}
		t.Add(output.Tinted(state, tint), output.Tinted(output.Visible(p.Name), output.Strong), output.Text(pid), output.Text(cpu), output.Text(mem),
			output.Text(up), output.Text(again), output.Text(ports), output.Text(exitText(p)), output.Text(whoFrom(p.Actor, p.From)))
		for _, note := range trouble(p, now) {
			t.Note(note)
		}
	}
	return t.String()
}

// whoFrom is who did something, and from which other machine.
func whoFrom(actor, from string) string { return output.Visible(actor + prefixed(" from ", from)) }

// liveState is a process's state in a word or two, and its colour.
func liveState(p api.Process) (string, output.Tint) {
	if s := p.Supervision; p.State == api.StateRunning && s != nil && s.Ready != nil && !*s.Ready {
		return "not ready", output.Yellow
	}
	if p.State == api.StateWaiting {
		return output.StateText(p), output.StateTint(p)
	}
	return string(p.State), output.StateTint(p)
}

// used is what a process uses, "-" where it is not measured.
func used(m *api.Metrics) (cpu, mem, ports string) {
	if m == nil {
		return "-", "-", "-"
	}
	ports = "-"
	if len(m.Ports) > 0 {
		ports = strings.ReplaceAll(strings.Trim(fmt.Sprint(m.Ports), "[]"), " ", ",")
	}
	return fmt.Sprintf("%.1f%%", m.CPUPercent), output.Size(m.RSSBytes), ports
}

// exitText is how a process has ended last, "-" if it has not.
func exitText(p api.Process) string {
	switch {
	case p.ExitSignal != "":
		return p.ExitSignal
	case p.ExitCode != nil:
		return strconv.Itoa(*p.ExitCode)
	case p.ExitUnknown:
		return "unknown"
	}
	return "-"
}

// trouble tells why a process does not run although it should, and its last
// words.
func trouble(p api.Process, now time.Time) []string {
	const words = 3
	var lines []string
	s := p.Supervision
	switch {
	case p.State != api.StateFailed && p.State != api.StateBackoff:
		return nil
	case p.Error != "":
		lines = append(lines, output.Visible(p.Error))
	}
	if s == nil {
		return lines
	}
	if p.State == api.StateBackoff && s.NextStart != nil {
		lines = append(lines, "starts again in "+max(s.NextStart.Sub(now), 0).Round(100*time.Millisecond).String())
	}
	for _, line := range s.LastLines[max(len(s.LastLines)-words, 0):] {
		lines = append(lines, output.Visible(strings.TrimRight(line, "\r\n")))
	}
	return lines
}

// watchProcesses shows the table again and again until a signal comes.
func (a *app) watchProcesses(ctx context.Context) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	p, err := retry.Connect(ctx, a.connect)
	if err != nil {
		return err
	}
	defer p.Close()
	show := a.printProcesses
	if f, ok := output.Terminal(a.Stdout); ok && !a.out.JSON && a.env("TERM") != "dumb" {
		const enter, leave = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
		if err := a.out.Print(enter); err != nil {
			return err
		}
		defer func() { _ = a.out.Print(leave) }() // if that fails there is no terminal to mend
		show = func(list []api.Process, now time.Time) error { return a.redraw(f, list, now) }
	}
	for {
		out, err := api.ProcessList.Call(ctx, p, api.ProcessListInput{Metrics: true})
		if err == nil {
			err = show(ls.LiveFirst(out.Processes), time.Now())
		}
		if err == nil {
			err = retry.Pause(ctx, watchStep)
		}
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// printProcesses prints the table below the last one.
func (a *app) printProcesses(list []api.Process, now time.Time) error {
	if !a.out.JSON {
		return a.out.Print(processTable(a.out, list, now) + "\n")
	}
	return a.out.PrintJSON(processRows(list, now), "")
}

// redraw puts the table on the screen in place of the last one.
func (a *app) redraw(f *os.File, list []api.Process, now time.Time) error {
	cols, rows, err := term.GetSize(f.Fd())
	if err != nil || cols < 1 || rows < 1 {
		cols, rows = 80, 24
	}
	lines := strings.Split(strings.TrimSuffix(processTable(a.out, list, now), "\n"), "\n")
	if len(lines) > rows {
		hidden := len(lines) - rows + 1
		lines = append(lines[:rows-1], fmt.Sprintf("… and %d more lines", hidden))
	}
	var b strings.Builder
	b.WriteString("\x1b[H")
	for i, line := range lines {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(ansi.Truncate(line, cols, "") + "\x1b[0m\x1b[K")
	}
	b.WriteString("\x1b[J")
	return a.out.Print(b.String())
}
