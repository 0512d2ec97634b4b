package fleet

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"tandem/engine/api"
	"tandem/engine/remote/hosts/transport"
)

// An openRequest asks a machine for a pipe. It is signed, so that machines need not trust the hub's
// permissions.
type openRequest struct {
	ID   string          `json:"id"`
	JWT  string          `json:"jwt"`
	Who  json.RawMessage `json:"who"` // a transport.Preface
	Sign []byte          `json:"sign"`
}

// newID returns a random id. It must be unguessable, as it is part of a pipe's subjects.
func newID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}

// textToSign returns the signed text. It includes the machine, so that a request cannot be replayed
// to another.
func (r openRequest) textToSign(to string) []byte {
	return []byte(strings.Join([]string{"tandem open 1", to, r.ID, string(r.Who)}, "\n"))
}

// signRequest returns a person's signed request for a pipe to a machine, or to any with a label.
func (c Credentials) signRequest(to, id string, p transport.Preface) ([]byte, error) {
	who, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	if len(who) > transport.MaxPreface {
		return nil, api.Errorf(api.CodeForbidden, "reach machine %s: the agent's sandbox and folders take more than %d KB to describe", to, transport.MaxPreface>>10)
	}
	r := openRequest{ID: id, JWT: c.JWT, Who: who}
	if r.Sign, err = c.key.Sign(r.textToSign(to)); err != nil {
		return nil, fmt.Errorf("sign request: %w", err)
	}
	return json.Marshal(r)
}

// A Visitor is the sender of a request to a machine.
type Visitor struct {
	Person string
	Role   Role
	transport.Preface
}

// verifyRequest parses a request and returns its sender. It must be signed by a person of this
// machine's account.
func (c Credentials) verifyRequest(data []byte, to, person string) (openRequest, Visitor, error) {
	var r openRequest
	if err := json.Unmarshal(data, &r); err != nil {
		return r, Visitor{}, errors.New("it cannot be read")
	}
	user, claims, err := readUser(r.JWT)
	if err != nil {
		return r, Visitor{}, err
	}
	valid := jwt.CreateValidationResults()
	claims.Validate(valid)
	switch {
	case claims.Issuer != c.issuer:
		return r, Visitor{}, errors.New("it comes from another fleet")
	case valid.IsBlocking(true):
		return r, Visitor{}, errors.New("its key has expired, or is not valid yet; compare the clocks of the machines")
	// The hub enforces the person in the subject; the JWT must name the same one.
	case user.Kind != KindPerson || user.Name != person || !ValidRole(user.Role):
		return r, Visitor{}, errors.New("its sender has no role in this fleet")
	case len(r.ID) != 32 || strings.ContainsAny(r.ID, ".*> \t\r\n"):
		return r, Visitor{}, errors.New("its id is invalid")
	}
	key, err := nkeys.FromPublicKey(claims.Subject)
	if err == nil {
		err = key.Verify(r.textToSign(to), r.Sign)
	}
	if err != nil {
		return r, Visitor{}, errors.New("its signature is wrong")
	}
	v := Visitor{Person: user.Name, Role: user.Role}
	if err := json.Unmarshal(r.Who, &v.Preface); err != nil {
		return r, Visitor{}, errors.New("it does not name its sender")
	}
	return r, v, nil
}
