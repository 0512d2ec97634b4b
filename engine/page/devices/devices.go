// Package devices stores the users of the page: paired devices, the one-time codes to pair them,
// and links to one session. Everything is in one private file, changed under a lock by several
// programs: the server and the commands that list and revoke devices.
package devices

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"

	"tandem/persist/datadir"
	"tandem/persist/regular"
)

const (
	// CodeLife is how long a code is valid.
	CodeLife = 10 * time.Minute
	// seenInterval is the precision of Device.Seen.
	seenInterval = time.Minute
	// maxDevices is the maximum number of devices.
	maxDevices = 200
)

// A Grant is the set of a device's permissions.
type Grant struct {
	ReadOnly bool      `json:"read_only,omitempty"` // may not change anything
	Session  string    `json:"session,omitempty"`   // for a link: id of the only session shown
	Until    time.Time `json:"until,omitzero"`      // zero: until it is revoked
}

// A Device is a paired browser.
type Device struct {
	ID    string          `json:"id"`              // 8 hex digits
	Name  string          `json:"name"`            // from its User-Agent header
	Key   string          `json:"key,omitempty"`   // public key, see ParseKey; "" in a record of release 0.2.0
	At    string          `json:"at,omitempty"`    // origin of the pairing, the only one where its browser has the key
	Token string          `json:"token,omitempty"` // hash of the cookie of release 0.2.0, which no longer grants access
	Added time.Time       `json:"added"`
	Seen  time.Time       `json:"seen"`
	Push  json.RawMessage `json:"push,omitempty"` // push subscription, as received from the browser (W3C Push API)
	Grant
}

// A code pairs one device, once.
type code struct {
	Hash string    `json:"hash"`
	Ends time.Time `json:"ends"`
	Grant
}

// contents is the content of the file.
type contents struct {
	Devices []Device `json:"devices"`
	Codes   []code   `json:"codes,omitempty"`
}

// ErrNoCode is returned for a wrong, used or expired code.
var ErrNoCode = errors.New("this code is not valid: it can be used once, within 10 minutes")

// A Book is the file of devices and codes.
type Book struct {
	path string
	now  func() time.Time
}

// Open returns the book in the data directory dataDir. The first change creates the file.
func Open(dataDir string) *Book {
	return &Book{filepath.Join(dataDir, datadir.Page, "devices.json"), time.Now}
}

// Path returns the path of the file.
func (b *Book) Path() string { return b.path }

// NewCode creates a code of 16 letters and digits. It pairs one device with the permissions in
// grant.
func (b *Book) NewCode(grant Grant) (string, error) {
	var raw [10]byte
	_, _ = rand.Read(raw[:]) // never fails
	text := base32.StdEncoding.EncodeToString(raw[:])
	err := b.changeFile(func(c *contents) error {
		c.Codes = append(c.Codes, code{hashOf(text), b.now().Add(CodeLife), grant})
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("make a code: %w", err)
	}
	return text, nil
}

// PairAgain reports whether a device was paired before browsers had keys. It has no access.
func (d Device) PairAgain() bool { return d.Key == "" }

// ParseKey parses a browser's public key: a P-256 point in WebCrypto's "raw" format (SEC 1,
// uncompressed), in base64.
func ParseKey(text string) (*ecdsa.PublicKey, error) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("read the browser's key: %w", err)
	}
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), raw)
	if err != nil {
		return nil, fmt.Errorf("read the browser's key: %w", err)
	}
	return key, nil
}

// Signed reports whether signature is the device's signature of message (ECDSA with SHA-256). It
// consists of r and s in WebCrypto's format, 32 bytes each.
func (d Device) Signed(message string, signature []byte) bool {
	key, err := ParseKey(d.Key)
	if err != nil || len(signature) != 64 {
		return false
	}
	sum := sha256.Sum256([]byte(message))
	return ecdsa.Verify(key, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:]))
}

// Pair consumes a code and adds a device. The device authenticates with key at origin.
func (b *Book) Pair(text, name, key, origin string) (d Device, err error) {
	if _, err := ParseKey(key); err != nil {
		return d, err
	}
	// Accept codes typed in lower case or with spaces around.
	hash := hashOf(strings.ToUpper(strings.TrimSpace(text)))
	err = b.changeFile(func(c *contents) error {
		i := slices.IndexFunc(c.Codes, func(k code) bool { return equalHashes(k.Hash, hash) })
		if i < 0 {
			return ErrNoCode
		}
		if len(c.Devices) >= maxDevices {
			return fmt.Errorf("pair: %d devices are paired already; revoke some with `tandem web revoke`", len(c.Devices))
		}
		var id [4]byte
		_, _ = rand.Read(id[:]) // never fails
		d = Device{ID: hex.EncodeToString(id[:]), Name: name, Key: key, At: origin, Added: b.now(), Seen: b.now(), Grant: c.Codes[i].Grant}
		// In the same change, so that two browsers cannot use one code.
		c.Codes = slices.Delete(c.Codes, i, i+1)
		c.Devices = append(c.Devices, d)
		return nil
	})
	return d, err
}

// List returns the paired devices, oldest first.
func (b *Book) List() ([]Device, error) {
	c, err := b.readFile()
	return c.Devices, err
}

// Get returns the device with an id.
func (b *Book) Get(id string) (Device, bool, error) {
	return b.findFirst(func(d Device) bool { return d.ID == id })
}

// FindOld returns the device of release 0.2.0 with a cookie.
func (b *Book) FindOld(cookie string) (Device, bool, error) {
	hash := hashOf(cookie)
	return b.findFirst(func(d Device) bool { return d.PairAgain() && equalHashes(d.Token, hash) })
}

func (b *Book) findFirst(is func(Device) bool) (Device, bool, error) {
	c, err := b.readFile()
	if err != nil {
		return Device{}, false, err
	}
	i := slices.IndexFunc(c.Devices, is)
	if i < 0 {
		return Device{}, false, nil
	}
	return c.Devices[i], true, nil
}

// Saw records the use of a device. It writes at most once a minute.
func (b *Book) Saw(d Device) error {
	if b.now().Sub(d.Seen) < seenInterval {
		return nil
	}
	return b.updateDevice(d.ID, func(d *Device) { d.Seen = b.now() })
}

// Subscribe saves a device's push subscription; nil removes it.
func (b *Book) Subscribe(id string, push json.RawMessage) error {
	return b.updateDevice(id, func(d *Device) { d.Push = push })
}

// Unsubscribe removes a push subscription, unless the device has a different one by now.
func (b *Book) Unsubscribe(id string, push json.RawMessage) error {
	return b.updateDevice(id, func(d *Device) {
		if bytes.Equal(compactJSON(d.Push), compactJSON(push)) {
			d.Push = nil
		}
	})
}

// compactJSON returns JSON without insignificant spaces.
func compactJSON(text json.RawMessage) []byte {
	var out bytes.Buffer
	if json.Compact(&out, text) != nil {
		return text
	}
	return out.Bytes()
}

func (b *Book) updateDevice(id string, f func(d *Device)) error {
	return b.changeFile(func(c *contents) error {
		i := slices.IndexFunc(c.Devices, func(d Device) bool { return d.ID == id })
		if i < 0 {
			return fs.ErrNotExist
		}
		f(&c.Devices[i])
		return nil
	})
}

// Revoke removes devices and returns them. refs are ids, unique prefixes of ids, or names. Without
// arguments it removes all devices and unused codes.
func (b *Book) Revoke(refs ...string) (gone []Device, err error) {
	err = b.changeFile(func(c *contents) error {
		if len(refs) == 0 {
			gone, c.Devices, c.Codes = c.Devices, nil, nil
			return nil
		}
		for _, w := range refs {
			found, err := findDevice(c.Devices, w)
			if err != nil {
				return err
			}
			gone = append(gone, found)
			c.Devices = slices.DeleteFunc(c.Devices, func(d Device) bool { return d.ID == found.ID })
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return gone, nil
}

// A NotOne is the error for a word that does not identify exactly one device.
type NotOne struct {
	Which string
	Found int
}

func (e *NotOne) Error() string {
	if e.Found == 0 {
		return fmt.Sprintf("no device %q is paired", e.Which)
	}
	return fmt.Sprintf("%d devices match %q; give an id", e.Found, e.Which)
}

func findDevice(all []Device, ref string) (Device, error) {
	var found []Device
	for _, d := range all {
		if d.ID == ref {
			return d, nil
		}
		if strings.HasPrefix(d.ID, ref) || strings.EqualFold(d.Name, ref) {
			found = append(found, d)
		}
	}
	if ref == "" || len(found) != 1 {
		return Device{}, &NotOne{ref, len(found)}
	}
	return found[0], nil
}

// readFile returns the content of the file without expired entries. A missing file counts as empty.
func (b *Book) readFile() (c contents, err error) {
	text, err := regular.ReadFile(b.path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("read devices: %w", err)
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return contents{}, fmt.Errorf("read devices %s: %w", b.path, err)
	}
	now := b.now()
	c.Devices = slices.DeleteFunc(c.Devices, func(d Device) bool { return !d.Until.IsZero() && !now.Before(d.Until) })
	c.Codes = slices.DeleteFunc(c.Codes, func(k code) bool { return !now.Before(k.Ends) })
	return c, nil
}

// changeFile reads the file, applies f and writes the file, under the lock.
func (b *Book) changeFile(f func(c *contents) error) error {
	if err := os.MkdirAll(filepath.Dir(b.path), 0o700); err != nil {
		return err
	}
	// Lock a separate file, because writing replaces the file itself.
	lock := flock.New(b.path + ".lock")
	if err := lock.Lock(); err != nil {
		return err
	}
	defer lock.Close()
	c, err := b.readFile()
	if err != nil {
		return err
	}
	if err := f(&c); err != nil {
		return err
	}
	text, err := json.MarshalIndent(c, "", "\t")
	if err != nil {
		return err
	}
	if err := renameio.WriteFile(b.path, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("write devices: %w", err)
	}
	return nil
}

func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

func equalHashes(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
