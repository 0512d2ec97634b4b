package engine

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/api/sockets"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
)

// runHandOn connects to the engine, leaves the connection to a child and exits at once, like a
// forking program. The child calls an operation after its parent has exited.
func runHandOn(role, name, body string) int {
	do := handOn
	if role == "handed" {
		do = callHanded
	}
	if err := do(name, body); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

func handOn(name, body string) error {
	dir, err := api.DataDir()
	if err != nil {
		return err
	}
	socket, _ := sockets.Paths(dir)
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	file, err := conn.(*net.UnixConn).File()
	if err != nil {
		return err
	}
	self, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return err
	}
	cmd := exec.Command(os.Args[0], "handed", name, body)
	cmd.ExtraFiles, cmd.Stdout = []*os.File{file, os.NewFile(uintptr(self), "self")}, os.Stdout
	return cmd.Start()
}

func callHanded(name, body string) error {
	// Descriptor 4 is the parent's pidfd, readable once the parent has exited.
	for {
		_, err := unix.Poll([]unix.PollFd{{Fd: 4, Events: unix.POLLIN}}, -1)
		if err == nil {
			break
		}
		if err != unix.EINTR {
			return err
		}
	}
	conn, err := net.FileConn(os.NewFile(3, "conn"))
	if err != nil {
		return err
	}
	defer conn.Close()
	req, err := http.NewRequest(http.MethodPost, "http://tandem/v1/"+name, strings.NewReader(body))
	if err != nil {
		return err
	}
	if err := req.Write(conn); err != nil {
		return err
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), req)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(resp.Body)
	fmt.Println(resp.StatusCode, string(text))
	return err
}

func TestForkedConnectionOfAnExitedProgramIsRejected(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	session := m.start("sh").ID
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{
		"request.list": "{}", "request.answer": `{"id":"x","allow":true}`, "audit.list": "{}", "history.clear": "{}",
		"session.keyboard": `{"id":"` + session + `","take":true}`, "engine.stop": `{"all":true}`,
	} {
		cmd := exec.Command(exe, "hand-on", name, body)
		cmd.Env = append(os.Environ(), "TANDEM_DATA_DIR="+m.dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		said, err := io.ReadAll(out) // ends with the child
		_ = cmd.Wait()
		if err != nil || !strings.HasPrefix(string(said), "403 ") || !strings.Contains(string(said), "the caller is unknown: ") || !strings.Contains(string(said), "exited") {
			t.Errorf("%s: %s, %v", name, said, err)
		}
	}
	// The caller is a command of an agent that runs without a sandbox and has removed its mark.
	said := filepath.Join(t.TempDir(), "said")
	script := fmt.Sprintf(`env -u TANDEM_SESSION_ID setsid "%s" hand-on request.list '{}' > %s; while ! grep -q . %s; do sleep 0.01; done; cat %s`, exe, said, said, said)
	agent := m.agentWithin(api.Bounds{})
	answer, err := api.Exec.Call(t.Context(), agent, api.ExecInput{Command: sh(script), Environ: map[string]string{"PATH": os.Getenv("PATH")}})
	if err != nil || !strings.Contains(answer.Stdout, "only the user may") {
		t.Errorf("an agent's: %+v, %v", answer, err)
	}
	// Operations open to everyone still work.
	if _, err := api.EngineInfo.Call(context.Background(), m.client, api.Empty{}); err != nil {
		t.Error(err)
	}
}

// A shell in a new session without its parent belongs to the user, unless the session contains a
// process of an agent.
func TestDoubleForkedShellBelongsToTheUser(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	said := filepath.Join(t.TempDir(), "said")
	script := fmt.Sprintf(`(setsid sh -c '"%s" call request.list "{}" > %s 2>&1; true' &)`, exe, said)
	cmd := exec.Command("sh", "-c", script)
	cmd.Env = append(os.Environ(), "TANDEM_DATA_DIR="+m.dir)
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	var text []byte
	m.eventually("an answer", func() bool {
		text, err = os.ReadFile(said)
		return err == nil && strings.HasSuffix(string(text), "\n")
	})
	if !strings.Contains(string(text), `"requests":[]`) {
		t.Errorf("%s", text)
	}
}
