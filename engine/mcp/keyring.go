package mcp

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"tandem/engine/sleep"
)

// keyringPace is how often the tokens file is looked at without a request, for
// the sake of connections that are open.
const keyringPace = time.Second

// A keyring is the tokens of a file as it is now. A file with a mistake leaves
// the last good ones.
type keyring struct {
	path string // "" for tokens that stay as they are
	tell io.Writer

	mu     sync.Mutex
	tokens []*token
	read   fs.FileInfo // of the file that they are from
	wrong  string      // what was told of it
}

// readKeyring reads the tokens of a file, which may change and is made if it is
// not there. New tokens, and mistakes from then on, are told to tell.
func readKeyring(path string, tell io.Writer) (*keyring, error) {
	if err := makeTokens(path, tell); err != nil {
		return nil, err
	}
	k := &keyring{path: path, tell: tell}
	if err := k.reread(); err != nil {
		return nil, err
	}
	return k, nil
}

// current are the tokens that are good now.
func (k *keyring) current() []*token {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.path == "" {
		return k.tokens
	}
	err := k.reread()
	switch {
	case err == nil:
		k.wrong = ""
	case err.Error() != k.wrong:
		k.wrong = err.Error()
		fmt.Fprintf(k.tell, "tandem: %v; the old tokens stay valid\n", err)
	}
	return k.tokens
}

// reread reads the file if it is another one than before. The lock is held.
func (k *keyring) reread() error {
	info, err := os.Stat(k.path)
	switch {
	case err != nil:
		return fmt.Errorf("read tokens: %w", err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("read tokens %s: not a regular file", k.path)
	case k.read != nil && os.SameFile(info, k.read) && info.ModTime().Equal(k.read.ModTime()) && info.Size() == k.read.Size():
		return nil
	}
	text, err := readPrivate(k.path)
	if err != nil {
		return err
	}
	tokens, err := parseTokens(text)
	if err != nil {
		return fmt.Errorf("read tokens %s: %w", k.path, err)
	}
	k.replace(tokens)
	k.read = info
	return nil
}

// replace takes tokens in the place of those before. What has changed or is gone
// ends, with all that is open on it.
func (k *keyring) replace(tokens []token) {
	old := k.tokens
	k.tokens = nil
	for _, t := range tokens {
		i := slices.IndexFunc(old, func(o *token) bool { return o.same(t) })
		if i < 0 {
			k.tokens = append(k.tokens, t.begin())
			continue
		}
		k.tokens = append(k.tokens, old[i])
	}
	for _, t := range old {
		if !slices.Contains(k.tokens, t) {
			t.end()
		}
	}
}

// follow keeps an eye on the file until ctx ends.
func (k *keyring) follow(ctx context.Context) {
	for k.path != "" && ctx.Err() == nil {
		k.current()
		_ = sleep.For(ctx, keyringPace)
	}
}
