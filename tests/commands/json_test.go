package commands

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/tests/harness"
)

// jsonCases are command lines that cover every command, run in this order. Those after "!" must
// fail.
var jsonCases = []string{
	"! tandem", "tandem --version", "! tandem frobnicate", "! tandem ls --frobnicate", "tandem ls --help",
	"tandem help", "tandem help agent hooks", "tandem agent", "tandem agent hooks", "tandem hub --help", "! tandem hub invite",
	"tandem new --name shell", "tandem start --name web -- sleep 1000", "tandem start --name bad -- ls nowhere", "! tandem start",
	"tandem wait bad --exit", "! tandem wait nobody", "tandem ls", "tandem ps", "tandem info", "tandem doctor",
	"tandem send shell --enter x", "! tandem send web x", "tandem screen shell", "tandem screen shell --ansi", "tandem rename shell other", "tandem rename other shell",
	"tandem screen shell --svg screen.svg", "tandem screen shell --png screen.png", "! tandem screen shell --png -",
	"tandem logs web", "tandem logs shell web", "tandem logs bad -f", "! tandem logs nobody", "! tandem search",
	"! tandem attach shell", "tandem exec echo hello", "tandem search hello", "! tandem scrub", "! tandem scrub --match no-such-word --all --yes", "tandem signal web WINCH", "tandem restart web",
	"tandem stop web", "! tandem stop web nobody", "tandem rec -o r.cast -- true", "tandem play r.cast --svg r.svg", "! tandem play r.cast", "! tandem play r.cast --svg -",
	"tandem agents", "tandem agent explain shell", "tandem agent hooks install claude --yes", "tandem agent hooks remove claude --yes",
	"tandem agent hooks status", "! tandem agent report --state idle", "tandem agent setup",
	"tandem requests", "! tandem allow x", "! tandem deny x", "tandem audit", "! tandem bridge", "! tandem with-tmux true", "! tandem tmux ls",
	"! tandem completion", "tandem completion bash", "tandem completion fish", "tandem completion powershell", "tandem completion zsh",
	"tandem config init", "tandem config", "tandem config path", "tandem config check",
	"tandem env", "tandem env list", "tandem env set A=1", "tandem env get A", "tandem env unset A",
	"tandem files", "! tandem files nowhere", "tandem history", "tandem history add true", "tandem history stats", "tandem history save h.json",
	"tandem history load h.json", "tandem history import bash bash_history", "tandem history remove --command true", "tandem history clear --yes", "! tandem history pick --frobnicate",
	"! tandem fleet", "! tandem hub --listen nowhere", "! tandem hub invite machine x", "! tandem hub invite person x --role read", "! tandem hub people", "! tandem hub revoke x", "! tandem hub status",
	"! tandem join x", "! tandem leave", "tandem init bash", "! tandem init sh",
	"tandem machine", "tandem machine list", "! tandem machine add", "! tandem machine check x", "! tandem machine connect x", "! tandem machine remove x", "! tandem machine upgrade x",
	"! tandem ls --host x", "! tandem ls --host x,y", "! tandem doctor --host x", "tandem man", "tandem man --dir .",
	"tandem shell --run ls", "tandem shell --run pwd", "tandem shell --commands",
	"tandem up", "tandem up --list", "tandem down", "! tandem up nobody", "! tandem web --listen nowhere", "tandem web devices", "! tandem web revoke", "! tandem web share nobody",
	"! tandem service", "! tandem service install", "tandem service install --print", "! tandem service status", "tandem service remove",
	"tandem restore", "tandem restore --list", "tandem restore --all", "! tandem restore nobody", "! tandem new --restore nobody",
	"tandem worktree", "! tandem worktree list", "! tandem worktree merge x", "! tandem worktree remove x",
	"tandem uninstall --list", "! tandem uninstall --list --yes", "! tandem uninstall", "tandem kill shell", "tandem rm bad", "tandem rm --exited", "! tandem rm nobody", "tandem shutdown --yes",
}

func TestEveryCommandAnswersWithJSON(t *testing.T) {
	t.Parallel()
	env, dir := harness.Stage(t)
	env = append(env, "XDG_RUNTIME_DIR="+dir) // without a user manager of systemd
	for name, text := range map[string]string{"tandem.yaml": "processes: {one: sleep 1000}\n", "bash_history": "ls\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	resident := harness.StartResident(t, env, dir)
	tried := map[string]bool{}
	for _, line := range jsonCases {
		line, fails := strings.CutPrefix(line, "! ")
		words := strings.Fields(line)
		for n := range words {
			tried[strings.Join(words[:n+1], " ")] = true
		}
		stdout, stderr, status := resident.Run(append([]string{"--json"}, words[1:]...)...)
		if (status != 0) != fails {
			t.Errorf("%s: status %d, %s", line, status, stderr)
		}
		if count, err := countJSON(stdout); err != nil || !fails && count == 0 {
			t.Errorf("%s prints %d values, %v: %q", line, count, err, stdout)
		}
		if fails {
			checkJSONError(t, line, stderr, status)
		}
	}
	eachCommand(t, resident, nil, func(command string) {
		if !tried[command] {
			t.Errorf("%s has no case", command)
		}
	})
}

// countJSON counts the JSON values in text.
func countJSON(text string) (count int, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	for {
		var v any
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			return count, nil
		} else if err != nil {
			return count, err
		}
		count++
	}
}

// checkJSONError checks that each line of stderr is a JSON error with a code and a message.
func checkJSONError(t *testing.T, line, stderr string, status int) {
	t.Helper()
	errs := strings.Split(strings.TrimSpace(stderr), "\n")
	for _, text := range errs {
		var e struct {
			Code, Message string
			Hint          *string
		}
		if err := json.Unmarshal([]byte(text), &e); err != nil || e.Code == "" || e.Message == "" || e.Hint == nil {
			t.Errorf("%s: error is %q", line, text)
		}
		if (e.Code == "usage") != (status == 2) {
			t.Errorf("%s: status %d with code %q", line, status, e.Code)
		}
	}
}

// eachCommand calls f for a command and its subcommands.
func eachCommand(t *testing.T, resident *harness.Resident, path []string, f func(command string)) {
	t.Helper()
	f(strings.Join(append([]string{"tandem"}, path...), " "))
	stdout, _, _ := resident.Run(append([]string{"--json", "help"}, path...)...)
	var help struct{ Commands []string }
	if err := json.Unmarshal([]byte(stdout), &help); err != nil {
		t.Fatalf("help of %q: %v: %s", path, err, stdout)
	}
	for _, name := range help.Commands {
		eachCommand(t, resident, append(path[:len(path):len(path)], name), f)
	}
}
