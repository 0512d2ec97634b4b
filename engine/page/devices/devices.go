// Package devices keeps who may use the page: devices that were paired, the one-time codes
// that pair them, and links to one session. All of it is one private file, which several
// programs change under a lock: the server that checks, and the verbs that list and revoke.
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
)

const (
	// CodeLife is how long a code can be used that nobody has used.
	CodeLife = 10 * time.Minute
	// seenPace is how exact the time is when a device was seen last.
	seenPace = time.Minute
	// mostDevices bounds the file.
	mostDevices = 200
)

// A Grant is what a device may do.
type Grant struct {
	ReadOnly bool      `json:"read_only,omitempty"` // looks only
	Session  string    `json:"session,omitempty"`   // of a link: the id of the one session that it shows
	Until    time.Time `json:"until,omitzero"`      // zero: until it is revoked
}

// A Device is a browser that has been paired.
type Device struct {
	ID    string          `json:"id"`              // 8 hex digits
	Name  string          `json:"name"`            // as its browser calls itself
	Key   string          `json:"key,omitempty"`   // its public key, as ParseKey reads it; "" in a record of release 0.2.0
	At    string          `json:"at,omitempty"`    // origin where it was paired, the only one where its browser has the key
	Token string          `json:"token,omitempty"` // hash of the cookie of release 0.2.0, which opens nothing any more
	Added time.Time       `json:"added"`
	Seen  time.Time       `json:"seen"`
	Push  json.RawMessage `json:"push,omitempty"` // its push subscription, as the browser gave it (W3C Push API)
	Grant
}

// A code pairs one device, once.
type code struct {
	Hash string    `json:"hash"`
	Ends time.Time `json:"ends"`
	Grant
}

// contents are what the file holds.
type contents struct {
	Devices []Device `json:"devices"`
	Codes   []code   `json:"codes,omitempty"`
}

// ErrNoCode says that a code is not known: wrong, used or expired.
var ErrNoCode = errors.New("this code is not valid: it can be used once, within 10 minutes")

// A Book is the file.
type Book struct {
	path string
	now  func() time.Time
}

// Open is the book in a data folder. The file is made when something is written to it.
func Open(dataDir string) *Book {
	return &Book{filepath.Join(dataDir, datadir.Page, "devices.json"), time.Now}
}

// Path is where the file is.
func (b *Book) Path() string { return b.path }

// NewCode makes a code: 16 letters and digits that pair one device with what grant allows.
func (b *Book) NewCode(grant Grant) (string, error) {
	var raw [10]byte
	_, _ = rand.Read(raw[:]) // it never fails
	text := base32.StdEncoding.EncodeToString(raw[:])
	err := b.change(func(c *contents) error {
		c.Codes = append(c.Codes, code{hashOf(text), b.now().Add(CodeLife), grant})
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("make a code: %w", err)
	}
	return text, nil
}

// PairAgain reports whether a record was made before browsers had keys: it opens nothing.
func (d Device) PairAgain() bool { return d.Key == "" }

// ParseKey reads the public key of a browser: a point on P-256 as WebCrypto exports it "raw"
// (SEC 1, uncompressed), in base64.
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

// Signed reports whether the device's key has signed message (ECDSA with SHA-256). signature is
// r and s as WebCrypto writes them, 32 bytes each.
func (d Device) Signed(message string, signature []byte) bool {
	key, err := ParseKey(d.Key)
	if err != nil || len(signature) != 64 {
		return false
	}
	sum := sha256.Sum256([]byte(message))
	return ecdsa.Verify(key, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:]))
}

// Pair consumes a code and records a new device, which authenticates with key at origin.
func (b *Book) Pair(text, name, key, origin string) (d Device, err error) {
	if _, err := ParseKey(key); err != nil {
		return d, err
	}
	hash := hashOf(strings.ToUpper(strings.TrimSpace(text)))
	err = b.change(func(c *contents) error {
		i := slices.IndexFunc(c.Codes, func(k code) bool { return same(k.Hash, hash) })
		if i < 0 {
			return ErrNoCode
		}
		if len(c.Devices) >= mostDevices {
			return fmt.Errorf("pair: %d devices are paired already; revoke some with `tandem web revoke`", len(c.Devices))
		}
		var id [4]byte
		_, _ = rand.Read(id[:]) // it never fails
		d = Device{ID: hex.EncodeToString(id[:]), Name: name, Key: key, At: origin, Added: b.now(), Seen: b.now(), Grant: c.Codes[i].Grant}
		c.Codes = slices.Delete(c.Codes, i, i+1)
		c.Devices = append(c.Devices, d)
		return nil
	})
	return d, err
}

// List is the devices that are paired now, oldest first.
func (b *Book) List() ([]Device, error) {
	c, err := b.read()
	return c.Devices, err
}

// Get returns the device with an id.
func (b *Book) Get(id string) (Device, bool, error) {
	return b.find(func(d Device) bool { return d.ID == id })
}

// FindOld returns the device of release 0.2.0 with a cookie.
func (b *Book) FindOld(cookie string) (Device, bool, error) {
	hash := hashOf(cookie)
	return b.find(func(d Device) bool { return d.PairAgain() && same(d.Token, hash) })
}

func (b *Book) find(is func(Device) bool) (Device, bool, error) {
	c, err := b.read()
	if err != nil {
		return Device{}, false, err
	}
	i := slices.IndexFunc(c.Devices, is)
	if i < 0 {
		return Device{}, false, nil
	}
	return c.Devices[i], true, nil
}

// Saw notes that a device was there just now; at most once a minute is written.
func (b *Book) Saw(d Device) error {
	if b.now().Sub(d.Seen) < seenPace {
		return nil
	}
	return b.update(d.ID, func(d *Device) { d.Seen = b.now() })
}

// Subscribe keeps a device's push subscription; none: it wants no pushes.
func (b *Book) Subscribe(id string, push json.RawMessage) error {
	return b.update(id, func(d *Device) { d.Push = push })
}

// Unsubscribe forgets a push subscription, unless the device has another one by now.
func (b *Book) Unsubscribe(id string, push json.RawMessage) error {
	return b.update(id, func(d *Device) {
		if bytes.Equal(compact(d.Push), compact(push)) {
			d.Push = nil
		}
	})
}

// compact is a JSON text without the spaces that the file has.
func compact(text json.RawMessage) []byte {
	var out bytes.Buffer
	if json.Compact(&out, text) != nil {
		return text
	}
	return out.Bytes()
}

func (b *Book) update(id string, f func(d *Device)) error {
	return b.change(func(c *contents) error {
		i := slices.IndexFunc(c.Devices, func(d Device) bool { return d.ID == id })
		if i < 0 {
			return fs.ErrNotExist
		}
		f(&c.Devices[i])
		return nil
	})
}

// Revoke forgets devices, and gives those that are gone. which are ids, the beginning of one
// that no other has, or names; none: all devices and all codes that were not used.
func (b *Book) Revoke(which ...string) (gone []Device, err error) {
	err = b.change(func(c *contents) error {
		if len(which) == 0 {
			gone, c.Devices, c.Codes = c.Devices, nil, nil
			return nil
		}
		for _, w := range which {
			found, err := find(c.Devices, w)
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

// A NotOne error says that not exactly one device is meant.
type NotOne struct {
	Which string
	Found int
}

// Error implements error.
func (e *NotOne) Error() string {
	if e.Found == 0 {
		return fmt.Sprintf("no device %q is paired", e.Which)
	}
	return fmt.Sprintf("%d devices are meant by %q; give an id", e.Found, e.Which)
}

func find(all []Device, which string) (Device, error) {
	var found []Device
	for _, d := range all {
		if d.ID == which {
			return d, nil
		}
		if strings.HasPrefix(d.ID, which) || strings.EqualFold(d.Name, which) {
			found = append(found, d)
		}
	}
	if which == "" || len(found) != 1 {
		return Device{}, &NotOne{which, len(found)}
	}
	return found[0], nil
}

// read is the file without what has ended; one that is missing is empty.
func (b *Book) read() (c contents, err error) {
	text, err := os.ReadFile(b.path)
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

// change reads the file, changes it and writes it, while nobody else does.
func (b *Book) change(f func(c *contents) error) error {
	if err := os.MkdirAll(filepath.Dir(b.path), 0o700); err != nil {
		return err
	}
	lock := flock.New(b.path + ".lock")
	if err := lock.Lock(); err != nil {
		return err
	}
	defer lock.Close()
	c, err := b.read()
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

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
