package wire

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"tandem/engine/api"
	"tandem/engine/api/sockets"
)

// These are hints of client and server if a data directory is not usable.
const (
	HintAgain     = "the engine may be restarting: try again"
	HintWritable  = "make it writable for you, or choose another data folder with TANDEM_DATA_DIR"
	HintOwnFolder = "choose a data folder of your own with TANDEM_DATA_DIR"
)

// TrustFor returns a function that reports whether to trust the user at the other end of a
// connection. Only self and root are trusted.
func TrustFor(self int) func(uid int) bool {
	return func(uid int) bool { return uid == self || uid == 0 }
}

// PrivateFolder creates dir (0700) if it is missing, and checks it as TrustedFolder does.
func PrivateFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return folderError(dir, err)
	}
	return TrustedFolder(dir)
}

// TrustedFolder checks that a directory belongs to this user. In a shared temporary directory,
// another user may have created it. Anywhere else, root may use another user's directory, for
// example on a mounted volume. If the directory is only for sockets, its mode is set to 0700.
func TrustedFolder(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return folderError(dir, err)
	}
	if !info.IsDir() {
		return folderError(dir, syscall.ENOTDIR)
	}
	if !OwnedBySelf(info) && (os.Geteuid() != 0 || isShared(filepath.Dir(dir))) {
		return api.Errorf(api.CodeConflict, "use folder %s: it belongs to another user", dir).WithHint(HintOwnFolder)
	}
	if info.Mode().Perm()&0o077 != 0 && sockets.HoldsOnly(dir) {
		if err := os.Chmod(dir, 0o700); err != nil {
			return folderError(dir, err)
		}
	}
	return nil
}

// isShared reports whether other users may create files in dir. It returns true if that is unknown.
func isShared(dir string) bool {
	info, err := os.Stat(dir)
	return err != nil || info.Mode().Perm()&0o002 != 0
}

func folderError(dir string, err error) *api.Error {
	// The message below already names the directory.
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
