package android

import (
	"fmt"
	"testing"

	"tandem/engine/api"
	"tandem/engine/mcp/mcptest"
	"tandem/engine/mcp/toolkit"
)

func TestFileErrorsHaveTheCodeOfTheirReason(t *testing.T) {
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
