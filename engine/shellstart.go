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
	shellFolder  = datadir.Shell // of the data folder: scripts and key
	shellKeyName = "key"
	shellKeySize = 32
	// shellScripts is the folder of the scripts; a shell may read one of them
	// long after it was started, so others get another name.
	shellScripts = "3"
)

// shellKeys makes the words that the marks of shells carry. They are made from
// a secret of the data folder, so that every engine knows those of all sessions.
type shellKeys struct {
	dir string // scripts; "" when shells start without prompt marks
	key []byte
}

// closedShells returns shellKeys with only the key, for sessions that were started before.
func closedShells(dataDir string) shellKeys {
	key, _ := os.ReadFile(filepath.Join(dataDir, shellFolder, shellKeyName)) // without a key there are no such sessions
	return shellKeys{key: key}
}

// openShells gets the scripts and the key ready.
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

// nonce is the word of a session; "" when its program is no shell that knows it,
// or is confined and could not read the scripts.
func (k shellKeys) nonce(r store.Record) string {
	if k.dir == "" || !r.TTY || r.Sandboxed || prompt.KindOf(r.Argv) == prompt.None {
		return ""
	}
	return k.secret(r.ID)
}

// secret returns the secret of a session's marks; "" if there is no key, because then no
// session ever got a secret.
func (k shellKeys) secret(session string) string {
	if len(k.key) != shellKeySize {
		return ""
	}
	mac := hmac.New(sha256.New, k.key)
	mac.Write([]byte(session))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// inject changes how a shell is started so that it marks its prompts.
func (k shellKeys) inject(r store.Record, argv, env []string) ([]string, []string) {
	nonce := k.nonce(r)
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
