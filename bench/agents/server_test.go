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

// patience is how long a task may take before its server is ended.
const patience = 90 * time.Second

// A tally is what a task has cost.
type tally struct {
	calls int
	bytes int // of arguments, and of what the model is shown of results
	took  time.Duration
}

func (t tally) tokens() int { return (t.bytes + 3) / 4 }

// stuck is what a task panics with when it cannot go on.
type stuck string

func giveUp(format string, args ...any) { panic(stuck(fmt.Sprintf(format, args...))) }

// An answer is what a model sees of a tool's result.
type answer struct {
	text   string
	facts  map[string]any
	failed bool
}

// A server is a program that speaks MCP over its standard input and output.
type server struct {
	tally
	cmd        *exec.Cmd
	in         io.WriteCloser
	out        *bufio.Reader
	n          int
	structured bool // the client shows its model structured content where there is some
	trace      io.Writer
	overdue    *time.Timer
}

// startServer starts a server for a client of a name.
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
	s.overdue = time.AfterFunc(patience, func() { cmd.Process.Kill() })
	s.ask("initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": struct{}{},
		"clientInfo": map[string]string{"name": client, "version": "1"}})
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if os.Getenv("TRACE") != "" {
		s.trace = os.Stderr
	}
	return s
}

// end ends the server, as a client does that goes.
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

// call calls a tool and counts what that costs.
func (s *server) call(tool string, args map[string]any) answer {
	given := compact(args)
	began := time.Now()
	raw := s.ask("tools/call", map[string]any{"name": tool, "arguments": json.RawMessage(given)})
	s.took += time.Since(began)
	shown, a := s.shown(raw)
	s.calls++
	s.bytes += len(given) + shown
	if s.trace != nil {
		fmt.Fprintf(s.trace, "  > %s %s (%.2f s, %d tokens)\n    %q\n    %v\n", tool, given, time.Since(began).Seconds(), (len(given)+shown)/4, cut(a.text), a.facts)
	}
	return a
}

// compact is JSON without the escapes that only HTML needs, as models write it.
func compact(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		giveUp("encode arguments: %v", err)
	}
	return bytes.TrimSpace(b.Bytes())
}

func cut(s string) string { return s[:min(len(s), 1500)] }

// shown is what the client shows its model of a result, and its size.
func (s *server) shown(raw json.RawMessage) (size int, a answer) {
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
