package agents

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"tandem/tests/harness"
	"testing"

	"github.com/coder/websocket"
)

// A server is `tandem --serve` in a child process with its own data folder.
type server struct {
	testing.TB
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *bufio.Reader
	dir    string
	n      int

	outPipe io.Closer
}

// newServer starts a server. Its engine is stopped with the test.
func newServer(t testing.TB, args ...string) *server {
	t.Helper()
	dir, err := os.MkdirTemp("", "td")
	if err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), harness.AsProgram+"=1", "TANDEM_DATA_DIR="+filepath.Join(dir, "d"),
		"XDG_CONFIG_HOME="+filepath.Join(dir, "config"), "HOME="+dir, "SHELL=/bin/sh", "ENV=", "PS1=ready> ")
	s := &server{TB: t, dir: filepath.Join(dir, "d")}
	s.start(env, args)
	t.Cleanup(func() {
		s.in.Close()
		_ = s.cmd.Wait() // unless the test has already waited for it
		if out, err := s.command("shutdown", "--all", "--yes").CombinedOutput(); err != nil && !bytes.Contains(out, []byte("not running")) {
			t.Errorf("shut down: %v: %s", err, out)
		}
		os.RemoveAll(dir)
	})
	return s
}

// command returns a command of tandem with the server's data folder.
func (s *server) command(args ...string) *exec.Cmd {
	c := exec.Command("/proc/self/exe", args...)
	c.Env = s.cmd.Env
	return c
}

// start starts the server's process.
func (s *server) start(env, args []string) {
	s.Helper()
	s.cmd = exec.Command("/proc/self/exe", append([]string{"--serve"}, args...)...)
	s.cmd.Env, s.cmd.Dir = env, filepath.Dir(s.dir)
	pipes := func() (err error) {
		if s.in, err = s.cmd.StdinPipe(); err != nil {
			return err
		}
		out, err := s.cmd.StdoutPipe()
		if err != nil {
			return err
		}
		stderr, err := s.cmd.StderrPipe()
		s.outPipe = out
		s.out, s.stderr = bufio.NewReader(out), bufio.NewReader(stderr)
		return err
	}
	if err := pipes(); err != nil {
		s.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		s.Fatal(err)
	}
}

// ask calls a method over the pipes and returns the result.
func (s *server) ask(method, params string) (result map[string]any) {
	s.Helper()
	s.n++
	fmt.Fprintf(s.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", s.n, method, params)
	for {
		line, err := s.out.ReadBytes('\n')
		if err != nil {
			s.Fatalf("%s: %v", method, err)
		}
		var m struct {
			Version string `json:"jsonrpc"`
			ID      int
			Result  map[string]any
			Error   any
		}
		if err := json.Unmarshal(line, &m); err != nil || m.Version != "2.0" {
			s.Fatalf("not a protocol message on standard output: %q", line)
		}
		if m.ID == s.n {
			if m.Error != nil {
				s.Fatalf("%s: %v", method, m.Error)
			}
			return m.Result
		}
	}
}

func (s *server) initialize() {
	s.Helper()
	s.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	fmt.Fprintln(s.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// callTool calls a tool and returns the text of its answer.
func (s *server) callTool(name, args string) string {
	s.Helper()
	r := s.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, args))
	var text strings.Builder
	for _, c := range r["content"].([]any) {
		part, _ := c.(map[string]any)["text"].(string)
		text.WriteString(part)
	}
	return text.String()
}

func TestAgentCallsToolsOverStdio(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.initialize()
	if got := s.callTool("exec", `{"command":"echo out; echo err >&2; exit 3"}`); !strings.Contains(got, "out") || !strings.Contains(got, "Exit code: 3") {
		t.Errorf("exec answers %q", got)
	}
	if got := s.callTool("exec", `{"command":"cat; echo done"}`); !strings.Contains(got, "done") {
		t.Errorf("a command reading its input gets %q", got)
	}
	s.callTool("session_start", `{"command":"cat","name":"cat"}`)
	if got := s.callTool("session_write", `{"id":"cat","text":"hello","enter":true,"wait_ms":20000}`); !strings.Contains(got, "hello") {
		t.Errorf("session_write answers %q", got)
	}
	if got := s.callTool("session_read", `{"id":"cat","since":0}`); !strings.Contains(got, "hello") {
		t.Errorf("session_read answers %q", got)
	}
	if got := s.callTool("session_screen", `{"id":"cat"}`); !strings.Contains(got, "hello") || !strings.Contains(got, "80x24") {
		t.Errorf("session_screen answers %q", got)
	}
	s.callTool("process_start", `{"command":"echo ready; exec sleep 600","name":"web"}`)
	if got := s.callTool("process_wait", `{"id":"web","log":"rea.y"}`); !strings.HasPrefix(got, "Met: log") {
		t.Errorf("process_wait answers %q", got)
	}
	if got := s.callTool("process_log", `{"id":"web","grep":"ready"}`); got != "0: ready" {
		t.Errorf("process_log answers %q", got)
	}
	s.in.Close()
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("at the end of input the server exits with %v", err)
	}
	check := exec.Command("/proc/self/exe", "ls", "--json")
	check.Env = s.cmd.Env
	if out, err := check.Output(); err != nil || strings.Count(string(out), `"running"`) != 2 {
		t.Errorf("its programs stopped: %s, %v", out, err)
	}
}

func TestServerExitsOnASignal(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		s := newServer(t)
		s.initialize()
		if err := s.cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if err := s.cmd.Wait(); err != nil {
			t.Errorf("after %v the server exits with %v", signal, err)
		}
	}
}

func TestServerExitsWhenClientStopsReading(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.initialize()
	s.outPipe.Close()
	fmt.Fprintln(s.in, `{"jsonrpc":"2.0","id":9,"method":"tools/list"}`)
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("the server exits with %v", err)
	}
}

func TestKilledServersLeaveALinePerCall(t *testing.T) {
	t.Parallel()
	const calls = 25
	s := newServer(t)
	for i := range calls {
		if i > 0 {
			s.start(s.cmd.Env, nil)
		}
		s.initialize()
		if text := s.callTool("exec", fmt.Sprintf(`{"command":"echo %d"}`, i)); text != fmt.Sprintln(i) {
			t.Errorf("call %d: %q", i, text)
		}
		if err := s.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = s.cmd.Wait() // killed
	}
	out, err := s.command("audit", "--json", "-n", "1000").Output()
	if err != nil {
		t.Fatal(err)
	}
	var entries []struct{ Tool, Outcome string }
	if err := json.Unmarshal(out, &entries); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if len(entries) != calls {
		t.Errorf("%d lines for %d calls", len(entries), calls)
	}
	for _, e := range entries {
		if e.Tool != "exec" || e.Outcome != "ok" {
			t.Errorf("recorded %+v", e)
		}
	}
}

func TestAgentCallsToolsOverHTTP(t *testing.T) {
	t.Parallel()
	s := newServer(t, "--http", "127.0.0.1:0")
	output := ""
	address := regexp.MustCompile(`http://\S+/mcp`)
	for !address.MatchString(output) {
		line, err := s.stderr.ReadString('\n')
		if output += line; err != nil {
			t.Fatalf("the server prints no address: %q, %v", output, err)
		}
	}
	url := address.FindString(output)
	token, err := os.ReadFile(filepath.Join(s.dir, "agent-tokens"))
	if err != nil || !strings.Contains(output, strings.TrimSpace(string(token))) {
		t.Fatalf("the server prints no token: %v in %q", err, output)
	}
	post := func(secret string) (int, string) {
		const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"exec","arguments":{"command":"echo over http"},"_meta":{` +
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url, strings.NewReader(call))
		if err != nil {
			t.Fatal(err)
		}
		req.Close = true
		for name, value := range map[string]string{"Authorization": "Bearer " + secret, "Content-Type": "application/json",
			"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "exec"} {
			req.Header.Set(name, value)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(body)
	}
	if status, body := post(strings.TrimSpace(string(token))); status != 200 || !strings.Contains(body, "over http") {
		t.Errorf("status %d: %s", status, body)
	}
	if status, body := post("wrong-0123456789abcdef"); status != 401 {
		t.Errorf("with a wrong token status %d: %s", status, body)
	}
	operation := func(name, body string) {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, strings.Replace(url, "/mcp", "/v1/"+name, 1), strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Close = true
		req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: status %d", name, resp.StatusCode)
		}
	}
	operation("session.start", `{"command":["cat"],"name":"cat"}`)
	conn, _, err := websocket.Dial(context.Background(), strings.Replace(url, "/mcp", "/v1/session.attach?id=cat&raw=true", 1),
		&websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + strings.TrimSpace(string(token))}}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	operation("session.write", `{"id":"cat","text":"through the door\r"}`)
	for seen := ""; !strings.Contains(seen, "through the door"); {
		_, message, err := conn.Read(context.Background())
		if err != nil {
			t.Fatalf("the attached terminal shows %q: %v", seen, err)
		}
		seen += string(message)
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("the server exits with %v", err)
	}
}
