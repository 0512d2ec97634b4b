package android

import (
	"fmt"
	"testing"

	"tandem/engine/agent/mcp/mcptest"
	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

func TestFileErrorsHaveTheCodeForTheirReason(t *testing.T) {
	t.Parallel()
	a := mcptest.NewAgent(t, "/home/me", toolkit.Android, ToolsWith(func(name string) (string, error) { return "/bin/" + name, nil }))
	var failed error
	mcptest.Handle(a.Fake, api.FilesDelete, func(api.FilesDeleteInput) (api.Empty, error) { return api.Empty{}, failed })
	const misleading = "delete: /home/me/is a folder: not empty"
	for _, test := range []struct {
		code   api.Code
		reason api.Reason
		want   string
	}{
		{api.CodeForbidden, api.ReasonOutsideRoot, "path_outside_home"},
		{api.CodeNotFound, api.ReasonFileNotFound, "not_found"},
		{api.CodeInvalid, api.ReasonNotFolder, "not_a_directory"},
		{api.CodeInvalid, api.ReasonPathNotFolder, "not_a_directory"},
		{api.CodeInvalid, api.ReasonIsFolder, "is_a_directory"},
		{api.CodeConflict, api.ReasonNotEmpty, "directory_not_empty"},
		{api.CodeInvalid, api.ReasonNotFile, "invalid_arguments"},
		{api.CodeConflict, api.ReasonPermissionDenied, "io_error"},
		{api.CodeInternal, "", "io_error"},
	} {
		failed = api.Errorf(test.code, misleading).WithReason(test.reason)
		a.Check("termux_fs", `{"action":"delete","path":"x"}`, fmt.Sprintf(`{"status":"error","error":%q,"detail":%q}`, test.want, misleading), true)
	}
}

func TestUnusableFolderHasTheSameCodeInEveryTool(t *testing.T) {
	t.Parallel()
	a := mcptest.NewAgent(t, "/home/me", toolkit.Android, ToolsWith(func(name string) (string, error) { return "/bin/" + name, nil }))
	const why = "start in /home/me/x: permission denied"
	bad := api.Errorf(api.CodeInvalid, why).WithReason(api.ReasonBadCWD)
	mcptest.Handle(a.Fake, api.Exec, func(api.ExecInput) (api.ExecOutput, error) { return api.ExecOutput{}, bad })
	mcptest.Handle(a.Fake, api.ProcessStart, func(api.ProcessStartInput) (api.Process, error) { return api.Process{}, bad })
	mcptest.Handle(a.Fake, api.SessionStart, func(api.SessionStartInput) (api.Process, error) { return api.Process{}, bad })
	for tool, args := range map[string]string{
		"local_run_shell": `{"command":"x","cwd":"x"}`, "termux_run_shell": `{"command":"x","cwd":"x"}`,
		"local_shell_session": `{"action":"start","cwd":"x"}`, "termux_shell_session": `{"action":"start","cwd":"x"}`,
	} {
		a.Check(tool, args, failed("invalid_cwd", why), true)
	}
}
