package devices

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestACodeIsGoodOnceAndForAWhile(t *testing.T) {
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
	d, token, err := b.Pair(" "+strings.ToLower(first)+"\n", "Firefox")
	if err != nil || !d.ReadOnly || d.Name != "Firefox" {
		t.Fatal(d, err)
	}
	if _, _, err := b.Pair(first, "Chrome"); !errors.Is(err, ErrNoCode) {
		t.Errorf("used again: %v", err)
	}
	if found, ok, err := b.Find(token); err != nil || !ok || found.ID != d.ID {
		t.Errorf("its token finds %+v %v %v", found, ok, err)
	}
	for _, wrong := range []string{"", "x", token[1:], d.Token} {
		if _, ok, _ := b.Find(wrong); ok {
			t.Errorf("token %q finds a device", wrong)
		}
	}
	now = now.Add(CodeLife)
	if _, _, err := b.Pair(second, "Chrome"); !errors.Is(err, ErrNoCode) {
		t.Errorf("expired: %v", err)
	}
}

func TestALinkEnds(t *testing.T) {
	b := Open(t.TempDir())
	now := time.Unix(1_000_000_000, 0)
	b.now = func() time.Time { return now }
	code, err := b.NewCode(Grant{Session: "0123456789ab", Until: now.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	_, token, err := b.Pair(code, "Firefox")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, _ := b.Find(token); !ok {
		t.Error("it has ended already")
	}
	now = now.Add(time.Hour)
	if _, ok, _ := b.Find(token); ok {
		t.Error("it has not ended")
	}
	if all, _ := b.List(); len(all) != 0 {
		t.Errorf("the list has %+v", all)
	}
}

func TestNoSecretIsInTheFile(t *testing.T) {
	b := Open(t.TempDir())
	code, _ := b.NewCode(Grant{})
	used, _ := b.NewCode(Grant{})
	_, token, err := b.Pair(used, "Firefox")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(b.Path())
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{code, used, token} {
		if strings.Contains(string(text), secret) {
			t.Errorf("%s is in %s", secret, text)
		}
	}
	if info, err := os.Stat(b.Path()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

func TestRevokeMeansOneDevice(t *testing.T) {
	b := Open(t.TempDir())
	pair := func(name string) Device {
		code, err := b.NewCode(Grant{})
		if err != nil {
			t.Fatal(err)
		}
		d, _, err := b.Pair(code, name)
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

func TestABrokenFileLosesNothing(t *testing.T) {
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

func TestManyChangeTheBookAtOnce(t *testing.T) {
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
			d, _, err := b.Pair(code, "Firefox")
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
