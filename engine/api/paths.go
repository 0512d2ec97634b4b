package api

import (
	"os"
	"path/filepath"
	"strings"

	"tandem/engine/api/sockets"
)

// DataDir returns the absolute path of the data directory: $TANDEM_DATA_DIR, or else the folder
// tandem in $XDG_STATE_HOME or ~/.local/state. The directory may not exist yet.
func DataDir() (string, error) {
	if dir := os.Getenv("TANDEM_DATA_DIR"); dir != "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return "", Errorf(CodeUnavailable, "find data folder %s: %v", dir, err).
				WithHint("set TANDEM_DATA_DIR to an absolute path")
		}
		return abs, nil
	}
	// The XDG base directory specification says to ignore relative paths.
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "tandem"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return "", Errorf(CodeUnavailable, "find data folder: there is no home directory").
			WithHint("set HOME, or set TANDEM_DATA_DIR to the data folder")
	}
	return filepath.Join(home, ".local", "state", "tandem"), nil
}

// ClosedFolders returns the folders closed to agents and their programs: the data folder, the
// folder of the sockets if it is outside, and the folder of policy.toml with the configuration.
// policy is the path of policy.toml, or "".
func ClosedFolders(dataDir, policy string) []string {
	closed := []string{dataDir}
	if policy != "" {
		closed = append(closed, filepath.Dir(policy))
	}
	if socket, _ := sockets.Paths(dataDir); filepath.Dir(socket) != filepath.Clean(dataDir) {
		closed = append(closed, filepath.Dir(socket))
	}
	return closed
}

// AbsolutePath makes path absolute and clean. A leading ~ stands for home, and a relative path
// starts at base.
func AbsolutePath(path, base, home string) string {
	switch {
	case path == "~" || strings.HasPrefix(path, "~/"):
		return filepath.Join(home, path[1:])
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}
