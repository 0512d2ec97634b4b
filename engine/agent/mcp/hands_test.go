package mcp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/tests/needs"
)

// fullScreen is a full-screen program: it draws two rows, changes one for each input line, and then
// leaves the screen.
const fullScreen = `stty -icanon -echo; printf '\033[?1049h\033[2J\033[1;1Hfirst row\033[2;1Hsecond row'
read -r line; printf '\033[2;1Hgot %s   ' "$line"
read -r line; printf '\033[?1049l'; echo left
`

func TestSessionWriteAnswersAQuestionInOneCall(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	r.callChecked("session_start", object{"name": "sh", "command": "sh"})
	text, facts := r.callChecked("session_exec", object{"id": "sh", "command": `echo one; printf 'Sure? '; read x; echo "got $x"`})
	if !strings.Contains(text, "one\n") || !strings.HasSuffix(text, "[waits for input: Sure?]") || facts["waits"] != "input" || facts["question"] != "Sure?" {
		t.Errorf("session_exec gives %q, %v", text, facts)
	}
	text, facts = r.callChecked("session_write", object{"id": "sh", "text": "yes", "enter": true})
	if !strings.Contains(text, "got yes\n") || strings.Contains(text, "one") || facts["waits"] != "prompt" {
		t.Errorf("session_write gives %q, %v", text, facts)
	}
	if text, _ := r.callChecked("session_read", object{"id": "sh"}); !strings.HasPrefix(text, "[nothing new, ") {
		t.Errorf("session_read gives again %q", text)
	}
}

func TestTypedSecretIsNotRecorded(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newRig(t, toolkit.Native)
	r.callChecked("session_start", object{"name": "sh", "command": "bash"})
	if text, facts := r.callChecked("session_exec", object{"id": "sh", "command": `read -s -p "Password: " x`}); facts["waits"] != "secret" {
		t.Fatalf("session_exec gives %q, %v", text, facts)
	}
	r.writePolicy("[[rule]]\ndecision = \"deny\"\ntool = [\"session_write\"]\n")
	session := r.serveClient(nil)
	if text, failed := r.callAsClient(session, "session_write", object{"id": "sh", "text": "xyzzy-refused"}); !failed {
		t.Errorf("session_write gives %q", text)
	}
	r.writePolicy(`default = "allow"`)
	if text, failed := r.callAsClient(session, "session_write", object{"id": "sh", "keys": []string{"q"}}); failed {
		t.Errorf("session_write gives %q", text)
	}
	text, failed := r.callAsClient(session, "session_write", object{"id": "sh", "text": "xyzzy-typed", "enter": true})
	if failed || strings.Contains(text, "xyzzy") {
		t.Errorf("session_write gives %q", text)
	}
	if text, _ := r.callChecked("session_exec", object{"id": "sh", "command": "echo ${#x}"}); !strings.HasPrefix(text, "12\n") {
		t.Errorf("it has got %q", text)
	}
	_, entries := r.waitForAudit(2)
	for _, e := range entries {
		if e.Tool == "session_write" && !strings.Contains(fmt.Sprint(e.Arguments), "***") {
			t.Errorf("the audit log has %+v", e)
		}
	}
	err := filepath.WalkDir(r.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), "xyzzy") {
			t.Errorf("%s has it: %s", path, text)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestFullScreenProgramShowsChangedRows(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	r.createFile("draw", fullScreen)
	r.callChecked("session_start", object{"name": "sh", "command": "sh"})
	text, facts := r.callChecked("session_exec", object{"id": "sh", "command": "sh draw"})
	if !strings.HasPrefix(text, "first row\nsecond row\n[80x24, ") || facts["waits"] != "input" {
		t.Errorf("session_exec gives %q, %v", text, facts)
	}
	text, _ = r.callChecked("session_write", object{"id": "sh", "text": "word\n"})
	if !strings.HasPrefix(text, "1: got word") || strings.Contains(text, "first row") {
		t.Errorf("session_write gives %q", text)
	}
	if text, _ := r.callChecked("session_screen", object{"id": "sh", "diff": true}); !strings.HasPrefix(text, "[80x24, ") {
		t.Errorf("session_screen gives %q", text)
	}
	text, facts = r.callChecked("session_write", object{"id": "sh", "text": "\n"})
	if !strings.Contains(text, "left\n") || strings.Contains(text, "row") || facts["waits"] != "prompt" {
		t.Errorf("session_write gives %q, %v", text, facts)
	}
}

func TestRestOfCommandOutputPrecedesNextCommand(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	r.createFile("go", "")
	r.callChecked("session_start", object{"name": "sh", "command": "sh"})
	r.callChecked("session_exec", object{"id": "sh", "command": "while [ -e go ]; do :; done; echo late", "timeout_ms": 200})
	if err := os.Remove(filepath.Join(r.home, "go")); err != nil {
		t.Fatal(err)
	}
	if _, err := api.SessionWait.Call(t.Context(), r.agent.Engine, api.SessionWaitInput{ID: "sh", Prompt: true}); err != nil {
		t.Fatal(err)
	}
	text, _ := r.callChecked("session_exec", object{"id": "sh", "command": "echo now"})
	if !strings.HasPrefix(text, "late\n[the lines above came before this command]\nnow\n") {
		t.Errorf("session_exec gives %q", text)
	}
}
