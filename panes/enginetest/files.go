package enginetest

import (
	"os"
	"path/filepath"
	"slices"

	"tandem/engine/api"
)

// makeFolder makes a directory with files, each containing its own name.
func (s *suite) makeFolder(names ...string) string {
	s.Helper()
	dir := s.TempDir()
	for _, name := range names {
		s.check(os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600))
	}
	return dir
}

func entryNames(out api.FilesListOutput) (list []string) {
	for _, f := range out.Entries {
		list = append(list, f.Name)
	}
	return list
}

func (s *suite) testFiles() {
	e, ctx := s.Engine, s.ctx
	dir := s.makeFolder("a.txt", "b.txt", "c.txt", ".hidden")
	in := func(name string) string { return filepath.Join(dir, name) }
	all, err := e.ListFiles(ctx, dir, "", 10)
	s.check(err)
	if want := []string{".hidden", "a.txt", "b.txt", "c.txt"}; !slices.Equal(entryNames(all), want) || all.Omitted != 0 {
		s.Errorf("listed %q and omitted %d, want %q", entryNames(all), all.Omitted, want)
	}
	page, err := e.ListFiles(ctx, dir, ".hidden", 2)
	s.check(err)
	if want := []string{"a.txt", "b.txt"}; !slices.Equal(entryNames(page), want) || page.Omitted != 1 {
		s.Errorf("listed %q and omitted %d, want %q", entryNames(page), page.Omitted, want)
	}
	matched, err := e.MatchFiles(ctx, dir, "b.t", "", 10)
	s.check(err)
	if !slices.Equal(entryNames(matched), []string{"b.txt"}) {
		s.Errorf("matched %q", entryNames(matched))
	}
	_, err = e.ListFiles(ctx, in("none"), "", 10)
	s.wantCode(api.CodeNotFound, err)
	_, err = e.StatFile(ctx, in("none"))
	s.wantCode(api.CodeNotFound, err)

	s.check(os.Symlink("a.txt", in("link")))
	link, err := e.StatFile(ctx, in("link"))
	s.check(err)
	if link.Type != "link" || link.Target != "a.txt" || link.Broken || link.ToDir {
		s.Errorf("the link is %+v", link)
	}
	part, err := e.ReadFile(ctx, in("a.txt"), 2, 2)
	s.check(err)
	if part.Text != "tx" || len(part.Data) != 0 || part.Size != 5 {
		s.Errorf("read text %q and bytes %q of a file of %d bytes", part.Text, part.Data, part.Size)
	}
	_, err = e.ReadFile(ctx, in("none"), 0, 1)
	s.wantCode(api.CodeNotFound, err)

	s.check(e.WriteFile(ctx, in("d.txt"), []byte("new"), true))
	s.wantCode(api.CodeConflict, e.WriteFile(ctx, in("d.txt"), []byte("newer"), true))
	s.check(e.WriteFile(ctx, in("d.txt"), []byte("newer"), false))
	s.check(e.MakeFolder(ctx, in("folder")))
	s.wantCode(api.CodeConflict, e.MakeFolder(ctx, in("folder")))
	s.check(e.DeleteFile(ctx, in("folder")))

	found, err := e.FindFiles(ctx, dir, "*.txt", 10)
	s.check(err)
	if want := []string{"a.txt", "b.txt", "c.txt", "d.txt"}; !slices.Equal(found.Paths, want) {
		s.Errorf("found %q", found.Paths)
	}
	lines, err := e.SearchFiles(ctx, api.FilesGrepInput{Path: dir, Pattern: "NEWER", IgnoreCase: true})
	s.check(err)
	if len(lines.Lines) != 1 || lines.Lines[0].Path != "d.txt" || lines.Lines[0].Line != 1 {
		s.Errorf("lines found: %+v", lines.Lines)
	}
	_, err = e.SearchFiles(ctx, api.FilesGrepInput{Path: dir, Pattern: "("})
	s.wantCode(api.CodeInvalid, err)
}

// runTransfer runs a transfer and waits for its end.
func (s *suite) runTransfer(in api.FilesTransferInput) api.FileJob {
	s.Helper()
	out, err := s.Engine.Transfer(s.ctx, in)
	s.check(err)
	if out.Job == "" {
		s.Fatalf("%s: conflicts with %q", in.Kind, out.Conflicts)
	}
	job, err := s.Engine.TransferJob(s.ctx, out.Job, int(maxWait.Milliseconds()))
	s.check(err)
	if job.State != api.JobDone || job.Handled != len(in.Items) || len(job.Done) != len(in.Items) {
		s.Fatalf("%s: %+v", in.Kind, job)
	}
	return job
}

func (s *suite) testTransfers() {
	dir := s.makeFolder("a.txt", "b.txt")
	in := func(name string) string { return filepath.Join(dir, name) }
	one := func(kind, from, to string) api.FilesTransferInput {
		return api.FilesTransferInput{Kind: kind, Items: []api.FileMove{{Path: in(from), To: in(to)}}}
	}
	// Nothing may be overwritten without a decision about the conflict.
	blocked, err := s.Engine.Transfer(s.ctx, one(api.TransferCopy, "a.txt", "b.txt"))
	s.check(err)
	if blocked.Job != "" || !slices.Equal(blocked.Conflicts, []string{in("b.txt")}) {
		s.Errorf("a copy over another file returned %+v, want a conflict", blocked)
	}
	s.runTransfer(one(api.TransferCopy, "a.txt", "copy.txt"))
	s.runTransfer(one(api.TransferMove, "copy.txt", "moved.txt"))
	keep := one(api.TransferCopy, "a.txt", "b.txt")
	keep.Conflict = api.ConflictKeep
	if to := s.runTransfer(keep).Done[0].To; to == in("b.txt") || filepath.Dir(to) != dir {
		s.Errorf("a copy that keeps both files went to %s, want a new name in %s", to, dir)
	}
	s.runTransfer(api.FilesTransferInput{Kind: api.TransferDelete, Items: []api.FileMove{{Path: in("a.txt")}}})
	for name, there := range map[string]bool{"a.txt": false, "b.txt": true, "copy.txt": false, "moved.txt": true} {
		if _, err := os.Lstat(in(name)); (err == nil) != there {
			s.Errorf("%s exists: %v", name, err == nil)
		}
	}
}
