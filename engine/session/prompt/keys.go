package prompt

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"tandem/engine/api"
	"tandem/persist/regular"
)

const (
	keyName = "key"
	keySize = 32
	// scriptsName is the directory of the scripts. It changes when the scripts become incompatible,
	// because a shell may read them long after its start.
	scriptsName = "3"
)

// Keys makes the secrets in the marks of shells. It derives them from a key on disk, so every
// engine knows the secrets of all sessions.
type Keys struct {
	dir string // directory of the scripts; "" without shell integration
	key []byte
}

// ReadKeys reads the key in dir, but does not install scripts. It is for sessions that were started
// earlier.
func ReadKeys(dir string) Keys {
	key, _ := regular.ReadFile(filepath.Join(dir, keyName)) // without a key there are no such sessions
	return Keys{key: key}
}

// OpenKeys installs the scripts in dir and reads or creates the key there.
func OpenKeys(dir string) (Keys, error) {
	scripts := filepath.Join(dir, scriptsName)
	if err := Install(scripts); err != nil {
		return Keys{}, err
	}
	path := filepath.Join(dir, keyName)
	key, err := regular.ReadFile(path)
	if err == nil && len(key) == keySize {
		return Keys{scripts, key}, nil
	}
	key = make([]byte, keySize)
	rand.Read(key)
	if err := os.WriteFile(path, key, 0o600); err != nil {
		return Keys{}, fmt.Errorf("write key of shells: %v", err)
	}
	return Keys{scripts, key}, nil
}

// Nonce returns the secret for a session that is about to start, or "" if argv is not a supported
// shell.
func (k Keys) Nonce(session string, argv []string) string {
	if k.dir == "" || KindOf(argv) == None {
		return ""
	}
	return k.Secret(session)
}

// Secret returns the secret in a session's marks. It returns "" if there is no key, because then no
// session ever got a secret.
func (k Keys) Secret(session string) string {
	if len(k.key) != keySize {
		return ""
	}
	mac := hmac.New(sha256.New, k.key)
	mac.Write([]byte(session))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// Inject returns how to start a session's shell so that it marks its prompts: its arguments, and
// the variables to set in env. For other programs, it returns argv unchanged. private is as in the
// function Inject.
func (k Keys) Inject(session string, argv, env []string, private bool) (newArgv, set []string) {
	nonce := k.Nonce(session, argv)
	if nonce == "" {
		return argv, nil
	}
	known := api.Environ(env)
	start, ok := Inject(argv, func(name string) (string, bool) { v, ok := known[name]; return v, ok }, k.dir, nonce, private)
	if !ok {
		return argv, nil
	}
	for name, value := range start.Env {
		set = append(set, name+"="+value)
	}
	return start.Argv, set
}
