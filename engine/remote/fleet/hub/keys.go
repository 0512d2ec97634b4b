package hub

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"
	"github.com/nats-io/nkeys"

	"tandem/engine/remote/fleet"
	"tandem/persist/regular"
)

const (
	authorityLife = 20 * 365 * 24 * time.Hour
	// certificateLife is the life of the hub's certificate. The certificate is renewed at each start,
	// and once no more than renewBefore of its life is left.
	certificateLife = 5 * 365 * 24 * time.Hour
	renewBefore     = 365 * 24 * time.Hour
	// clockSlack is how far clocks may be behind the hub's.
	clockSlack = 7 * 24 * time.Hour
)

// An authority signs the certificates of the hub.
type authority struct {
	cert *x509.Certificate
	pem  []byte
	key  *ecdsa.PrivateKey
}

func (a authority) certHash() [sha256.Size]byte { return sha256.Sum256(a.cert.Raw) }

// openAuthority reads the authority in a folder, or creates it.
func openAuthority(folder string, now time.Time) (authority, error) {
	certPath, keyPath := filepath.Join(folder, "authority.pem"), filepath.Join(folder, "authority.key")
	text, err := regular.ReadFile(certPath)
	if errors.Is(err, fs.ErrNotExist) {
		return makeAuthority(certPath, keyPath, now)
	}
	keyText, keyErr := regular.ReadFile(keyPath)
	if err = errors.Join(err, keyErr); err != nil {
		return authority{}, fmt.Errorf("read the hub's authority: %w", err)
	}
	pair, err := tls.X509KeyPair(text, keyText)
	if err != nil {
		return authority{}, fmt.Errorf("read the hub's authority: %w", err)
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return authority{}, errors.New("read the hub's authority: its key has another type")
	}
	return authority{pair.Leaf, text, key}, nil
}

func makeAuthority(certPath, keyPath string, now time.Time) (authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return authority{}, err
	}
	template := &x509.Certificate{
		SerialNumber: randomSerial(), Subject: pkix.Name{CommonName: fleet.AuthorityName},
		NotBefore: now.Add(-clockSlack), NotAfter: now.Add(authorityLife),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return authority{}, err
	}
	cert, err := x509.ParseCertificate(raw)
	if err != nil {
		return authority{}, err
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return authority{}, err
	}
	a := authority{cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), key}
	// Write the key first, because a certificate without its key would be an error at every start.
	err = writePrivate(keyPath, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}))
	if err == nil {
		err = writePrivate(certPath, a.pem)
	}
	return a, err
}

func randomSerial() *big.Int {
	n, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)) // never fails
	return n
}

// newCertificate creates a certificate of the hub, followed by that of the authority.
func (a authority) newCertificate(now time.Time) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: randomSerial(), Subject: pkix.Name{CommonName: fleet.ServerName}, DNSNames: []string{fleet.ServerName},
		NotBefore: now.Add(-clockSlack), NotAfter: now.Add(certificateLife),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(raw)
	return &tls.Certificate{Certificate: [][]byte{raw, a.cert.Raw}, PrivateKey: key, Leaf: leaf}, err
}

// openKey reads a NATS key, or creates it.
func openKey(path string, prefix nkeys.PrefixByte) (nkeys.KeyPair, error) {
	seed, err := regular.ReadFile(path)
	switch {
	case err == nil:
		key, err := nkeys.FromSeed(bytes.TrimSpace(seed))
		if err != nil {
			err = fmt.Errorf("read key %s: %w", path, err)
		}
		return key, err
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read key: %w", err)
	}
	key, err := nkeys.CreatePair(prefix)
	if err != nil {
		return nil, err
	}
	if seed, err = key.Seed(); err != nil {
		return nil, err
	}
	return key, writePrivate(path, seed)
}

// writePrivate writes a file readable only for this user, all of it or nothing.
func writePrivate(path string, text []byte) error {
	if err := renameio.WriteFile(path, text, 0o600, renameio.WithStaticPermissions(0o600)); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return nil
}
