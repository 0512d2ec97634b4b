package service

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/server"
)

// startWithBox is startWithFiles for a machine that reaches another one called box, which has the
// same files. wrap returns the connection to it.
func startWithBox(t *testing.T, wrap func(client) api.Engine, names ...string) (client, string) {
	t.Helper()
	box, dir := startWithFiles(t, names...)
	s, _ := newTransfers(t)
	s.Machines = func(_ context.Context, machine string) (api.Engine, error) {
		if machine != "box" {
			return nil, api.Errorf(api.CodeNotFound, "reach machine %s: config.toml has no machine with this name", machine)
		}
		return wrap(box), nil
	}
	c := client{mux: server.NewMux(nil)}
	s.Handle(c.mux)
	return c, dir
}

func unchanged(c client) api.Engine { return c }

// runBetween begins a transfer between machines and waits for its end.
func runBetween(t *testing.T, c client, in api.FilesTransferInput) api.FileJob {
	t.Helper()
	in.Escaped = true
	out := call(t, c, api.FilesTransferBetween, in)
	if out.Job == "" {
		t.Fatalf("it did not begin: %+v", out)
	}
	return call(t, c, api.FilesJob, api.FileJobInput{FileScope: api.FileScope{Escaped: true}, ID: out.Job, WaitMS: 60_000})
}

func TestFolderIsMovedToAnotherMachine(t *testing.T) {
	c, dir := startWithBox(t, unchanged, "from/a\xff", "from/sub/b", "to/x")
	if err := errors.Join(os.Symlink("sub/b", dir+"/from/link"), os.Chmod(dir+"/from/sub/b", 0o640)); err != nil {
		t.Fatal(err)
	}
	job := runBetween(t, c, api.FilesTransferInput{Kind: api.TransferMove, Items: []api.FileMove{{Path: dir + "/from", To: "/box:" + dir + "/to/new"}}})
	if job.State != api.JobDone || job.Handled != 1 || job.Total == 0 || job.Bytes != job.Total || job.Done[0].To != "/box:"+dir+"/to/new" {
		t.Fatalf("got %+v", job)
	}
	info, err := os.Stat(dir + "/to/new/sub/b")
	if err != nil || info.Mode().Perm() != 0o640 || readText(t, dir+"/to/new/link") != "from/sub/b" || readText(t, dir+"/to/new/a\xff") != "from/a\xff" {
		t.Errorf("it arrived as %v, %v", info, err)
	}
	if _, err := os.Stat(dir + "/from"); err == nil {
		t.Error("the original is still there")
	}
}

func TestFoldersOfAnyNameAreCopiedBetweenMachines(t *testing.T) {
	c, dir := startWithBox(t, unchanged, "fr%41\xffm/sub/a", "t%6F\xff/x")
	items := []api.FileMove{{Path: api.EscapePath(dir + "/fr%41\xffm/sub"), To: api.EscapePath("/box:" + dir + "/t%6F\xff/new")}}
	job := runBetween(t, c, api.FilesTransferInput{Kind: api.TransferCopy, Items: items})
	if job.State != api.JobDone || readText(t, dir+"/t%6F\xff/new/a") != "fr%41\xffm/sub/a" {
		t.Errorf("got %+v", job)
	}
}

func TestFileReplacedFromAnotherMachineIsInTheTrash(t *testing.T) {
	c, dir := startWithBox(t, unchanged, "from/a", "to/a")
	in := api.FilesTransferInput{Kind: api.TransferCopy, Items: []api.FileMove{{Path: "/box:" + dir + "/from/a", To: dir + "/to/a"}}}
	if out := call(t, c, api.FilesTransferBetween, in); out.Job != "" || len(out.Conflicts) != 1 || out.Conflicts[0] != dir+"/to/a" {
		t.Fatalf("got %+v", out)
	}
	in.Conflict = api.ConflictReplace
	job := runBetween(t, c, in)
	if job.State != api.JobDone || readText(t, dir+"/to/a") != "from/a" || readText(t, job.Done[0].Replaced) != "to/a" {
		t.Errorf("got %+v", job)
	}
	if left, _ := filepath.Glob(dir + "/to/.*"); len(left) > 0 {
		t.Errorf("left are %q", left)
	}
}

// What was replaced is restored if the new file cannot be named.
func TestReplacedFileIsRestoredIfTheNewOneFails(t *testing.T) {
	c, dir := startWithBox(t, func(c client) api.Engine { return failingMoves{c} }, "from/a", "to/a")
	job := runBetween(t, c, api.FilesTransferInput{Kind: api.TransferCopy, Conflict: api.ConflictReplace, Items: []api.FileMove{{Path: dir + "/from/a", To: "/box:" + dir + "/to/a"}}})
	if job.State != api.JobFailed || job.Error != "the disk is gone" || readText(t, dir+"/to/a") != "to/a" {
		t.Errorf("got %+v, the file has %q", job, readText(t, dir+"/to/a"))
	}
	if left, _ := filepath.Glob(dir + "/to/.*"); len(left) > 0 {
		t.Errorf("left are %q", left)
	}
}

// A failingMoves is a machine that can move nothing.
type failingMoves struct{ client }

func (f failingMoves) Do(ctx context.Context, name string, effect api.Effect, in, out any) error {
	if name == api.FilesMove.Name {
		return errors.New("the disk is gone")
	}
	return f.client.Do(ctx, name, effect, in, out)
}

func TestInvalidTransfersBetweenMachinesAreRejected(t *testing.T) {
	c, dir := startWithBox(t, unchanged, "a")
	items := func(from, to string) []api.FileMove { return []api.FileMove{{Path: from, To: to}} }
	for _, test := range []struct {
		in   api.FilesTransferInput
		code api.Code
		want string
	}{
		{api.FilesTransferInput{Kind: api.TransferCopy}, api.CodeInvalid, "must be 1 to 100000 items"},
		{api.FilesTransferInput{Kind: api.TransferTrash, Items: items(dir+"/a", "/box:/a")}, api.CodeNotSupported, "must be a copy or a move, not trash"},
		{api.FilesTransferInput{Kind: api.TransferCopy, Items: items(dir+"/a", "")}, api.CodeInvalid, "must be an absolute path"},
		{api.FilesTransferInput{Kind: api.TransferCopy, Items: items(dir+"/a", "/nosuch:/a")}, api.CodeNotFound, "no machine with this name"},
		{api.FilesTransferInput{FileScope: api.FileScope{Base: dir}, Kind: api.TransferCopy, Items: items("a", "/box:/a")}, api.CodeInvalid, "neither base nor roots"},
	} {
		wantError(t, c, api.FilesTransferBetween, test.in, test.code, test.want)
	}
}

// A closable counts how often a connection is closed.
type closable struct {
	api.Engine
	closed *atomic.Int32
}

func (c closable) Close() { c.closed.Add(1) }

func TestTransferClosesItsConnections(t *testing.T) {
	for name, test := range map[string]struct {
		to    string
		began bool
	}{"after the transfer": {"/new", true}, "after a conflict": {"/there", false}} {
		t.Run(name, func(t *testing.T) {
			var closed atomic.Int32
			c, dir := startWithBox(t, func(box client) api.Engine { return closable{box, &closed} }, "from", "there")
			in := api.FilesTransferInput{Kind: api.TransferCopy, Items: []api.FileMove{{Path: dir + "/from", To: "/box:" + dir + test.to}}}
			if test.began {
				runBetween(t, c, in)
			} else if out := call(t, c, api.FilesTransferBetween, in); len(out.Conflicts) != 1 {
				t.Fatalf("got %+v, want a conflict", out)
			}
			if n := closed.Load(); n != 1 {
				t.Errorf("closed %d times, want once", n)
			}
		})
	}
}
