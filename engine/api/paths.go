package api

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"tandem/persist/datadir"
)

// MaxSocketPath is the length of sun_path less its final NUL (unix(7)).
const MaxSocketPath = 107

// DataDir tells the data folder: $TANDEM_DATA_DIR, or tandem in
// $XDG_STATE_HOME, or ~/.local/state/tandem. Absolute; it need not exist.
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

// Sockets tells where the engine's and the keeper's sockets of a data folder
// are: in it, or, where the path would be too long for a socket address, in
// $XDG_RUNTIME_DIR/tandem (or a 0700 folder in the temporary folder) under a
// name made from a hash of the data folder. Activate and Listen make the folder.
func Sockets(dataDir string) (engine, keeper string) {
	dataDir = filepath.Clean(dataDir)
	engine, keeper = filepath.Join(dataDir, datadir.EngineSocket), filepath.Join(dataDir, datadir.KeeperSocket)
	if fits(engine, keeper) {
		return engine, keeper
	}
	return elsewhere(dataDir)
}

// SpareSockets returns the paths to use if no socket can be created at those of Sockets: the
// engine's is outside a data directory that is not writable, or both are in the data directory
// if the runtime directory is gone. The paths may be longer than MaxSocketPath.
func SpareSockets(dataDir string) (engine, keeper string) {
	dataDir = filepath.Clean(dataDir)
	engine, keeper = filepath.Join(dataDir, datadir.EngineSocket), filepath.Join(dataDir, datadir.KeeperSocket)
	if fits(engine, keeper) {
		return elsewhere(dataDir)
	}
	return engine, keeper
}

// elsewhere gives paths for the sockets of a data folder outside it.
func elsewhere(dataDir string) (engine, keeper string) {
	sum := sha256.Sum256([]byte(dataDir))
	name := hex.EncodeToString(sum[:10])
	for _, dir := range socketFolders() {
		engine, keeper = filepath.Join(dir, name+".sock"), filepath.Join(dir, name+"-keeper.sock")
		if filepath.IsAbs(dir) && fits(engine, keeper) {
			break
		}
	}
	return engine, keeper
}

// socketFolders are the folders of sockets outside data folders; nothing else is in them.
func socketFolders() []string {
	private := "tandem-" + strconv.Itoa(os.Geteuid())
	return []string{runtimeDir(), filepath.Join(os.TempDir(), private), "/tmp/" + private}
}

// HoldsSocketsOnly reports whether a folder is one that Tandem makes for its sockets alone.
func HoldsSocketsOnly(dir string) bool {
	return dir != "" && slices.Contains(socketFolders(), filepath.Clean(dir))
}

// runtimeDir is "" where the session has no runtime folder.
func runtimeDir() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		return filepath.Join(dir, "tandem")
	}
	return ""
}

func fits(paths ...string) bool {
	for _, p := range paths {
		if len(p) > MaxSocketPath {
			return false
		}
	}
	return true
}
