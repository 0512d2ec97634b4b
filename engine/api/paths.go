package api

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"tandem/engine/base/unixsocket"
	"tandem/persist/datadir"
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

// Sockets returns the paths of the engine's and the keeper's sockets for a data directory. They are
// in the data directory. If that would be too long for a socket address, they are in
// $XDG_RUNTIME_DIR/tandem (or in a 0700 directory inside the temporary one), named by a hash of the
// data directory. Activate and Listen create that directory.
func Sockets(dataDir string) (engine, keeper string) {
	dataDir = filepath.Clean(dataDir)
	engine, keeper = filepath.Join(dataDir, datadir.EngineSocket), filepath.Join(dataDir, datadir.KeeperSocket)
	if fitSockaddr(engine, keeper) {
		return engine, keeper
	}
	return socketsOutside(dataDir)
}

// SpareSockets returns the paths to use if no socket can be created at those of Sockets. If the
// data directory is not writable, the engine's socket is outside it. If the runtime directory is
// gone, both are in the data directory. The paths may be longer than unixsocket.MaxPath.
func SpareSockets(dataDir string) (engine, keeper string) {
	dataDir = filepath.Clean(dataDir)
	engine, keeper = filepath.Join(dataDir, datadir.EngineSocket), filepath.Join(dataDir, datadir.KeeperSocket)
	if fitSockaddr(engine, keeper) {
		return socketsOutside(dataDir)
	}
	return engine, keeper
}

// ClosedFolders returns the folders closed to agents and their programs: the data folder, the
// folder of the sockets if it is outside, and the folder of policy.toml with the configuration.
// policy is the path of policy.toml, or "".
func ClosedFolders(dataDir, policy string) []string {
	closed := []string{dataDir}
	if policy != "" {
		closed = append(closed, filepath.Dir(policy))
	}
	if socket, _ := Sockets(dataDir); filepath.Dir(socket) != filepath.Clean(dataDir) {
		closed = append(closed, filepath.Dir(socket))
	}
	return closed
}

// socketsOutside returns socket paths outside the data directory.
func socketsOutside(dataDir string) (engine, keeper string) {
	// 80 bits keep the names short, and make a collision of two data directories practically
	// impossible.
	sum := sha256.Sum256([]byte(dataDir))
	name := hex.EncodeToString(sum[:10])
	for _, dir := range socketFolders() {
		engine, keeper = filepath.Join(dir, name+".sock"), filepath.Join(dir, name+"-keeper.sock")
		if filepath.IsAbs(dir) && fitSockaddr(engine, keeper) {
			break
		}
	}
	return engine, keeper
}

// socketFolders returns the directories for sockets outside data directories. They contain only
// sockets.
func socketFolders() []string {
	private := "tandem-" + strconv.Itoa(os.Geteuid())
	return []string{runtimeDir(), filepath.Join(os.TempDir(), private), "/tmp/" + private}
}

// HoldsSocketsOnly reports whether dir is one of Tandem's directories for sockets.
func HoldsSocketsOnly(dir string) bool {
	return dir != "" && slices.Contains(socketFolders(), filepath.Clean(dir))
}

// runtimeDir returns Tandem's directory in $XDG_RUNTIME_DIR, or "" if that is not set.
func runtimeDir() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		return filepath.Join(dir, "tandem")
	}
	return ""
}

func fitSockaddr(paths ...string) bool {
	for _, p := range paths {
		if len(p) > unixsocket.MaxPath {
			return false
		}
	}
	return true
}
