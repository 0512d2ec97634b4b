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

// An Invitation is the content of a token for `tandem join`.
type Invitation struct {
	Kind      Kind
	ID        [8]byte
	Secret    [16]byte
	Authority [sha256.Size]byte // hash of the hub's CA certificate
	Address   string            // host:port
}

// tokenVersion is the first byte of a token.
const tokenVersion = 1

// Token encodes the invitation as one word.
func (i Invitation) Token() string {
	var b bytes.Buffer
	b.WriteByte(tokenVersion)
	b.WriteByte(string(i.Kind)[0])
	b.Write(i.ID[:])
	b.Write(i.Secret[:])
	b.Write(i.Authority[:])
	b.WriteString(i.Address)
	sum := sha256.Sum256(b.Bytes())
	b.Write(sum[:2]) // distinguishes a truncated or mistyped token from a wrong one
	return base64.RawURLEncoding.EncodeToString(b.Bytes())
}

// ParseToken decodes a token.
func ParseToken(token string) (i Invitation, err error) {
	data, err := base64.RawURLEncoding.DecodeString(token)
	const least = 2 + len(i.ID) + len(i.Secret) + len(i.Authority) + 2
	if err != nil || len(data) <= least {
		return i, errors.New("the invitation is incomplete")
	}
	body, sum := data[:len(data)-2], sha256.Sum256(data[:len(data)-2])
	switch {
	case !bytes.Equal(sum[:2], data[len(data)-2:]):
		return i, errors.New("the invitation is incomplete")
	case body[0] != tokenVersion:
		return i, errors.New("the invitation is from another version of tandem")
	}
	switch body[1] {
	case KindMachine[0]:
		i.Kind = KindMachine
	case KindPerson[0]:
		i.Kind = KindPerson
	default:
		return i, errors.New("the invitation is from another version of tandem")
	}
	body = body[2:]
	body = body[copy(i.ID[:], body):]
	body = body[copy(i.Secret[:], body):]
	body = body[copy(i.Authority[:], body):]
	i.Address = string(body)
	return i, nil
}

// A JoinRequest redeems an invitation. The private key is not sent.
type JoinRequest struct {
	ID     []byte `json:"id"`
	Secret []byte `json:"secret"`
	Key    string `json:"key"`
}

// A JoinAnswer is the hub's answer to a JoinRequest.
type JoinAnswer struct {
	JWT       string     `json:"jwt,omitempty"`
	Authority []byte     `json:"authority,omitempty"` // certificate, in PEM
	Error     *api.Error `json:"error,omitempty"`
}

// A Membership is the result of joining a fleet.
type Membership struct {
	User
	Hub         string // tls://host:port
	Credentials []byte // a .creds file
	Authority   []byte // certificate, in PEM
}

// joinTimeout limits each step of joining.
const joinTimeout = 10 * time.Second

// Join creates a key and asks the hub to certify it for the invited user.
func Join(i Invitation) (Membership, error) {
	key, err := nkeys.CreateUser()
	if err != nil {
		return Membership{}, err
	}
	defer key.Wipe()
	public, err := key.PublicKey()
	if err != nil {
		return Membership{}, err
	}
	answer, err := i.sendRequest(JoinRequest{ID: i.ID[:], Secret: i.Secret[:], Key: public})
	if err != nil {
		return Membership{}, err
	}
	user, _, err := readUser(answer.JWT)
	if err != nil {
		return Membership{}, err
	}
	seed, err := key.Seed()
	if err != nil {
		return Membership{}, err
	}
	creds, err := jwt.FormatUserConfig(answer.JWT, seed)
	return Membership{User: user, Hub: "tls://" + i.Address, Credentials: creds, Authority: answer.Authority}, err
}

// sendRequest sends a request to the hub. The hub is authenticated by the hash of its CA
// certificate in the invitation.
func (i Invitation) sendRequest(r JoinRequest) (answer JoinAnswer, err error) {
	nc, err := nats.Connect("tls://"+i.Address, nats.Name("join"), nats.Timeout(joinTimeout), nats.MaxReconnects(0), nats.Secure(i.tlsConfig()),
		nats.CustomInboxPrefix(Inbox(KindJoiner, JoinerName)))
	if err != nil {
		return answer, api.Errorf(api.CodeUnavailable, "reach hub %s: %v", i.Address, explainError(err))
	}
	defer nc.Close()
	text, err := json.Marshal(r)
	if err != nil {
		return answer, err
	}
	reply, err := nc.Request(JoinSubject, text, joinTimeout)
	if err != nil {
		return answer, api.Errorf(api.CodeUnavailable, "join: the hub %s does not answer: %v", i.Address, explainError(err))
	}
	if err := json.Unmarshal(reply.Data, &answer); err != nil {
		return answer, fmt.Errorf("join: read answer of the hub: %w", err)
	}
	if answer.Error != nil {
		return answer, answer.Error
	}
	return answer, nil
}

// JoinerName is the name of all users redeeming an invitation.
const JoinerName = "new"

// tlsConfig accepts a hub by the hash of its CA certificate, sent by the hub along with its own.
func (i Invitation) tlsConfig() *tls.Config {
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
