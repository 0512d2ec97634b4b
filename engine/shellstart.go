package engine

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"tandem/engine/api"
	"tandem/engine/prompt"
	"tandem/persist/datadir"
	"tandem/persist/store"
)

const (
	shellFolder  = datadir.Shell // in the data directory: scripts and key
	shellKeyName = "key"
	shellKeySize = 32
	// shellScripts is the directory of the scripts. A shell may read one long after its start, so
	// incompatible scripts get another name.
	shellScripts = "3"
)

// shellKeys makes the secrets in the marks of shells. They are derived from a key in the data
// directory, so every engine knows those of all sessions.
type shellKeys struct {
	dir string // directory of the scripts; "" without shell integration
	key []byte
}

// keyOnlyShells returns shellKeys with only the key, for sessions started earlier.
func keyOnlyShells(dataDir string) shellKeys {
	key, _ := os.ReadFile(filepath.Join(dataDir, shellFolder, shellKeyName)) // without a key there are no such sessions
	return shellKeys{key: key}
}

// openShells installs the scripts and reads or creates the key.
func openShells(dataDir string) (shellKeys, error) {
	dir := filepath.Join(dataDir, shellFolder)
	scripts := filepath.Join(dir, shellScripts)
	if err := prompt.Install(scripts); err != nil {
		return shellKeys{}, err
	}
	path := filepath.Join(dir, shellKeyName)
	key, err := os.ReadFile(path)
	if err == nil && len(key) == shellKeySize {
		return shellKeys{scripts, key}, nil
	}
	key = make([]byte, shellKeySize)
	rand.Read(key)
	if err := os.WriteFile(path, key, 0o600); err != nil {
		return shellKeys{}, fmt.Errorf("write key of shells: %v", err)
	}
	return shellKeys{scripts, key}, nil
}

// nonceFor returns the secret for a session to start with; "" if its program is not a supported
// shell, or is sandboxed and could not read the scripts.
func (k shellKeys) nonceFor(r store.Record) string {
	if k.dir == "" || !r.TTY || r.Sandboxed || prompt.KindOf(r.Argv) == prompt.None {
		return ""
	}
	return k.secretFor(r.ID)
}

// secretFor returns the secret of a session's marks; "" without a key, because then no session ever
// got a secret.
func (k shellKeys) secretFor(session string) string {
	if len(k.key) != shellKeySize {
		return ""
	}
	mac := hmac.New(sha256.New, k.key)
	mac.Write([]byte(session))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// inject changes the start of a shell so that it marks its prompts.
func (k shellKeys) inject(r store.Record, argv, env []string) ([]string, []string) {
	nonce := k.nonceFor(r)
	if nonce == "" {
		return argv, env
	}
	known := api.Environ(env)
	start, ok := prompt.Inject(argv, func(name string) (string, bool) { v, ok := known[name]; return v, ok }, k.dir, nonce)
	if !ok {
		return argv, env
	}
	pairs := make([]string, 0, len(start.Env))
	for name, value := range start.Env {
		pairs = append(pairs, name+"="+value)
	}
	return start.Argv, replaceEnv(env, pairs)
}
