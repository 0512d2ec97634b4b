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

	"tandem/engine/mcp/toolkit"
)

const (
	// tokenLeast is the length of the shortest token that is taken: what can
	// be guessed is no secret.
	tokenLeast = 16
	// tokensMost is how large a tokens file may be.
	tokensMost = 1 << 20
)

// A token lets one client in.
type token struct {
	name     string // shown in place of the secret
	sum      [sha256.Size]byte
	profiles []toolkit.Profile // that its bearer is held to; none: the server's
	readOnly bool              // its bearer changes nothing

	life context.Context // ends when the token is no longer good as it is here
	end  context.CancelFunc
}

// begin is a token as it is good from now on.
func (t token) begin() *token {
	t.life, t.end = context.WithCancel(context.Background())
	return &t
}

// same reports whether a line of the file says what it has said before.
func (t token) same(o token) bool {
	return t.sum == o.sum && t.name == o.name && t.readOnly == o.readOnly && slices.Equal(t.profiles, o.profiles)
}

// id tells a token from every other one, also of another server's file.
func (t token) id() string { return t.name + " " + hex.EncodeToString(t.sum[:8]) }

// makeTokens makes a tokens file with a new token if there is none, and tells it
// to tell.
func makeTokens(path string, tell io.Writer) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	text, err := newTokens(path)
	if err == nil {
		fmt.Fprintf(tell, "tandem: made a token for agents in %s:\n%s\n", path, text)
	}
	return err
}

// readPrivate reads a file that nobody else may read.
func readPrivate(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read tokens: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("read tokens: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("read tokens %s: others may read it; run chmod 600 on it", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, tokensMost+1))
	if err == nil && len(text) > tokensMost {
		err = fmt.Errorf("%s is too large", path)
	}
	if err != nil {
		return "", fmt.Errorf("read tokens: %w", err)
	}
	return string(text), nil
}

// newTokens writes a file with one new token. Of two that try at once one
// reads what the other has made.
func newTokens(path string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("make tokens: %w", err)
	}
	secret := rand.Text()
	draft, err := os.CreateTemp(filepath.Dir(path), ".tokens-*") // 0600
	if err != nil {
		return "", fmt.Errorf("make tokens: %w", err)
	}
	defer os.Remove(draft.Name())
	_, err = draft.WriteString(secret + "\n")
	if err = errors.Join(err, draft.Sync(), draft.Close()); err != nil {
		return "", fmt.Errorf("make tokens: %w", err)
	}
	switch err := os.Link(draft.Name(), path); {
	case errors.Is(err, fs.ErrExist):
		return readPrivate(path)
	case err != nil:
		return "", fmt.Errorf("make tokens: %w", err)
	}
	return secret, nil
}

// TokenNames returns the names of the tokens in a file; none if it cannot be read.
func TokenNames(path string) (names []string) {
	text, err := readPrivate(path)
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

// parseTokens reads the lines of a tokens file: a token, then words
// "profile=NAME[,NAME…]", "read-only" and "name=NAME" in any order. Lines that
// begin with # are comments.
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
		return nil, errors.New("there is no token in it")
	}
	return tokens, nil
}

func parseToken(words []string, line int) (token, error) {
	secret := words[0]
	if len(secret) < tokenLeast {
		return token{}, fmt.Errorf("the token is shorter than %d characters", tokenLeast)
	}
	if strings.ContainsFunc(secret, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return token{}, errors.New("the token has characters that no HTTP header can carry")
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

// bearer is the token of an Authorization header (RFC 6750, 2.1); false if
// there is none.
func bearer(header string) (string, bool) {
	scheme, secret, ok := strings.Cut(header, " ")
	secret = strings.Trim(secret, " ")
	return secret, ok && strings.EqualFold(scheme, "Bearer") && secret != "" && !strings.ContainsAny(secret, " \t")
}

// find is the token with a secret; nil if there is none. It takes as long
// whichever it is.
func find(tokens []*token, secret string) *token {
	sum := sha256.Sum256([]byte(secret))
	var found *token
	for _, t := range tokens {
		if subtle.ConstantTimeCompare(t.sum[:], sum[:]) == 1 {
			found = t
		}
	}
	return found
}
