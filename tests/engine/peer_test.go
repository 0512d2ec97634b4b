package engine

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/api"
)

// Processes connect to a server of the user's, and the server asks the engine for their owners.
func TestPeerIdentifiesAnAgentsConnection(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	agent, said := m.agentWithin(api.Bounds{}), filepath.Join(t.TempDir(), "said")
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	// Until the engine knows the child of a start, an unmarked child counts as one that hides.
	told, started := make(chan string, 1), make(chan string, 1)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			text := make([]byte, 4)
			n, _ := conn.Read(text)
			if string(text[:n]) == "gone" { // until its process has exited
				_, _ = conn.Read(text)
			}
			select {
			case id := <-started:
				m.eventually("the start is known", func() bool {
					p, err := api.ProcessGet.Call(t.Context(), m.client, api.IDInput{ID: id})
					return err == nil && (p.PID > 0 || p.State.Ended())
				})
			default:
			}
			out := call(m, api.EnginePeer, api.EnginePeerInput{Client: conn.RemoteAddr().String(), Server: conn.LocalAddr().String()})
			fmt.Fprintln(conn, "told")
			conn.Close()
			told <- out.Agent
		}
	}()
	connect := fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d; echo here >&3; cat <&3", l.Addr().(*net.TCPAddr).Port)
	leave := fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d; printf gone >&3", l.Addr().(*net.TCPAddr).Port)
	quoted := "'" + strings.ReplaceAll(connect, "'", `'"'"'`) + "'"
	asAgent := func(script string) {
		t.Helper()
		id := api.NewID()
		started <- id
		if _, err := api.Exec.Call(t.Context(), agent, api.ExecInput{ID: id, Command: []string{"bash", "-c", script}, Environ: map[string]string{"PATH": os.Getenv("PATH")}}); err != nil {
			t.Errorf("%s: %v", script, err)
		}
	}
	for what, c := range map[string]struct{ script, want string }{
		"a command":                     {connect, "started"},
		"one without a mark":            {"env -u TANDEM_SESSION_ID bash -c " + quoted, "started"},
		"one that has left its session": {"setsid -w bash -c " + quoted, "started"},
		"an orphan without a mark":      {"(env -u TANDEM_SESSION_ID setsid bash -c " + quoted + " > " + said + " 2>&1 &); while ! [ -s " + said + " ]; do sleep 0.01; done", "hides"},
		"one that has exited":           {leave, "has exited"},
	} {
		asAgent(c.script)
		if got := <-told; !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", what, got)
		}
	}

	call(m, api.Exec, api.ExecInput{Command: []string{"bash", "-c", connect}})
	if got := <-told; got != "" {
		t.Errorf("the user's command is %q", got)
	}
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(conn, "here")
	defer conn.Close()
	if got := <-told; got != "" {
		t.Errorf("a process outside is %q", got)
	}
	far := call(m, api.EnginePeer, api.EnginePeerInput{Client: "192.0.2.1:5", Server: l.Addr().String()})
	if far.Agent != "" {
		t.Errorf("another machine is %q", far.Agent)
	}
}
