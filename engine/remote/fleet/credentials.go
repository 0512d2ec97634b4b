package fleet

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"tandem/persist/regular"
)

// Credentials are a user's JWT and private key, as in a NATS .creds file.
type Credentials struct {
	User
	JWT    string
	issuer string // key that signed the JWT
	key    nkeys.KeyPair
}

// ReadCredentials reads a .creds file.
func ReadCredentials(path string) (Credentials, error) {
	text, err := regular.ReadFile(path)
	if err != nil {
		return Credentials{}, fmt.Errorf("read credentials: %w", err)
	}
	c, err := ParseCredentials(text)
	if err != nil {
		err = fmt.Errorf("read credentials %s: %w", path, err)
	}
	return c, err
}

// ParseCredentials parses the text of a .creds file.
func ParseCredentials(text []byte) (Credentials, error) {
	token, err := jwt.ParseDecoratedJWT(text)
	if err != nil {
		return Credentials{}, err
	}
	key, err := jwt.ParseDecoratedUserNKey(text)
	if err != nil {
		return Credentials{}, err
	}
	user, claims, err := readUser(token)
	if err != nil {
		return Credentials{}, err
	}
	if public, err := key.PublicKey(); err != nil || public != claims.Subject {
		return Credentials{}, errors.New("the key does not match the JWT")
	}
	return Credentials{User: user, JWT: token, issuer: claims.Issuer, key: key}, nil
}

// File returns the text of a .creds file.
func (c Credentials) File() []byte {
	seed, err := c.key.Seed()
	if err != nil {
		return nil // the key was wiped
	}
	text, _ := jwt.FormatUserConfig(c.JWT, seed) // only fails for a seed of another kind
	return text
}

// readUser decodes a JWT. The caller must check its issuer.
func readUser(token string) (User, *jwt.UserClaims, error) {
	claims, err := jwt.DecodeUserClaims(token)
	if err != nil {
		return User{}, nil, fmt.Errorf("read JWT: %w", err)
	}
	u := User{Name: claims.Name}
	for _, tag := range claims.Tags {
		if value, ok := strings.CutPrefix(tag, tagKind); ok {
			u.Kind = Kind(value)
		}
		if value, ok := strings.CutPrefix(tag, tagRole); ok {
			u.Role = Role(value)
		}
		if value, ok := strings.CutPrefix(tag, tagLabel); ok && ValidLabel(value) {
			u.Labels = append(u.Labels, value)
		}
	}
	if !ValidName(u.Name) || u.Kind == "" {
		return User{}, nil, errors.New("read JWT: not the JWT of a fleet's user")
	}
	return u, claims, nil
}

// ServerName is the name in the hub's own certificates, independent of its address. Its authority
// signs no others.
const ServerName = "tandem-hub"

// AuthorityName is the common name in the certificate of a hub's own authority.
const AuthorityName = "Tandem hub authority"

// readAuthority returns a TLS configuration that trusts the CA certificate in a file, or the
// system's CAs if path is "".
func readAuthority(path string) (*tls.Config, error) {
	if path == "" {
		return &tls.Config{MinVersion: tls.VersionTLS12}, nil
	}
	text, err := regular.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read authority: %w", err)
	}
	return parseAuthority(text)
}

func parseAuthority(text []byte) (*tls.Config, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("read authority: not a PEM certificate")
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read authority: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	c := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}
	// The hub's own authority signs only for ServerName; anyone else's signs for the host.
	if cert.Subject.CommonName == AuthorityName {
		c.ServerName = ServerName
	}
	return c, nil
}
