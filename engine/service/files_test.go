package service

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/workspace/files"
)

func TestFileErrorsKeepTheirReasonAndHint(t *testing.T) {
	seen := map[api.Reason]files.Reason{}
	for r := range fileKinds() {
		e := api.AsError(fileError(&files.Error{Reason: r, Message: "read f: why", Hint: "how"}))
		if e.Message != "read f: why" || e.Hint != "how" || e.Code == api.CodeInternal {
			t.Errorf("%s: %+v", r, e)
		}
		if (e.Reason == "") != (r == files.Invalid) || seen[e.Reason] != "" {
			t.Errorf("%s and %s have reason %q", r, seen[e.Reason], e.Reason)
		}
		seen[e.Reason] = r
	}
	if e := api.AsError(fileError(&files.Error{Reason: files.Failed})); e.Code != api.CodeInternal {
		t.Errorf("%+v", e)
	}
	if err := fileError(context.Canceled); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestFilesAreServedWithinTheirScope(t *testing.T) {
	c, dir := startWithFiles(t)
	in := api.FileScope{Roots: []string{filepath.Join(dir, "root")}}
	if err := os.Mkdir(in.Roots[0], 0o755); err != nil {
		t.Fatal(err)
	}
	out := call(t, c, api.FilesWrite, api.FilesWriteInput{FileScope: in, Path: "a/b.json", Text: `{"n": 12345678901234567890}`})
	if want := filepath.Join(in.Roots[0], "a/b.json"); out.Path != want || out.Written != 27 || out.Size != 27 || out.Replaced {
		t.Errorf("wrote %+v", out)
	}
	call(t, c, api.FilesWrite, api.FilesWriteInput{FileScope: in, Path: "raw", Data: []byte("\xff\x00")})
	if r := call(t, c, api.FilesRead, api.FilesReadInput{FileScope: in, Path: "raw", Bytes: true}); string(r.Data) != "\xff\x00" || r.Kind != "binary" {
		t.Errorf("read %+v", r)
	}
	if r := call(t, c, api.FilesReadJSON, api.FilesPathInput{FileScope: in, Path: "a/b.json"}); r.Value == nil {
		t.Errorf("read %+v", r)
	}
	if r := call(t, c, api.FilesEdit, api.FilesEditInput{FileScope: in, Path: "a/b.json", Edits: []api.FileEdit{{Search: "n", Replace: "m"}}}); r.Replacements[0] != 1 {
		t.Errorf("edited %+v", r)
	}
	if r := call(t, c, api.FilesMkdir, api.FilesMkdirInput{FileScope: in, Path: "dir"}); r.Type != "dir" || r.Path != in.Roots[0]+"/dir" {
		t.Errorf("made %+v", r)
	}
	at := time.Unix(1_000_000, 5)
	if r := call(t, c, api.FilesSet, api.FilesSetInput{FileScope: in, Path: "raw", Mode: "0640", Modified: at}); r.Mode != "0640" || !r.Modified.Equal(at) {
		t.Errorf("set %+v", r)
	}
	if r := call(t, c, api.FilesSet, api.FilesSetInput{FileScope: in, Path: "dir/link", Target: "../raw"}); r.Type != "link" || r.Target != "../raw" {
		t.Errorf("linked %+v", r)
	}
	call(t, c, api.FilesDelete, api.FilesDeleteInput{FileScope: in, Path: "dir/link"})
	call(t, c, api.FilesCopy, api.FilesMoveInput{FileScope: in, Path: "a", To: "c"})
	call(t, c, api.FilesMove, api.FilesMoveInput{FileScope: in, Path: "c/b.json", To: "dir/d"})
	call(t, c, api.FilesDelete, api.FilesDeleteInput{FileScope: in, Path: "a", Recursive: true})
	if r := call(t, c, api.FilesFind, api.FilesFindInput{FileScope: in, Pattern: "*"}); len(r.Paths) != 4 {
		t.Errorf("found %+v", r)
	}
	if r := call(t, c, api.FilesGrep, api.FilesGrepInput{FileScope: in, Pattern: "m"}); r.Matches != 1 || r.Lines[0].Path != "dir/d" {
		t.Errorf("found %+v", r)
	}
	if r := call(t, c, api.FilesList, api.FilesListInput{FileScope: in, Hidden: true}); len(r.Entries) != 3 || r.Entries[1].Name != "dir" {
		t.Errorf("listed %+v", r)
	}
	if r := call(t, c, api.FilesStat, api.FilesPathInput{FileScope: in, Path: "raw"}); r.Size != 2 || r.Mode == "" {
		t.Errorf("looked at %+v", r)
	}
}

func TestFileOperationsReportSpecificErrors(t *testing.T) {
	c, dir := startWithFiles(t)
	in := api.FileScope{Roots: []string{dir}}
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("a a"), 0o600); err != nil {
		t.Fatal(err)
	}
	read := func(scope api.FileScope, path string) error {
		_, err := api.FilesRead.Call(t.Context(), c, api.FilesReadInput{FileScope: scope, Path: path})
		return err
	}
	edit := func(search string) error {
		_, err := api.FilesEdit.Call(t.Context(), c, api.FilesEditInput{FileScope: in, Path: "f", Edits: []api.FileEdit{{Search: search}}})
		return err
	}
	_, again := api.FilesWrite.Call(t.Context(), c, api.FilesWriteInput{FileScope: in, Path: "f", New: true})
	_, both := api.FilesWrite.Call(t.Context(), c, api.FilesWriteInput{FileScope: in, Path: "f", Text: "a", Data: []byte("b")})
	for _, c := range []struct {
		err  error
		code api.Code
	}{
		{read(in, "gone"), api.CodeNotFound},
		{read(in, "../x"), api.CodeForbidden},
		{read(in, "/etc/passwd"), api.CodeForbidden},
		{read(in, "."), api.CodeInvalid},
		{read(api.FileScope{Roots: []string{"relative"}}, "f"), api.CodeInvalid},
		{read(api.FileScope{Base: "relative"}, "f"), api.CodeInvalid},
		{edit("a"), api.CodeAmbiguous},
		{edit("b"), api.CodeConflict},
		{edit(""), api.CodeInvalid},
		{again, api.CodeConflict},
		{both, api.CodeInvalid},
	} {
		if !errors.Is(c.err, c.code) {
			t.Errorf("%v; want %s", c.err, c.code)
		}
	}
	var e *api.Error
	if !errors.As(read(in, "/etc/passwd"), &e) || e.Hint != "allowed: "+dir {
		t.Errorf("hint %+v", e)
	}
}

func TestAgentsReachNoClosedFolder(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "closed", "rules"), "secret")
	writeFile(t, filepath.Join(dir, "data", "log"), "secret")
	writeFile(t, filepath.Join(dir, "open"), "text")
	if err := os.Symlink(filepath.Join(dir, "closed"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := NewFiles(ctx, filepath.Join(dir, "data"), []string{filepath.Join(dir, "closed"), filepath.Join(dir, "data")}, slog.New(slog.DiscardHandler))
	t.Cleanup(func() { cancel(); s.Close() })
	user := client{mux: server.NewMux(nil)}
	s.Handle(user.mux)
	agent := user
	agent.owner = "x"
	for _, path := range []string{"closed/rules", "link/rules", "open/../closed/rules", "data/log"} {
		in := api.FilesReadInput{FileScope: api.FileScope{Base: dir}, Path: path}
		if out, err := api.FilesRead.Call(t.Context(), agent, in); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("an agent reads %s: %+v, %v", path, out, err)
		}
		if out := call(t, user, api.FilesRead, in); out.Text != "secret" {
			t.Errorf("the user reads %s: %+v", path, out)
		}
		write := api.FilesWriteInput{FileScope: api.FileScope{Base: dir}, Path: path, Text: "evil"}
		if out, err := api.FilesWrite.Call(t.Context(), agent, write); err == nil {
			t.Errorf("an agent writes %s: %+v", path, out)
		}
	}
	if out := call(t, agent, api.FilesGrep, api.FilesGrepInput{FileScope: api.FileScope{Base: dir}, Pattern: "secret"}); out.Matches != 0 {
		t.Errorf("an agent finds %+v", out)
	}
	if out := call(t, agent, api.FilesRead, api.FilesReadInput{FileScope: api.FileScope{Base: dir}, Path: "open"}); out.Text != "text" {
		t.Errorf("an agent reads %+v", out)
	}
}

func TestFolderIsWatchedUntilItChanges(t *testing.T) {
	c, dir := startWithFiles(t, "a")
	seen := call(t, c, api.FilesWatch, api.FilesWatchInput{Path: dir, WaitMS: 1})
	if seen.Stamp == "" || seen.Changed {
		t.Errorf("at first %+v", seen)
	}
	writeFile(t, filepath.Join(dir, "b"), "")
	now := call(t, c, api.FilesWatch, api.FilesWatchInput{Path: dir, Seen: seen.Stamp, WaitMS: 60_000})
	if !now.Changed || now.Stamp == seen.Stamp {
		t.Errorf("changed before: %+v", now)
	}
	wantError(t, c, api.FilesWatch, api.FilesWatchInput{Path: dir + "/none"}, api.CodeNotFound, "none")
	wantError(t, c, api.FilesWatch, api.FilesWatchInput{Path: dir + "/a"}, api.CodeInvalid, "")
}

func TestTrashIsListedWithItsOrigin(t *testing.T) {
	c, dir := startWithFiles(t, "a", "b/c")
	runTransfer(t, c, api.FilesTransferInput{Kind: api.TransferTrash, Items: []api.FileMove{{Path: dir + "/a"}, {Path: dir + "/b"}}})
	items := call(t, c, api.FilesTrashed, api.FilesTrashedInput{}).Items
	if len(items) != 2 {
		t.Fatalf("listed %+v", items)
	}
	for _, item := range items {
		if item.From != dir+"/a" && item.From != dir+"/b" || item.Deleted.IsZero() {
			t.Errorf("listed %+v", item)
		}
		call(t, c, api.FilesRestore, api.FilesRestoreInput{Items: []api.FileMove{{Path: item.Path, To: item.From}}})
	}
	if readText(t, dir+"/b/c") != "b/c" || len(call(t, c, api.FilesTrashed, api.FilesTrashedInput{}).Items) != 0 {
		t.Error("not all of it is back")
	}
	wantError(t, c, api.FilesRestore, api.FilesRestoreInput{Items: []api.FileMove{{Path: items[0].Path, To: dir + "/x"}}}, api.CodeNotFound, "")
}
