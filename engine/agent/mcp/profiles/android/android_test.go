package android

import (
	"errors"
	"strings"
	"testing"
	"time"

	"tandem/engine/agent/mcp/mcptest"
	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

func exit(code int) *int { return &code }

func failed(code, detail string) string {
	return `{"status":"error","error":"` + code + `","detail":"` + detail + `"}`
}

// newPlainAgent returns an agent of a machine without bash.
func newPlainAgent(t *testing.T) *mcptest.Agent {
	return mcptest.NewAgent(t, t.TempDir(), toolkit.Android, ToolsWith(func(string) (string, error) { return "", errors.New("none") }))
}

func TestRunShellReportsTheOutcome(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		out  api.ExecOutput
		want string
	}{
		{api.ExecOutput{Process: api.Process{State: api.StateExited, ExitCode: exit(3)}, Stdout: "a\n", Stderr: "b\n"}, `{"status":"ok","exit_code":3,"stdout":"a\n","stderr":"b\n"}`},
		{api.ExecOutput{Process: api.Process{State: api.StateExited, ExitSignal: "SIGKILL", LogPath: "/log"}, Stdout: "a\n", StdoutDropped: 4},
			`{"status":"ok","exit_code":137,"stdout":"[4 bytes before this are in /log]\na\n","stderr":""}`},
		{api.ExecOutput{Process: api.Process{State: api.StateStopped, ExitSignal: "SIGTERM"}, TimedOut: true, Stdout: "a\n", Stderr: "b\n"},
			`{"status":"timeout","exit_code":-1,"stdout":"a\n","stderr":"Command timed out after 1.5s"}`},
	} {
		for tool, program := range map[string]string{"local_run_shell": plainShell() + " -c", "termux_run_shell": "/bin/bash -lc"} {
			f := newAgent(t, "", api.StateRunning)
			mcptest.Handle(f.Fake, api.Exec, func(in api.ExecInput) (api.ExecOutput, error) {
				if strings.Join(in.Command, " ") != program+" echo 'x'" || in.TimeoutMS != 1500 || !in.Kill {
					t.Errorf("%s runs %+v", tool, in)
				}
				return tc.out, nil
			})
			f.Check(tool, `{"command":"echo 'x'","timeout_ms":1500}`, tc.want, false)
		}
	}
}

func TestRunShellRejectsWrongArguments(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		`{}`:                                failed("missing_command", "command is missing"),
		`{"command":null}`:                  failed("missing_command", "command is missing"),
		`{"command":" "}`:                   failed("missing_command", "command is empty"),
		`{"command":"x","timeout_ms":-1}`:   failed("invalid_arguments", "timeout_ms cannot be negative"),
		`{"command":"x","env":{"A":["b"]}}`: failed("invalid_arguments", `call local_run_shell: argument \"env.A\" must be of type string, not array`),
	} {
		newAgent(t, "", api.StateRunning).Check("local_run_shell", args, want, true)
	}
}

func TestTermuxToolsNeedBash(t *testing.T) {
	t.Parallel()
	want := failed("termux_required", `bash is not installed; device_api(action=\"termux.show_setup\") says how to get it`)
	for tool, args := range map[string]string{
		"termux_run_shell": `{"command":"x"}`, "termux_shell_session": `{"action":"list"}`, "termux_fs": `{"action":"read","path":"x"}`, "device_api": `{"action":"termux.restart"}`,
	} {
		newPlainAgent(t).Check(tool, args, want, true)
	}
}

func TestDeviceReportsTheBackend(t *testing.T) {
	t.Parallel()
	for _, bash := range []bool{true, false} {
		f, state := newAgent(t, "", api.StateRunning), `"installed":true,"running":true,"shell":"/bin/bash"`
		if !bash {
			f, state = newPlainAgent(t), `"installed":false,"running":false`
		}
		pid := 1
		mcptest.Handle(f.Fake, api.EngineInfo, func(api.Empty) (api.Info, error) { return api.Info{Version: "1.2.3", EnginePID: pid}, nil })
		mcptest.Handle(f.Fake, api.SessionList, func(api.Empty) (api.SessionListOutput, error) {
			return api.SessionListOutput{Sessions: []api.Process{{State: api.StateRunning}, {State: api.StateExited}}}, nil
		})
		status := `{"status":"ok",` + state + `,"home":"` + f.Options.Home + `","sessions":1,"version":"1.2.3"`
		f.Check("device_api", `{"action":"termux.status"}`, status+"}", false)
		if text, bad := f.Call("device_api", `{"action":"termux.show_setup"}`); bad || !strings.HasPrefix(text, status+`,"detail":"`) || strings.Contains(text, "Nothing to set up") != bash {
			t.Errorf("setup is %s", text)
		}
		f.Check("device_api", `{"action":"x"}`, failed("unknown_action", `unknown action \"x\"; must be termux.status, termux.restart or termux.show_setup`), true)
		if !bash {
			continue
		}
		// The engine may exit before it replies.
		mcptest.Handle(f.Fake, api.EngineStop, func(in api.EngineStopInput) (api.Empty, error) {
			pid++
			return api.Empty{}, api.Errorf(api.CodeUnavailable, "gone")
		})
		f.Check("device_api", `{"action":"termux.restart"}`, status+"}", false)
	}
}

func TestFilesStayBelowHome(t *testing.T) {
	t.Parallel()
	f := newAgent(t, "", api.StateRunning)
	for given, want := range map[string]string{"a/../b": "/b", "~/b": "/b", "../b": "/../b"} {
		mcptest.Handle(f.Fake, api.FilesRead, func(in api.FilesReadInput) (api.FilesReadOutput, error) {
			if in.Path != api.AbsolutePath(f.Options.Home+want, "", "") || len(in.Roots) != 1 || in.Roots[0] != f.Options.Home {
				t.Errorf("%s reads %s in %v", given, in.Path, in.Roots)
			}
			return api.FilesReadOutput{Text: "hä", Size: 9, ReadBytes: 3}, nil
		})
		f.Check("termux_fs", `{"action":"read","path":"`+given+`","offset":1}`, `{"content":"hä","encoding":"utf-8","size":9,"offset":1,"read_bytes":3,"truncated":true}`, false)
	}
}

func TestFileToolsReturnTheExpectedFields(t *testing.T) {
	t.Parallel()
	f := newAgent(t, "", api.StateRunning)
	at := time.Unix(200, 500_000_000)
	info := api.FileInfo{Name: "l", Type: "link", ToDir: true, Size: 1, Modified: at, Accessed: at, Mode: "0777", Path: "/p"}
	mcptest.Handle(f.Fake, api.FilesRead, func(api.FilesReadInput) (api.FilesReadOutput, error) {
		return api.FilesReadOutput{Data: []byte{0, 0xff}, Size: 2, ReadBytes: 2}, nil
	})
	mcptest.Handle(f.Fake, api.FilesWrite, func(in api.FilesWriteInput) (api.FilesWriteOutput, error) {
		return api.FilesWriteOutput{Path: in.Path, Size: int64(len(in.Data))}, nil
	})
	mcptest.Handle(f.Fake, api.FilesStat, func(api.FilesPathInput) (api.FileInfo, error) { return info, nil })
	mcptest.Handle(f.Fake, api.FilesList, func(in api.FilesListInput) (api.FilesListOutput, error) {
		return api.FilesListOutput{Entries: []api.FileInfo{info}[:map[bool]int{true: 1}[in.Hidden]]}, nil
	})
	mcptest.Handle(f.Fake, api.FilesMkdir, func(in api.FilesMkdirInput) (api.FileInfo, error) {
		if !in.Parents {
			return info, api.Errorf(api.CodeNotFound, "no parent")
		}
		return info, nil
	})
	for args, want := range map[string]string{
		`{"action":"read","path":"x"}`:                                        `{"content":"AP8=","encoding":"base64","size":2,"offset":0,"read_bytes":2,"truncated":false}`,
		`{"action":"write","path":"/x","content":"AP8=","encoding":"base64"}`: `{"path":"/x","size":2}`,
		`{"action":"stat","path":"x"}`:                                        `{"is_file":false,"is_dir":true,"is_link":true,"size":1,"mtime":200.5,"atime":200.5,"mode":"0777"}`,
		`{"action":"list","path":"x","show_hidden":true}`:                     `{"items":[{"name":"l","is_dir":true,"size":1,"mtime":200.5}]}`,
		`{"action":"list","path":"x"}`:                                        `{"items":[]}`,
		`{"action":"mkdir","path":"x"}`:                                       `{"ok":true,"path":"/p"}`,
	} {
		f.Check("termux_fs", args, want, false)
	}
	for args, want := range map[string]string{
		`{"action":"mkdir","path":"x","parents":false}`:                   failed("not_found", "no parent"),
		`{"action":"write","path":"x"}`:                                   failed("missing_content", "write needs content, which may be empty"),
		`{"action":"write","path":"x","content":"?","encoding":"base64"}`: failed("invalid_content", "content is not base64: illegal base64 data at input byte 0"),
		`{"action":"write","path":"x","content":"x","encoding":"latin1"}`: failed("invalid_encoding", `encoding \"latin1\": must be utf-8 or base64`),
		`{"action":"read","path":"x","offset":-1}`:                        failed("invalid_arguments", "offset and max_bytes cannot be negative"),
		`{"action":"read","path":""}`:                                     failed("missing_path", "path is empty"),
		`{"action":"dance","path":"x"}`:                                   failed("unknown_fs_action", `unknown action \"dance\"; must be read, write, list, stat, mkdir or delete`),
	} {
		f.Check("termux_fs", args, want, true)
	}
}
