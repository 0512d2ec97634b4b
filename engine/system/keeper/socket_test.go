package keeper

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"tandem/tests/wait"
)

// If a data directory is deleted and created again, two keepers have the same paths.
// TestKeeperKeepsSocketOfItsSuccessor checks that the former one does not delete the socket of the
// latter.
func TestKeeperKeepsSocketOfItsSuccessor(t *testing.T) {
	r := newRig(t)
	former := r.keeper("run").mustBeReady()
	r.pidLine(0)
	r.loseFolder()
	latter := r.keeper("run").mustBeReady()
	if err := former.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-former.exit
	if err := dialOnce(r.ctx(), r.socket); err != nil {
		t.Errorf("the socket of the keeper that stays: %v", err)
	}
	r.endEngine(r.pidLine(0), latter)
}

func TestSocketDoesNotRecreateDeletedDataDirectory(t *testing.T) {
	folder := filepath.Join(socketDir(t), "deleted")
	path := Options{DataDir: folder}.spareSocket()
	s := socket{path: path, spare: path}
	if err := s.open(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("open gave %v, want %v", err, os.ErrNotExist)
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder: %v, want none", err)
	}
}

func TestDeletedSocketIsRecreated(t *testing.T) {
	r := newRig(t)
	k := r.keeper("run").mustBeReady()
	for range 3 {
		if err := os.Remove(r.socket); err != nil {
			t.Fatal(err)
		}
		wait.Poll(t, "another socket", func() (error, bool) {
			err := dialOnce(r.ctx(), r.socket)
			return err, err == nil
		})
	}
	st, err := os.Lstat(r.socket)
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("the socket is %v, %v; want mode 0600", st, err)
	}
	r.endEngine(r.pidLine(0), k)
}

// Without its data directory, a keeper must not start an engine: the engine would create the
// directory again, or work in one that belongs to another keeper by now.
func TestKeeperWithoutDataDirectoryStartsNoEngine(t *testing.T) {
	r := newRig(t)
	k := r.keeper("run").mustBeReady()
	engine := r.pidLine(0)
	r.loseFolder()
	if err := syscall.Kill(engine, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-k.exit // it had nothing else to keep
	if _, err := os.Lstat(r.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is there again: %v", err)
	}
}

func TestDirectoryIsDisplacedUnlessItsPathLeadsToIt(t *testing.T) {
	parent := filepath.Join(t.TempDir(), "parent")
	dir, aside := filepath.Join(parent, "dir"), parent+"-moved"
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	folder, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	for _, step := range []struct {
		name string
		do   func() error
		want bool
	}{
		{"in place", func() error { return nil }, false},
		{"moved", func() error { return os.Rename(parent, aside) }, true},
		{"a file in place of its parent", func() error { return os.WriteFile(parent, nil, 0o600) }, true},
		{"another directory there", func() error { return errors.Join(os.Remove(parent), os.MkdirAll(dir, 0o700)) }, true},
		{"moved back", func() error { return errors.Join(os.RemoveAll(parent), os.Rename(aside, parent)) }, false},
		{"deleted", func() error { return os.RemoveAll(parent) }, true},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		if got := IsDisplaced(folder); got != step.want {
			t.Errorf("%s: displaced is %v", step.name, got)
		}
	}
}

// loseFolder moves the data directory away in one step, so that nothing can be written into it
// meanwhile.
func (r *rig) loseFolder() {
	r.t.Helper()
	gone := r.dir + "-gone"
	if err := os.Rename(r.dir, gone); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { os.RemoveAll(gone) })
}
