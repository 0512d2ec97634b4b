package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"tandem/engine/base/sleep"
	"tandem/persist/regular"
)

// keyringInterval is how often the tokens file is checked without a request, in order to disconnect
// clients whose token was removed.
const keyringInterval = time.Second

// revokeAfter is how long the tokens file must be missing or without a token before all tokens are
// revoked. An editor that saves it takes less.
const revokeAfter = 2 * time.Second

// A keyring holds the tokens of a file and reloads them when it changes. A file with a mistake
// leaves the previous tokens in place; one that stays empty or missing revokes them.
type keyring struct {
	path    string // "" for fixed tokens
	notices io.Writer

	mu        sync.Mutex
	tokens    []*token
	read      fs.FileInfo // state of the file the tokens were read from
	lastError string      // last error written to notices
	noToken   time.Time   // since when the file has had no token; zero if it has one
}

// readKeyring reads the tokens of a file, creating one if necessary. It writes a new token, and
// later mistakes in the file, to the writer notices.
func readKeyring(path string, notices io.Writer) (*keyring, error) {
	if err := ensureTokensFile(path, notices); err != nil {
		return nil, err
	}
	k := &keyring{path: path, notices: notices}
	if err := k.reloadChanged(); err != nil {
		return nil, err
	}
	return k, nil
}

// currentTokens returns the valid tokens, after reloading a changed file.
func (k *keyring) currentTokens() []*token {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.path != "" {
		k.handleReload(k.reloadChanged())
	}
	return k.tokens
}

// handleReload decides what becomes of the tokens after reloadChanged has returned err. A file with
// a mistake leaves the old tokens valid. A file that is missing or has no token revokes them, but
// only after revokeAfter, because an editor may be replacing it. The caller holds mu.
func (k *keyring) handleReload(err error) {
	hasNoToken := errors.Is(err, errNoToken) || errors.Is(err, regular.ErrNotRegular) || errors.Is(err, fs.ErrNotExist)
	if !hasNoToken {
		k.noToken = time.Time{}
	} else if k.noToken.IsZero() {
		k.noToken = time.Now()
	}
	switch {
	case err == nil:
		k.lastError = ""
	case hasNoToken:
		if len(k.tokens) > 0 && time.Since(k.noToken) >= revokeAfter {
			k.replaceTokens(nil)
			k.read = nil // the same file may return
			fmt.Fprintf(k.notices, "tandem: %v; all tokens are revoked\n", err)
		}
	// Report a mistake once, not on every request.
	case err.Error() != k.lastError:
		k.lastError = err.Error()
		fmt.Fprintf(k.notices, "tandem: %v; the old tokens stay valid\n", err)
	}
}

// reloadChanged reads the file if it has changed. The caller holds mu.
func (k *keyring) reloadChanged() error {
	info, err := os.Stat(k.path)
	switch {
	case err != nil:
		return fmt.Errorf("read tokens: %w", err)
	case k.read != nil && os.SameFile(info, k.read) && info.ModTime().Equal(k.read.ModTime()) && info.Size() == k.read.Size():
		return nil
	}
	text, err := readPrivateFile(k.path)
	if err != nil {
		return err
	}
	tokens, err := parseTokens(text)
	if err != nil {
		return fmt.Errorf("read tokens %s: %w", k.path, err)
	}
	// read is set only after success, so that a file with a mistake is read again next time.
	k.replaceTokens(tokens)
	k.read = info
	return nil
}

// replaceTokens sets the tokens and revokes removed and changed ones, which closes their
// connections. Unchanged tokens keep theirs.
func (k *keyring) replaceTokens(tokens []token) {
	old := k.tokens
	k.tokens = nil
	for _, t := range tokens {
		i := slices.IndexFunc(old, func(o *token) bool { return o.equals(t) })
		if i < 0 {
			k.tokens = append(k.tokens, t.activate())
			continue
		}
		k.tokens = append(k.tokens, old[i])
	}
	for _, t := range old {
		if !slices.Contains(k.tokens, t) {
			t.revoke()
		}
	}
}

// watchFile reloads the file regularly until ctx ends.
func (k *keyring) watchFile(ctx context.Context) {
	for k.path != "" && ctx.Err() == nil {
		k.currentTokens()
		_ = sleep.For(ctx, keyringInterval)
	}
}
