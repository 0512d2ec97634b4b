// Package sockets finds the paths of the sockets of the engine and the keeper.
package sockets

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

// Paths returns the paths of the engine's and the keeper's sockets for a data directory. They are
// in the data directory. If that would be too long for a socket address, they are in
// $XDG_RUNTIME_DIR/tandem (or in a 0700 directory inside the temporary one), named by a hash of the
// data directory. Activate and Listen create that directory.
func Paths(dataDir string) (engine, keeper string) {
	dataDir = filepath.Clean(dataDir)
	engine, keeper = filepath.Join(dataDir, datadir.EngineSocket), filepath.Join(dataDir, datadir.KeeperSocket)
	if fitSockaddr(engine, keeper) {
		return engine, keeper
	}
	return socketsOutside(dataDir)
}

// SparePaths returns the paths to use if no socket can be created at those of Paths. If the
// data directory is not writable, the engine's socket is outside it. If the runtime directory is
// gone, both are in the data directory. The paths may be longer than unixsocket.MaxPath.
func SparePaths(dataDir string) (engine, keeper string) {
	dataDir = filepath.Clean(dataDir)
	engine, keeper = filepath.Join(dataDir, datadir.EngineSocket), filepath.Join(dataDir, datadir.KeeperSocket)
	if fitSockaddr(engine, keeper) {
		return socketsOutside(dataDir)
	}
	return engine, keeper
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

// HoldsOnly reports whether dir is one of the directories for sockets outside data directories.
func HoldsOnly(dir string) bool {
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
