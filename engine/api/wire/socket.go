package wire

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"tandem/engine/api"
)

// What both ends say of a data folder that cannot be used.
const (
	HintAgain     = "the engine may be restarting: try again"
	HintWritable  = "make it writable for you, or choose another data folder with TANDEM_DATA_DIR"
	HintOwnFolder = "choose a data folder of your own with TANDEM_DATA_DIR"
)

// A Peer is the process that made a connection to the engine's socket, as it
// was then. The zero value is a connection of another kind.
type Peer struct {
	PID int
	UID int
}

// TrustFor is the rule for the other end of a connection: it has to be the
// same user, or root.
func TrustFor(self int) func(uid int) bool {
	return func(uid int) bool { return uid == self || uid == 0 }
}

// PrivateFolder makes a directory (0700) if there is none, and checks it as TrustedFolder does.
func PrivateFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return folderError(dir, err)
	}
	return TrustedFolder(dir)
}

// TrustedFolder checks that a directory belongs to this user: in a shared temporary directory,
// another user may have made it. Root may use another user's directory anywhere else, for
// example on a mounted volume. A directory that holds only sockets is closed to other users.
func TrustedFolder(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return folderError(dir, err)
	}
	if !info.IsDir() {
		return folderError(dir, syscall.ENOTDIR)
	}
	if !OwnedBySelf(info) && (os.Geteuid() != 0 || shared(filepath.Dir(dir))) {
		return api.Errorf(api.CodeConflict, "use folder %s: it belongs to another user", dir).WithHint(HintOwnFolder)
	}
	if info.Mode().Perm()&0o077 != 0 && api.HoldsSocketsOnly(dir) {
		if err := os.Chmod(dir, 0o700); err != nil {
			return folderError(dir, err)
		}
	}
	return nil
}

// shared reports whether anybody may make files in dir.
func shared(dir string) bool {
	info, err := os.Stat(dir)
	return err != nil || info.Mode().Perm()&0o002 != 0
}

func folderError(dir string, err error) *api.Error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return api.Errorf(api.CodeUnavailable, "make folder %s: %v", dir, err).WithHint(HintWritable)
}

func OwnedBySelf(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(st.Uid) == os.Geteuid()
}
