// Package agents measures what tasks cost an agent: calls, tokens and time, with
// Tandem's tools and, where they can be had, with others.
//
//	go test -run xxx -bench Tasks -benchtime 1x -timeout 60m ./bench/agents
//
// prints a table in Markdown. The scripts make the calls that a competent agent
// makes, given only what the tools answer. A token is four bytes of a call's
// arguments, or of what the model is shown of the result; time is that of the
// calls, without the model's.
//
// TASK and SERVER, parts of a name, choose among tasks and servers; TRACE=1
// shows every call. TANDEM names another build to measure, COMMANDER the program
// desktop-commander where it is not in PATH.
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

// tasks are all tasks, in the order of the table.
func tasks() []task { return slices.Concat(shellTasks, terminalTasks, serverTasks) }

// tandemServers start Tandem's server for a client of a name.
func tandemServers(p program, name, client string) servers {
	return servers{
		name:  name,
		start: func(dir string) hands { return p.hands(dir, client) },
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

// bothClients are Tandem for a client that shows its model text, and for one
// that shows it structured content.
func bothClients(p program) []servers {
	return []servers{tandemServers(p, "Tandem", "agent"), tandemServers(p, "Tandem, structured", "claude-code")}
}

// Tasks that need nothing but a shell can be done with Tandem's tools.
func TestTasks(t *testing.T) {
	needs.FullRun(t)
	for _, s := range bothClients(build(t)) {
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

// BenchmarkTasks prints what each task costs with each server.
func BenchmarkTasks(b *testing.B) {
	all := append(bothClients(build(b)), unifiedServers())
	if commander, ok := commanderServers(b); ok {
		all = append(all, commander)
	} else {
		fmt.Println("left out: DesktopCommander (not installed)")
	}
	all = slices.DeleteFunc(all, func(s servers) bool { return !strings.Contains(s.name, os.Getenv("SERVER")) })
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
			row += " " + cell(b, task, s) + " |"
		}
		rows = append(rows, row)
	}
	fmt.Println(strings.Join(rows, "\n"))
}

// cell is what a task costs with a server.
func cell(b *testing.B, t task, s servers) string {
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
