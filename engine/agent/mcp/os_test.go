package mcp

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tandem/engine/agent/mcp/profiles/osenv"
	"tandem/engine/agent/mcp/toolkit"
	"tandem/tests/needs"
)

var (
	stampText = regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"`)
	pidLine   = regexp.MustCompile(`(?m)^pid: (\d+)$`)
)

// checkYAML is checkExact for replies in YAML.
func (r *rig) checkYAML(t *testing.T, rows ...exactCall) {
	t.Helper()
	for _, c := range rows {
		answer := r.call(c.tool, c.args)
		if got := stampText.ReplaceAllString(r.maskVariable(resultText(answer)), "NOW"); got != c.want {
			t.Errorf("%s %v:\n%s\nwant:\n%s", c.tool, c.args, got, c.want)
		}
		if answer.Failed != c.failed {
			t.Errorf("%s %v: failed is %v", c.tool, c.args, answer.Failed)
		}
	}
}

func TestOSRunsShellCommands(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.OS)
	r.checkYAML(t,
		exactCall{"shell_cmd", object{"command": "echo hi"}, "status: ok\ncommand: echo hi\nexit_code: 0\nstdout: |\n  hi\nstderr: \"\"\nexecuted_at: NOW\n", false},
		exactCall{"shell_cmd", object{"command": "echo a; echo b >&2; exit 3"},
			"status: ok\ncommand: \"echo a; echo b >&2; exit 3\"\nexit_code: 3\nstdout: |\n  a\nstderr: |\n  b\nexecuted_at: NOW\n", false},
		exactCall{"shell_cmd", object{"command": "seq 5", "bufferSize": 0},
			"status: ok\ncommand: seq 5\nexit_code: 0\nstdout: \"\"\nstderr: \"\"\nexecuted_at: NOW\ntruncated: true\n", false},
		exactCall{"shell_cmd", object{"command": "echo $BASH_VERSION | wc -w; seq 5", "bufferSize": 2},
			"status: ok\ncommand: \"echo $BASH_VERSION | wc -w; seq 5\"\nexit_code: 0\nstdout: |\n  4\n  5\nstderr: \"\"\nexecuted_at: NOW\ntruncated: true\n", false},
		exactCall{"shell_cmd", object{"command": "[ -n \"$BASH_VERSION\" ] && pwd && cat"},
			"status: ok\ncommand: \"[ -n \\\"$BASH_VERSION\\\" ] && pwd && cat\"\nexit_code: 0\nstdout: |\n  HOME\nstderr: \"\"\nexecuted_at: NOW\n", false},
		exactCall{"shell_cmd", object{"command": "echo [$BASH_VERSION]", "shell": "sh"},
			"status: ok\ncommand: \"echo [$BASH_VERSION]\"\nexit_code: 0\nstdout: |\n  []\nstderr: \"\"\nexecuted_at: NOW\n", false},
		exactCall{"shell_cmd", object{"command": "true", "shell": "no-such-shell"},
			"status: error\nerror_code: SHELL_COMMAND_FAILED\nmessage: \"no-such-shell: executable not found in PATH\"\n", true},
		exactCall{"shell_cmd", object{}, "status: error\nerror_code: INVALID_ARGUMENT\nmessage: \"call shell_cmd: argument \\\"command\\\" is missing\"\n", true},
		exactCall{"shell_cmd", object{"command": "true", "timeoutSeconds": -1}, "status: error\nerror_code: INVALID_ARGUMENT\nmessage: timeoutSeconds cannot be negative\n", true},
		exactCall{"get_daemon_output", object{"pid": 1}, "status: error\nerror_code: DAEMON_NOT_FOUND\nmessage: shell_cmd started no daemon with this pid\n", true},
		exactCall{"stop_daemon", object{"pid": 1}, "status: error\nerror_code: DAEMON_NOT_FOUND\nmessage: shell_cmd started no daemon with this pid\n", true},
	)
}

func TestOSSlowCommandBecomesASharedDaemon(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newSharedRig(t, toolkit.All)
	script := "seq 3; echo err >&2; exec sleep 1000"
	answer := resultText(r.call("shell_cmd", object{"command": script, "timeoutSeconds": 0.5, "bufferSize": 2}))
	found := pidLine.FindStringSubmatch(answer)
	if found == nil {
		t.Fatal(answer)
	}
	pid, _ := strconv.Atoi(found[1])
	want := "status: ok\ncommand: \"" + script + "\"\nexit_code: null\nstdout: |\n  2\n  3\nstderr: |\n  err\nexecuted_at: NOW\ntruncated: true\npid: " + found[1] + "\ndaemon: true\n"
	if got := stampText.ReplaceAllString(answer, "NOW"); got != want {
		t.Errorf("%s\nwant:\n%s", got, want)
	}
	if listed := resultText(r.call("list-background-processes", nil)); !strings.Contains(listed, "Command: bash -c '"+script+"'\nStatus: RUNNING") {
		t.Errorf("it is not a background process:\n%s", listed)
	}
	if listed := resultText(r.call("process_list", object{})); !strings.Contains(listed, found[1]) {
		t.Errorf("it is not a process:\n%s", listed)
	}
	output := "status: ok\npid: " + found[1] + "\noutput: |\n  2\n  3\n  err\nretrieved_at: NOW\ntruncated: true\n"
	of := object{"pid": pid}
	r.checkYAML(t, exactCall{"get_daemon_output", of, output, false}, exactCall{"get_daemon_output", of, output, false})
	r.killEngine()
	r.checkYAML(t,
		exactCall{"get_daemon_output", of, output, false},
		exactCall{"stop_daemon", of, "status: ok\npid: " + found[1] + "\nstopped_at: NOW\n", false},
		exactCall{"stop_daemon", of, "status: error\nerror_code: DAEMON_NOT_RUNNING\nmessage: \"the daemon has exited; get_daemon_output returns its output\"\n", true},
		exactCall{"get_daemon_output", of, output, false},
	)
	if isAlive(pid) {
		t.Error("it lives on")
	}
}

func TestCommandsInheritUmaskOfAgentsProgram(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.OS)
	r.agent.Umask = "0135"
	r.checkYAML(t, exactCall{"shell_cmd", object{"command": "umask"}, "status: ok\ncommand: umask\nexit_code: 0\nstdout: |\n  0135\nstderr: \"\"\nexecuted_at: NOW\n", false})
}

func TestOSEnvironmentAppliesToStartedCommands(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.OS)
	r.agent.Environ["TD_INHERITED"], r.agent.Environ["TD_OUTER"] = "from outside", "from outside"
	key := func(k string) object { return object{"key": k} }
	wrong := "status: error\nerror_code: ENV_INVALID_KEY\nmessage: a name consists of letters, digits and _, and does not begin with a digit\n"
	wrong = strings.Replace(wrong, "message: ", "message: \"", 1)
	wrong = strings.TrimSuffix(wrong, "\n") + "\"\n"
	r.checkYAML(t,
		exactCall{"env_get", key("TD_VAR"), "status: error\nerror_code: ENV_NOT_FOUND\nmessage: the variable is not set\n", true},
		exactCall{"env_get", key("TD_INHERITED"), "status: ok\nkey: TD_INHERITED\nvalue: from outside\nretrieved_at: NOW\n", false},
		exactCall{"env_set", object{"key": "TD_VAR", "value": "hello"}, "status: ok\nkey: TD_VAR\nvalue: hello\nset_at: NOW\n", false},
		exactCall{"env_set", object{"key": "TD_INHERITED", "value": "from inside"}, "status: ok\nkey: TD_INHERITED\nvalue: from inside\nset_at: NOW\n", false},
		exactCall{"env_get", key("TD_VAR"), "status: ok\nkey: TD_VAR\nvalue: hello\nretrieved_at: NOW\n", false},
		exactCall{"shell_cmd", object{"command": "echo $TD_VAR $TD_INHERITED"},
			"status: ok\ncommand: \"echo $TD_VAR $TD_INHERITED\"\nexit_code: 0\nstdout: |\n  hello from inside\nstderr: \"\"\nexecuted_at: NOW\n", false},
		exactCall{"env_unset", key("TD_VAR"), "status: ok\nkey: TD_VAR\nunset_at: NOW\n", false},
		exactCall{"env_unset", key("TD_VAR"), "status: ok\nkey: TD_VAR\nunset_at: NOW\n", false},
		exactCall{"env_get", key("TD_VAR"), "status: error\nerror_code: ENV_NOT_FOUND\nmessage: the variable is not set\n", true},
		exactCall{"env_set", object{"key": "TD_MONKEY", "value": "s3cret"}, "status: ok\nkey: TD_MONKEY\nvalue: \"***\"\nredacted: true\nset_at: NOW\n", false},
		exactCall{"env_get", key("TD_MONKEY"), "status: ok\nkey: TD_MONKEY\nvalue: \"***\"\nredacted: true\nretrieved_at: NOW\n", false},
		exactCall{"env_get", object{"key": "TD_MONKEY", "reveal": true}, "status: ok\nkey: TD_MONKEY\nvalue: s3cret\nretrieved_at: NOW\n", false},
		exactCall{"env_get", key("1X"), wrong, true},
		exactCall{"env_set", object{"key": "A-B", "value": ""}, wrong, true},
		exactCall{"env_unset", key(""), wrong, true},
	)
	notSet := "status: error\nerror_code: ENV_NOT_FOUND\nmessage: the variable is not set\n"
	r.checkYAML(t,
		exactCall{"env_set", object{"key": "TD_PORT", "value": 8080}, "status: ok\nkey: TD_PORT\nvalue: \"8080\"\nset_at: NOW\n", false},
		exactCall{"env_unset", key("TD_OUTER"), "status: ok\nkey: TD_OUTER\nunset_at: NOW\n", false},
		exactCall{"env_get", key("TD_OUTER"), notSet, true},
		exactCall{"env_unset", key("TD_OUTER"), "status: ok\nkey: TD_OUTER\nunset_at: NOW\n", false},
		exactCall{"shell_cmd", object{"command": "echo ${TD_OUTER-none}"},
			"status: ok\ncommand: \"echo ${TD_OUTER-none}\"\nexit_code: 0\nstdout: |\n  none\nstderr: \"\"\nexecuted_at: NOW\n", false},
		exactCall{"env_set", object{"key": "TD_OUTER", "value": "again"}, "status: ok\nkey: TD_OUTER\nvalue: again\nset_at: NOW\n", false},
		exactCall{"env_unset", key("PATH"),
			"status: error\nerror_code: FORBIDDEN\nmessage: \"unset PATH: it decides which programs run, so agents may unset it only inside a sandbox\"\n", true},
	)
	if got := r.call("env_get", key("TD_INHERITED")).Structured; got != (osenv.EnvState{Key: "TD_INHERITED", Value: "from inside"}) {
		t.Errorf("structured it is %+v", got)
	}
}
