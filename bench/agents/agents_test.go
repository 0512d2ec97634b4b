// Package agents measures the cost of tasks for an agent: calls, tokens and time, with Tandem's
// tools and, if installed, with others.
//
//	go test -run xxx -bench Tasks -benchtime 1x -timeout 60m ./bench/agents
//
// prints a table in Markdown. The scripts make the calls of a competent agent that knows only the
// tools' answers. A token is four bytes of a call's arguments, or of the part of the result shown
// to the model. Time is that of the calls, without the model's.
//
// TASK and SERVER, parts of a name, select tasks and servers. TRACE=1 shows every call. TANDEM
// names another build to measure, and COMMANDER the program desktop-commander if it is not in PATH.
package agents

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"tandem/tests/needs"
)

// tasks returns all tasks, in the order of the table.
func tasks() []task { return slices.Concat(shellTasks, terminalTasks, serverTasks) }

// tandemServer starts Tandem's server for a client with this name.
func tandemServer(p program, name, client string) serverKind {
	return serverKind{
		name:  name,
		start: func(dir string) driver { return p.newDriver(dir, client) },
		kill: func() {
			var info struct {
				EnginePID int `json:"engine_pid"`
			}
			out, err := p.command("info", "--json").Output()
			if err == nil {
				err = json.Unmarshal(out, &info)
			}
			if err != nil || info.EnginePID == 0 {
				giveUp("find the engine: %v", err)
			}
			syscall.Kill(info.EnginePID, syscall.SIGKILL)
		},
	}
}

// bothTandemServers returns Tandem for a client that shows its model text, and for one that shows
// it structured content.
func bothTandemServers(p program) []serverKind {
	return []serverKind{tandemServer(p, "Tandem", "agent"), tandemServer(p, "Tandem, structured", "claude-code")}
}

// Tandem's tools can do all tasks that need only a shell.
func TestTandemCompletesEveryShellTask(t *testing.T) {
	needs.FullRun(t)
	for _, s := range bothTandemServers(newProgram(t)) {
		for _, task := range tasks() {
			if !task.quick {
				continue
			}
			t.Run(s.name+"/"+task.name, func(t *testing.T) {
				if _, err := task.attempt(t, s); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// BenchmarkTasks prints the cost of each task with each server.
func BenchmarkTasks(b *testing.B) {
	all := append(bothTandemServers(newProgram(b)), unifiedServer())
	if commander, ok := commanderServer(b); ok {
		all = append(all, commander)
	} else {
		fmt.Println("left out: DesktopCommander (not installed)")
	}
	all = slices.DeleteFunc(all, func(s serverKind) bool { return !strings.Contains(s.name, os.Getenv("SERVER")) })
	head, line := "| calls / tokens / seconds |", "|---|"
	for _, s := range all {
		head += " " + s.name + " |"
		line += "---|"
	}
	rows := []string{head, line}
	for _, task := range tasks() {
		if !strings.Contains(task.name, os.Getenv("TASK")) {
			continue
		}
		if names := task.missing(); len(names) > 0 {
			fmt.Printf("left out: %s (%s not installed)\n", task.name, strings.Join(names, ", "))
			continue
		}
		row := "| " + task.name + " |"
		for _, s := range all {
			row += " " + tableCell(b, task, s) + " |"
		}
		rows = append(rows, row)
	}
	fmt.Println(strings.Join(rows, "\n"))
}

// tableCell formats the cost of a task with a server.
func tableCell(b *testing.B, t task, s serverKind) string {
	if t.engine && s.kill == nil {
		return "–"
	}
	cost, err := t.attempt(b, s)
	if err != nil {
		fmt.Printf("not done: %s, with %s: %v\n", t.name, s.name, err)
		return "not done"
	}
	return fmt.Sprintf("%d / %d / %.1f", cost.calls, cost.tokens(), cost.took.Seconds())
}
