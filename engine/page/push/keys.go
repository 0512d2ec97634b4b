package push

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/SherClockHolmes/webpush-go"
	"github.com/google/renameio/v2"

	"tandem/persist/regular"
)

// keys is the key pair that identifies this server to push services (VAPID, RFC 8292).
type keys struct {
	Public  string `json:"public"` // base64url, as browsers expect
	Private string `json:"private"`
}

// keyFile stores the keys that sign notifications. They must stay the same, because a browser's
// subscription is bound to them.
type keyFile struct {
	path string

	mu   sync.Mutex
	keys keys
}

// loadOrCreate returns the keys, and creates them on first use.
func (f *keyFile) loadOrCreate() (keys, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.keys.Public != "" {
		return f.keys, nil
	}
	text, err := regular.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return f.createKeys()
	}
	if err != nil {
		return keys{}, fmt.Errorf("read the keys for notifications: %w", err)
	}
	if err := json.Unmarshal(text, &f.keys); err != nil {
		return keys{}, fmt.Errorf("read the keys for notifications in %s: %w", f.path, err)
	}
	return f.keys, nil
}

func (f *keyFile) createKeys() (keys, error) {
	private, public, err := webpush.GenerateVAPIDKeys()
	if err != nil {
		return keys{}, fmt.Errorf("make keys for notifications: %w", err)
	}
	made := keys{public, private}
	text, err := json.Marshal(made)
	if err != nil {
		return keys{}, err
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return keys{}, err
	}
	if err := renameio.WriteFile(f.path, text, 0o600); err != nil {
		return keys{}, fmt.Errorf("save the keys for notifications: %w", err)
	}
	f.keys = made
	return made, nil
}
