package devices

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tandem/persist/regular"
)

const anOrigin = "http://127.0.0.1:8800"

// aKey makes the public key of a browser.
func aKey(t *testing.T) string {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := private.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(raw)
}

func TestPairRejectsInvalidKey(t *testing.T) {
	b := Open(t.TempDir())
	code, err := b.NewCode(Grant{})
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{"", "x", "AAAA", base64.StdEncoding.EncodeToString(make([]byte, 65))} {
		if _, err := b.Pair(code, "Firefox", wrong, anOrigin); err == nil || errors.Is(err, ErrNoCode) {
			t.Errorf("key %q: %v", wrong, err)
		}
	}
	if _, err := b.Pair(code, "Firefox", aKey(t), anOrigin); err != nil {
		t.Errorf("the code was used up: %v", err)
	}
}

func TestDeviceOfRelease020MustPairAgain(t *testing.T) {
	b := Open(t.TempDir())
	record := `{"devices":[{"id":"3f9a2c11","name":"Firefox","token":"` + hashOf("cookie") + `","added":"2026-01-02T15:04:05Z","seen":"2026-01-02T15:04:05Z"}]}`
	if err := os.MkdirAll(filepath.Dir(b.Path()), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b.Path(), []byte(record), 0o600); err != nil {
		t.Fatal(err)
	}
	d, ok, err := b.FindOld("cookie")
	if err != nil || !ok || !d.PairAgain() || d.Signed("", make([]byte, 64)) {
		t.Errorf("%+v %v %v", d, ok, err)
	}
	if _, ok, _ := b.FindOld("another"); ok {
		t.Error("another cookie finds it")
	}
}

func TestCodeIsValidOnceUntilItExpires(t *testing.T) {
	b := Open(t.TempDir())
	now := time.Unix(1_000_000_000, 0)
	b.now = func() time.Time { return now }
	first, err := b.NewCode(Grant{ReadOnly: true})
	if err != nil || len(first) != 16 {
		t.Fatal(first, err)
	}
	second, err := b.NewCode(Grant{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := b.Pair(" "+strings.ToLower(first)+"\n", "Firefox", aKey(t), anOrigin)
	if err != nil || !d.ReadOnly || d.Name != "Firefox" {
		t.Fatal(d, err)
	}
	if _, err := b.Pair(first, "Chrome", aKey(t), anOrigin); !errors.Is(err, ErrNoCode) {
		t.Errorf("used again: %v", err)
	}
	if found, ok, err := b.Get(d.ID); err != nil || !ok || found.ID != d.ID {
		t.Errorf("its id finds %+v %v %v", found, ok, err)
	}
	for _, wrong := range []string{"", "x", d.ID[1:], d.Name} {
		if _, ok, _ := b.Get(wrong); ok {
			t.Errorf("id %q finds a device", wrong)
		}
	}
	now = now.Add(CodeLife)
	if _, err := b.Pair(second, "Chrome", aKey(t), anOrigin); !errors.Is(err, ErrNoCode) {
		t.Errorf("expired: %v", err)
	}
}

func TestLinkExpires(t *testing.T) {
	b := Open(t.TempDir())
	now := time.Unix(1_000_000_000, 0)
	b.now = func() time.Time { return now }
	code, err := b.NewCode(Grant{Session: "0123456789ab", Until: now.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	d, err := b.Pair(code, "Firefox", aKey(t), anOrigin)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, _ := b.Get(d.ID); !ok {
		t.Error("it has ended already")
	}
	now = now.Add(time.Hour)
	if _, ok, _ := b.Get(d.ID); ok {
		t.Error("it has not ended")
	}
	if all, _ := b.List(); len(all) != 0 {
		t.Errorf("the list has %+v", all)
	}
}

func TestFileContainsNoSecrets(t *testing.T) {
	b := Open(t.TempDir())
	code, _ := b.NewCode(Grant{})
	used, _ := b.NewCode(Grant{})
	if _, err := b.Pair(used, "Firefox", aKey(t), anOrigin); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(b.Path())
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{code, used} {
		if strings.Contains(string(text), secret) {
			t.Errorf("%s is in %s", secret, text)
		}
	}
	if info, err := os.Stat(b.Path()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

func TestRevokeIdentifiesOneDevice(t *testing.T) {
	b := Open(t.TempDir())
	pair := func(name string) Device {
		code, err := b.NewCode(Grant{})
		if err != nil {
			t.Fatal(err)
		}
		d, err := b.Pair(code, name, aKey(t), anOrigin)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	one, _, phone := pair("Firefox on Linux"), pair("Firefox on Linux"), pair("Safari on iPhone")
	var not *NotOne
	if _, err := b.Revoke("Firefox on Linux"); !errors.As(err, &not) || not.Found != 2 {
		t.Errorf("two have that name: %v", err)
	}
	if _, err := b.Revoke(phone.ID, "nobody"); !errors.As(err, &not) || not.Found != 0 {
		t.Errorf("nobody has that name: %v", err)
	}
	if all, _ := b.List(); len(all) != 3 {
		t.Errorf("a mistake has revoked some: %+v", all)
	}
	if gone, err := b.Revoke("safari on iphone", one.ID); err != nil || len(gone) != 2 {
		t.Errorf("%+v %v", gone, err)
	}
	if gone, err := b.Revoke(); err != nil || len(gone) != 1 {
		t.Errorf("all: %+v %v", gone, err)
	}
	if _, err := b.Revoke(); err != nil {
		t.Errorf("none is left: %v", err)
	}
}

func TestDamagedFileIsNotOverwritten(t *testing.T) {
	b := Open(t.TempDir())
	if _, err := b.NewCode(Grant{}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b.Path(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.NewCode(Grant{}); err == nil || !strings.Contains(err.Error(), b.Path()) {
		t.Errorf("it says %v", err)
	}
	if text, _ := os.ReadFile(b.Path()); string(text) != "{" {
		t.Errorf("it was overwritten with %s", text)
	}
}

func TestPipeInPlaceOfFileIsRejected(t *testing.T) {
	b := Open(t.TempDir())
	if err := os.MkdirAll(filepath.Dir(b.Path()), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(b.Path(), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.NewCode(Grant{}); !errors.Is(err, regular.ErrNotRegular) {
		t.Errorf("a new code: %v", err)
	}
}

func TestBookIsSafeForConcurrentPrograms(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			b := Open(dir)
			code, err := b.NewCode(Grant{})
			if err != nil {
				t.Error(err)
				return
			}
			d, err := b.Pair(code, "Firefox", aKey(t), anOrigin)
			if err != nil {
				t.Error(err)
				return
			}
			if err := b.Subscribe(d.ID, json.RawMessage(`{"endpoint":"x"}`)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if list, err := Open(dir).List(); err != nil || len(list) != 20 || string(list[0].Push) == "" {
		t.Errorf("%d devices, %v", len(list), err)
	}
}
