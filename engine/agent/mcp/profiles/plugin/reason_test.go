package plugin

import (
	"testing"

	"tandem/engine/agent/mcp/mcptest"
	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

// The tools tell errors apart by their reasons, whatever the messages say.
func TestFileErrorsAreWordedByTheirReason(t *testing.T) {
	t.Parallel()
	a := mcptest.NewAgent(t, "/home/me", toolkit.Plugin, Tools())
	var failed error
	mcptest.Handle(a.Fake, api.FilesRead, func(api.FilesReadInput) (api.FilesReadOutput, error) { return api.FilesReadOutput{}, failed })
	mcptest.Handle(a.Fake, api.FilesReadJSON, func(api.FilesReadJSONInput) (api.FilesReadJSONOutput, error) {
		return api.FilesReadJSONOutput{}, failed
	})
	mcptest.Handle(a.Fake, api.FilesWrite, func(api.FilesWriteInput) (api.FilesWriteOutput, error) { return api.FilesWriteOutput{}, failed })
	mcptest.Handle(a.Fake, api.FilesEdit, func(api.FilesEditInput) (api.FilesEditOutput, error) { return api.FilesEditOutput{}, failed })
	mcptest.Handle(a.Fake, api.FilesList, func(api.FilesListInput) (api.FilesListOutput, error) { return api.FilesListOutput{}, failed })
	because := func(code api.Code, reason api.Reason, message string) *api.Error {
		return api.Errorf(code, "%s", message).WithReason(reason)
	}
	const notFile, edit, write = "Path is not a file.", `{"path":"f","edits":[{"search":"a","replace":"b"}]}`, `{"path":"f","content":""}`
	for _, test := range []struct {
		tool, args string
		err        error
		want       string
		failed     bool
	}{
		{"read", `{"path":"f"}`, because(api.CodeInvalid, api.ReasonIsFolder, "other"), notFile, true},
		{"read", `{"path":"f"}`, because(api.CodeInvalid, api.ReasonNotFile, "other"), notFile, true},
		{"read", `{"path":"f"}`, because(api.CodeInvalid, "", "it is a folder, not a file"), "it is a folder, not a file", true},
		{"write", write, because(api.CodeInvalid, api.ReasonIsFolder, "other"), notFile, true},
		{"read_json", `{"path":"f"}`, because(api.CodeInvalid, api.ReasonIsFolder, "other"), notFile, true},
		{"read_json", `{"path":"f"}`, because(api.CodeInvalid, api.ReasonNotJSON, "invalid JSON in /home/me/f: it is empty"), "Invalid JSON in f: it is empty", true},
		{"edit", edit, because(api.CodeInvalid, api.ReasonIsFolder, "other"), notFile, true},
		{"edit", edit, because(api.CodeConflict, api.ReasonEditNotFound, `edit not applied: "a" not found`).WithHint("the nearest is line 1"),
			"Edit not applied: \"a\" not found.\nhint: the nearest is line 1", true},
		{"edit", edit, because(api.CodeAmbiguous, api.ReasonEditAmbiguous, `edit not applied: "a" found 2 times`).WithHint("replace all"),
			"Edit not applied: \"a\" found 2 times.\nhint: search for more of the text around it, or pass replaceAll", true},
		{"edit", edit, because(api.CodeInvalid, api.ReasonEditEmpty, "edit not applied: there is nothing to search for"),
			"Edit not applied: there is nothing to search for.", true},
		{"edit", edit, because(api.CodeConflict, api.ReasonChanged, "edit f: changed"), "edit f: changed", true},
		{"ls", `{"path":"f"}`, because(api.CodeInvalid, api.ReasonNotFolder, "other"), "f", false},
		{"ls", `{"path":"f/x"}`, because(api.CodeInvalid, api.ReasonPathNotFolder, "it is not a folder"), "it is not a folder", true},
	} {
		failed = test.err
		a.Check(test.tool, test.args, test.want, test.failed)
	}
}
