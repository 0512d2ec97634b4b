package agents

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// maxTaskTime is the time limit of a task. After it, the server is killed.
const maxTaskTime = 90 * time.Second

// A tally is the cost of a task.
type tally struct {
	calls int
	bytes int // of arguments, and of the results as shown to the model
	took  time.Duration
}

func (t tally) tokens() int { return (t.bytes + 3) / 4 }

// A stuck error is the panic value of a task that cannot continue.
type stuck string

func giveUp(format string, args ...any) { panic(stuck(fmt.Sprintf(format, args...))) }

// An answer is a tool's result as shown to the model.
type answer struct {
	text   string
	facts  map[string]any
	failed bool
}

// A server is a program with the MCP protocol on its standard input and output.
type server struct {
	tally
	cmd        *exec.Cmd
	in         io.WriteCloser
	out        *bufio.Reader
	n          int
	structured bool // the client shows its model structured content if there is any
	trace      io.Writer
	overdue    *time.Timer
}

// startServer starts a server for a client with this name.
func startServer(cmd *exec.Cmd, client string) *server {
	in, err := cmd.StdinPipe()
	if err != nil {
		giveUp("start a server: %v", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		giveUp("start a server: %v", err)
	}
	if err := cmd.Start(); err != nil {
		giveUp("start a server: %v", err)
	}
	s := &server{cmd: cmd, in: in, out: bufio.NewReaderSize(out, 1<<20), structured: strings.HasPrefix(client, "claude-code")}
	s.overdue = time.AfterFunc(maxTaskTime, func() { cmd.Process.Kill() })
	s.ask("initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": struct{}{},
		"clientInfo": map[string]string{"name": client, "version": "1"}})
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if os.Getenv("TRACE") != "" {
		s.trace = os.Stderr
	}
	return s
}

// end disconnects from the server and waits for it to exit.
func (s *server) end() {
	s.in.Close()
	late := time.AfterFunc(5*time.Second, func() { s.cmd.Process.Kill() })
	s.cmd.Wait()
	late.Stop()
	s.overdue.Stop()
}

// ask calls a method and waits for its result.
func (s *server) ask(method string, params any) json.RawMessage {
	s.n++
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": s.n, "method": method, "params": params})
	if err != nil {
		giveUp("%s: %v", method, err)
	}
	fmt.Fprintf(s.in, "%s\n", line)
	for {
		line, err := s.out.ReadBytes('\n')
		if err != nil {
			giveUp("%s: the server does not answer: %v", method, err)
		}
		var reply struct {
			ID     int
			Method string
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if json.Unmarshal(line, &reply) != nil || reply.ID != s.n || reply.Method != "" {
			continue // a notification
		}
		if reply.Error != nil {
			giveUp("%s: %s", method, reply.Error.Message)
		}
		return reply.Result
	}
}

// call calls a tool and counts the cost.
func (s *server) call(tool string, args map[string]any) answer {
	given := compactJSON(args)
	began := time.Now()
	raw := s.ask("tools/call", map[string]any{"name": tool, "arguments": json.RawMessage(given)})
	s.took += time.Since(began)
	shown, a := s.modelView(raw)
	s.calls++
	s.bytes += len(given) + shown
	if s.trace != nil {
		fmt.Fprintf(s.trace, "  > %s %s (%.2f s, %d tokens)\n    %q\n    %v\n", tool, given, time.Since(began).Seconds(), (len(given)+shown)/4, truncateTrace(a.text), a.facts)
	}
	return a
}

// compactJSON returns JSON as models write it, without the escapes needed only by HTML.
func compactJSON(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		giveUp("encode arguments: %v", err)
	}
	return bytes.TrimSpace(b.Bytes())
}

func truncateTrace(s string) string { return s[:min(len(s), 1500)] }

// modelView returns the part of a result that the client shows its model, and its size.
func (s *server) modelView(raw json.RawMessage) (size int, a answer) {
	var result struct {
		Content           []struct{ Type, Text, Data string }
		StructuredContent json.RawMessage
		IsError           bool
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		giveUp("read a result: %v", err)
	}
	a.failed = result.IsError
	var texts []string
	for _, c := range result.Content {
		texts = append(texts, c.Text)
		size += len(c.Text) + len(c.Data)
	}
	a.text = strings.Join(texts, "\n")
	if s.structured && len(result.StructuredContent) > 0 {
		json.Unmarshal(result.StructuredContent, &a.facts)
		if text, ok := a.facts["text"].(string); ok {
			a.text = text
			delete(a.facts, "text")
		}
		return len(result.StructuredContent), a
	}
	return size, a
}
