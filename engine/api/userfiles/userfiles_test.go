package userfiles

import (
	"context"
	"errors"
	"strings"
	"testing"

	"tandem/engine/api"
)

// A liar is a machine that answers with one name or path.
type liar string

func (l liar) Do(_ context.Context, _ string, _ api.Effect, _, out any) error {
	switch out := out.(type) {
	case *api.FilesListOutput:
		out.Entries = []api.FileInfo{{Name: string(l), Type: "file"}}
	case *api.FilesGitOutput:
		out.Marks = map[string]string{string(l): "M "}
	case *api.FilesFindOutput:
		out.Paths = []string{"good", string(l)}
	case *api.FilesGrepOutput:
		out.Lines = []api.GrepLine{{Path: string(l)}}
	}
	return nil
}

// callAll makes every call whose answer has names or relative paths.
func callAll(ctx context.Context, name string) map[string]error {
	f, all := Files{Engine: liar(name)}, map[string]error{}
	_, all["list"] = f.ListFiles(ctx, "/", "", 0)
	_, all["match"] = f.MatchFiles(ctx, "/", "word", "", 0)
	_, all["git"] = f.GitStatus(ctx, "/")
	_, all["find"] = f.FindFiles(ctx, "/", "*", 0)
	_, all["search"] = f.SearchFiles(ctx, api.FilesGrepInput{})
	return all
}

func TestNamesFromAMachineThatLeadElsewhereAreRejected(t *testing.T) {
	for _, name := range []string{"", ".", "..", "../../../x", "/etc/passwd", "a/../b", "a//b", "a\x00b", "%2e%2E", "..%2Fx", strings.Repeat("x", 5000)} {
		for call, err := range callAll(t.Context(), name) {
			if !errors.Is(err, api.CodeInvalid) {
				t.Errorf("%s accepted %.20q: %v", call, name, err)
			}
		}
	}
	for name, rejected := range map[string]bool{"a": false, "...": false, "%ff \n": false, "a/b": true} {
		for call, err := range callAll(t.Context(), name) {
			path := call == "find" || call == "search"
			if (err != nil) != (rejected && !path) {
				t.Errorf("%s: %q: %v", call, name, err)
			}
		}
	}
}
