package mcp

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/persist/regular"
)

const (
	// minTokenLength is the minimum length of a token in characters. Shorter ones could be guessed.
	minTokenLength = 16
	// maxTokensFile is the maximum size of a tokens file in bytes.
	maxTokensFile = 1 << 20
)

// A token grants access to one client.
type token struct {
	name     string // shown instead of the secret
	sum      [sha256.Size]byte
	profiles []toolkit.Profile // limits for its bearer; empty: the server's profiles
	readOnly bool              // its bearer may not change anything

	life   context.Context // ends when the token is removed or changed
	revoke context.CancelFunc
}

// activate returns the token with a new lifetime.
func (t token) activate() *token {
	t.life, t.revoke = context.WithCancel(context.Background())
	return &t
}

// equals reports whether two lines of the tokens file have the same meaning.
func (t token) equals(o token) bool {
	return t.sum == o.sum && t.name == o.name && t.readOnly == o.readOnly && slices.Equal(t.profiles, o.profiles)
}

// id returns a unique name for the token, even across the files of several servers.
func (t token) id() string { return t.name + " " + hex.EncodeToString(t.sum[:8]) }

// ensureTokensFile creates a tokens file with a new token if there is none, and writes the token to
// the writer notices.
func ensureTokensFile(path string, notices io.Writer) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	text, err := createTokensFile(path)
	if err == nil {
		fmt.Fprintf(notices, "tandem: created a token for agents in %s:\n%s\n", path, text)
	}
	return err
}

// readPrivateFile reads a regular file, unless other users may access it.
func readPrivateFile(path string) (string, error) {
	f, info, err := regular.Open(path)
	if err != nil {
		return "", fmt.Errorf("read tokens: %w", err)
	}
	defer f.Close()
	if info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("read tokens %s: others may read it; run chmod 600 on it", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxTokensFile+1))
	if err == nil && len(text) > maxTokensFile {
		err = fmt.Errorf("%s is too large", path)
	}
	if err != nil {
		return "", fmt.Errorf("read tokens: %w", err)
	}
	return string(text), nil
}

// createTokensFile creates a file with one new token and returns its text. If another process
// creates it first, it returns the text of that file.
func createTokensFile(path string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("make tokens: %w", err)
	}
	secret := rand.Text()
	draft, err := os.CreateTemp(filepath.Dir(path), ".tokens-*") // mode 0600
	if err != nil {
		return "", fmt.Errorf("make tokens: %w", err)
	}
	defer os.Remove(draft.Name())
	_, err = draft.WriteString(secret + "\n")
	if err = errors.Join(err, draft.Sync(), draft.Close()); err != nil {
		return "", fmt.Errorf("make tokens: %w", err)
		// Link fails if the file exists, and readers never see a file without its token.
	}
	switch err := os.Link(draft.Name(), path); {
	case errors.Is(err, fs.ErrExist):
		return readPrivateFile(path)
	case err != nil:
		return "", fmt.Errorf("make tokens: %w", err)
	}
	return secret, nil
}

// TokenNames returns the names of the tokens in a file, or none if it cannot be read.
func TokenNames(path string) (names []string) {
	text, err := readPrivateFile(path)
	if err != nil {
		return nil
	}
	tokens, err := parseTokens(text)
	if err != nil {
		return nil
	}
	for _, t := range tokens {
		names = append(names, t.name)
	}
	return names
}

var errNoToken = errors.New("it contains no token")

// parseTokens parses a tokens file. Each line has a token, then "profile=NAME[,NAME…]", "read-only"
// and "name=NAME" in any order. Lines starting with # are comments.
func parseTokens(text string) ([]token, error) {
	var tokens []token
	n := 0
	for line := range strings.Lines(text) {
		n++
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		t, err := parseToken(words, n)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		same := func(o token) bool { return o.sum == t.sum || o.name == t.name }
		if slices.ContainsFunc(tokens, same) {
			return nil, fmt.Errorf("line %d: another line has this token or name", n)
		}
		tokens = append(tokens, t)
	}
	if len(tokens) == 0 {
		return nil, errNoToken
	}
	return tokens, nil
}

func parseToken(words []string, line int) (token, error) {
	secret := words[0]
	if len(secret) < minTokenLength {
		return token{}, fmt.Errorf("the token is shorter than %d characters", minTokenLength)
	}
	if strings.ContainsFunc(secret, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return token{}, errors.New("the token has characters not allowed in an HTTP header")
	}
	t := token{name: "token-" + strconv.Itoa(line), sum: sha256.Sum256([]byte(secret))}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch {
		case word == "read-only":
			t.readOnly = true
		case key == "name" && value != "":
			t.name = value
		case key == "profile" && value != "":
			profiles, err := toolkit.ParseProfiles([]string{value})
			if err != nil {
				return token{}, err
			}
			t.profiles = profiles
		default:
			return token{}, fmt.Errorf("%q is neither profile=…, read-only nor name=…", word)
		}
	}
	return t, nil
}

// parseBearer returns the token of an Authorization header (RFC 6750, section 2.1), and whether
// there is one.
func parseBearer(header string) (string, bool) {
	scheme, secret, ok := strings.Cut(header, " ")
	secret = strings.Trim(secret, " ")
	return secret, ok && strings.EqualFold(scheme, "Bearer") && secret != "" && !strings.ContainsAny(secret, " \t")
}

// findToken returns the token with a secret, or nil. Its running time does not depend on the
// secret.
func findToken(tokens []*token, secret string) *token {
	sum := sha256.Sum256([]byte(secret))
	var found *token
	for _, t := range tokens {
		if subtle.ConstantTimeCompare(t.sum[:], sum[:]) == 1 {
			found = t
		}
	}
	return found
}
