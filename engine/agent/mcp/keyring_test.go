package mcp

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestDeletingOrEmptyingTokensFileRevokesAll(t *testing.T) {
	const tokens = masterToken + " name=master\n" + readerToken + " name=reader\n"
	for what, remove := range map[string]func(path string) error{
		"deleted":  os.Remove,
		"emptied":  func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"comments": func(path string) error { return os.WriteFile(path, []byte("\n# none\n"), 0o600) },
		"moved":    func(path string) error { return os.Rename(path, path+".away") },
	} {
		t.Run(what, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "tokens")
			if err := os.WriteFile(path, []byte(tokens), 0o600); err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				var told strings.Builder
				k, err := readKeyring(path, &told)
				if err != nil {
					t.Fatal(err)
				}
				wantTokens := func(n int) {
					t.Helper()
					if got := len(k.currentTokens()); got != n {
						t.Fatalf("%d tokens, want %d", got, n)
					}
				}
				change := func(err error) {
					t.Helper()
					if err != nil {
						t.Fatal(err)
					}
				}
				// An editor takes a moment between the removal and the new file.
				first := k.currentTokens()[0]
				change(remove(path))
				wantTokens(2)
				time.Sleep(revokeAfter - time.Millisecond)
				wantTokens(2)
				change(os.WriteFile(path, []byte(tokens+"# saved\n"), 0o600))
				wantTokens(2)
				if told.Len() > 0 || first != k.currentTokens()[0] {
					t.Errorf("a save revokes a token, or says %q", told.String())
				}

				change(remove(path))
				wantTokens(2)
				time.Sleep(revokeAfter)
				wantTokens(0)
				wantTokens(0)
				if first.life.Err() == nil {
					t.Error("the token's connections stay open")
				}
				if strings.Count(told.String(), "all tokens are revoked\n") != 1 {
					t.Errorf("it says %q", told.String())
				}
				if what == "moved" {
					change(os.Rename(path+".away", path))
				} else {
					change(os.WriteFile(path, []byte(tokens), 0o600))
				}
				wantTokens(2)
			})
		})
	}
}

func TestReplacingTokensFileByAFolderOrPipeRevokesAll(t *testing.T) {
	for what, replace := range map[string]func(path string) error{
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		t.Run(what, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "tokens")
			if err := os.WriteFile(path, []byte(masterToken+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				var told strings.Builder
				k, err := readKeyring(path, &told)
				if err == nil {
					err = os.Remove(path)
				}
				if err == nil {
					err = replace(path)
				}
				if err != nil || len(k.currentTokens()) != 1 {
					t.Fatalf("at first there are %d tokens, %v", len(k.currentTokens()), err)
				}
				time.Sleep(revokeAfter)
				if n := len(k.currentTokens()); n != 0 || !strings.Contains(told.String(), "not a regular file") {
					t.Errorf("then there are %d, and it says %q", n, told.String())
				}
			})
			if names := TokenNames(path); len(names) > 0 {
				t.Errorf("it names %q", names)
			}
		})
	}
}
