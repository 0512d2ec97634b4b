package mcp

import (
	"strings"
	"testing"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

func TestErrorsAreWordedForAgents(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 5000)
	for _, tc := range []struct {
		err  error
		want string
	}{
		{api.Errorf(api.CodeNotFound, "find x: no session has this id or name").WithHint("tandem ls shows all"),
			"find x: no session has this id or name\nhint: session_list and process_list show all"},
		{api.Errorf(api.CodeConflict, "run: busy").WithHint("session.wait waits for its prompt, session.write types into what runs"),
			"run: busy\nhint: session_wait waits for its prompt, session_write types into what runs"},
		{api.Errorf(api.CodeConflict, "remove web: still running").WithHint("stop it first: `tandem stop web`"),
			"remove web: still running\nhint: stop it first: process_stop"},
		{api.Errorf(api.CodeInvalid, "open a\x00b\x1b[2J\u202e\n\tc: no"), `open a\x00b\x1b[2J\u202e` + "\n\tc: no"},
		{api.Errorf(api.CodeInvalid, "open %s: no", long), "open " + long[:2042] + "…" + long[len(long)-1020:] + ": no"},
	} {
		if got := toolkit.FailureResult(tc.err); resultText(got) != tc.want || !got.Failed {
			t.Errorf("%.80v:\n%q, want\n%q", tc.err, resultText(got), tc.want)
		}
	}
}

func TestCallOnExitedSessionSuggestsNextStep(t *testing.T) {
	t.Parallel()
	ended := api.Errorf(api.CodeEnded, "type into x: it has exited")
	if got := resultText(toolkit.FailureResult(toolkit.AddAdvice(toolkit.Tool{Name: "session_exec"}, ended))); !strings.HasSuffix(got, "session_start starts another") {
		t.Errorf("session_exec: %s", got)
	}
}

func TestInvalidCommandsAreRejectedBeforeStart(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 128<<10)
	const command, variable = ": the command is longer than 128 KB\nhint: write it to a file and run that",
		": it is longer than 128 KB\nhint: write the value to a file and give the file's path"
	r := newSharedRig(t, toolkit.Native)
	r.checkExact(t,
		exactCall{"exec", object{"command": " \n"}, "run command: the command is empty", true},
		exactCall{"exec", object{"command": big}, "run command" + command, true},
		exactCall{"exec", object{"command": "true", "env": object{"A": big}}, "environment variable A" + variable, true},
		exactCall{"process_start", object{"command": ""}, "start process: the command is empty", true},
		exactCall{"process_start", object{"command": big}, "start process" + command, true},
		exactCall{"session_start", object{"command": big}, "start session" + command, true},
		exactCall{"session_wait", object{"id": "x", "output": big}, "read pattern: it is longer than 64 KB", true},
		exactCall{"process_wait", object{"id": "x", "log": big}, "read pattern: it is longer than 64 KB", true},
		exactCall{"process_log", object{"id": "x", "grep": big}, "read pattern: it is longer than 64 KB", true},
		exactCall{"session_wait", object{"id": "x", "screen": "("}, `read pattern "(": missing closing )` +
			"\nhint: it is a regular expression (RE2); escape literal characters with \\", true},
		exactCall{"exec", object{"command": "true", "sandbox": object{"filesystem": 5}}, `read sandbox: field "filesystem" cannot be a JSON number` +
			"\nhint: must be {filesystem:{denyRead,allowWrite,denyWrite},network:{allowedDomains,deniedDomains}}", true},
		exactCall{"history", object{"offset": 5}, "Nothing found.", false},
		exactCall{"exec", object{"command": strings.Repeat(" ", 100<<10) + "echo fits"}, "fits\n", false},
	)
	if got := r.call("env_set", object{"key": "A", "value": big}); !got.Failed || !strings.Contains(resultText(got), "longer than 128 KB") {
		t.Errorf("env_set: %s", resultText(got))
	}
}
