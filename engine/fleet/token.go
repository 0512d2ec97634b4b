package fleet

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"tandem/engine/api"
)

// An Invitation is what the token of `tandem join` says.
type Invitation struct {
	Kind      Kind
	ID        [8]byte
	Secret    [16]byte
	Authority [sha256.Size]byte // of the certificate that signs the hub's
	Address   string            // host:port
}

// tokenVersion begins a token.
const tokenVersion = 1

// Token is the invitation as a word.
func (i Invitation) Token() string {
	var b bytes.Buffer
	b.WriteByte(tokenVersion)
	b.WriteByte(string(i.Kind)[0])
	b.Write(i.ID[:])
	b.Write(i.Secret[:])
	b.Write(i.Authority[:])
	b.WriteString(i.Address)
	sum := sha256.Sum256(b.Bytes())
	b.Write(sum[:2]) // a word that was cut or mistyped is told from one that is wrong
	return base64.RawURLEncoding.EncodeToString(b.Bytes())
}

// ParseToken reads a token.
func ParseToken(token string) (i Invitation, err error) {
	data, err := base64.RawURLEncoding.DecodeString(token)
	const least = 2 + len(i.ID) + len(i.Secret) + len(i.Authority) + 2
	if err != nil || len(data) <= least {
		return i, errors.New("the invitation is incomplete")
	}
	said, sum := data[:len(data)-2], sha256.Sum256(data[:len(data)-2])
	switch {
	case !bytes.Equal(sum[:2], data[len(data)-2:]):
		return i, errors.New("the invitation is incomplete")
	case said[0] != tokenVersion:
		return i, errors.New("the invitation is from another version of tandem")
	}
	switch said[1] {
	case KindMachine[0]:
		i.Kind = KindMachine
	case KindPerson[0]:
		i.Kind = KindPerson
	default:
		return i, errors.New("the invitation is from another version of tandem")
	}
	said = said[2:]
	said = said[copy(i.ID[:], said):]
	said = said[copy(i.Secret[:], said):]
	said = said[copy(i.Authority[:], said):]
	i.Address = string(said)
	return i, nil
}

// A JoinRequest is what somebody sends who was invited. Its private key stays there.
type JoinRequest struct {
	ID     []byte `json:"id"`
	Secret []byte `json:"secret"`
	Key    string `json:"key"`
}

// A JoinAnswer is what comes back.
type JoinAnswer struct {
	JWT       string     `json:"jwt,omitempty"`
	Authority []byte     `json:"authority,omitempty"` // certificate, in PEM
	Error     *api.Error `json:"error,omitempty"`
}

// Joined is what somebody has who has joined.
type Joined struct {
	User
	Hub         string // tls://host:port
	Credentials []byte // a .creds file
	Authority   []byte // certificate, in PEM
}

// joinTimeout bounds each step of joining.
const joinTimeout = 10 * time.Second

// Join makes a key, and has the hub make it that of whoever was invited.
func Join(i Invitation) (Joined, error) {
	key, err := nkeys.CreateUser()
	if err != nil {
		return Joined{}, err
	}
	defer key.Wipe()
	public, err := key.PublicKey()
	if err != nil {
		return Joined{}, err
	}
	answer, err := i.send(JoinRequest{ID: i.ID[:], Secret: i.Secret[:], Key: public})
	if err != nil {
		return Joined{}, err
	}
	user, _, err := readUser(answer.JWT)
	if err != nil {
		return Joined{}, err
	}
	seed, err := key.Seed()
	if err != nil {
		return Joined{}, err
	}
	creds, err := jwt.FormatUserConfig(answer.JWT, seed)
	return Joined{User: user, Hub: "tls://" + i.Address, Credentials: creds, Authority: answer.Authority}, err
}

// send asks the hub, which is known by its authority's certificate alone.
func (i Invitation) send(r JoinRequest) (answer JoinAnswer, err error) {
	nc, err := nats.Connect("tls://"+i.Address, nats.Name("join"), nats.Timeout(joinTimeout), nats.MaxReconnects(0), nats.Secure(i.trust()),
		nats.CustomInboxPrefix(Inbox(KindJoiner, JoinerName)))
	if err != nil {
		return answer, api.Errorf(api.CodeUnavailable, "reach hub %s: %v", i.Address, plainly(err))
	}
	defer nc.Close()
	text, err := json.Marshal(r)
	if err != nil {
		return answer, err
	}
	reply, err := nc.Request(JoinSubject, text, joinTimeout)
	if err != nil {
		return answer, api.Errorf(api.CodeUnavailable, "join: the hub %s does not answer: %v", i.Address, plainly(err))
	}
	if err := json.Unmarshal(reply.Data, &answer); err != nil {
		return answer, fmt.Errorf("join: read answer of the hub: %w", err)
	}
	if answer.Error != nil {
		return answer, answer.Error
	}
	return answer, nil
}

// JoinerName is what whoever has not joined yet is called.
const JoinerName = "new"

// trust is the TLS of somebody who knows the hash of the authority's certificate, which
// the hub sends along with its own.
func (i Invitation) trust() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, ServerName: ServerName, InsecureSkipVerify: true, // VerifyConnection does more
		VerifyConnection: func(s tls.ConnectionState) error {
			for _, cert := range s.PeerCertificates[1:] {
				if sha256.Sum256(cert.Raw) == i.Authority {
					roots := x509.NewCertPool()
					roots.AddCert(cert)
					_, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, DNSName: ServerName})
					return err
				}
			}
			return errors.New("the hub that answered did not issue this invitation")
		},
	}
}
