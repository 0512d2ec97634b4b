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
	"tandem/engine/hosts/transport"
)

// An openRequest asks a machine for a pipe. It is signed: whom a machine serves does not
// depend on what the hub lets through.
type openRequest struct {
	ID   string          `json:"id"`
	JWT  string          `json:"jwt"`
	Who  json.RawMessage `json:"who"` // a transport.Preface
	Sign []byte          `json:"sign"`
}

// newID makes an id that nobody can guess: it is a part of the pipe's subjects.
func newID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // it never fails
	return hex.EncodeToString(id[:])
}

// signed is what is signed. A request to one machine says nothing to another.
func (r openRequest) signed(to string) []byte {
	return []byte(strings.Join([]string{"tandem open 1", to, r.ID, string(r.Who)}, "\n"))
}

// request makes the request of a person for a pipe to a machine, or to any with a label.
func (c Credentials) request(to, id string, p transport.Preface) ([]byte, error) {
	who, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	if len(who) > transport.MaxPreface {
		return nil, api.Errorf(api.CodeForbidden, "reach machine %s: the agent's sandbox and folders take more than %d KB to describe", to, transport.MaxPreface>>10)
	}
	r := openRequest{ID: id, JWT: c.JWT, Who: who}
	if r.Sign, err = c.key.Sign(r.signed(to)); err != nil {
		return nil, fmt.Errorf("sign request: %w", err)
	}
	return json.Marshal(r)
}

// A Visitor is who asks a machine for something.
type Visitor struct {
	Person string
	Role   Role
	transport.Preface
}

// check reads a request and tells who it is from. Whoever has signed it must be a
// person of this machine's account.
func (c Credentials) check(data []byte, to, person string) (openRequest, Visitor, error) {
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
	case user.Kind != KindPerson || user.Name != person || !Known(user.Role):
		return r, Visitor{}, errors.New("its sender has no role in this fleet")
	case len(r.ID) != 32 || strings.ContainsAny(r.ID, ".*> \t\r\n"):
		return r, Visitor{}, errors.New("its id is invalid")
	}
	key, err := nkeys.FromPublicKey(claims.Subject)
	if err == nil {
		err = key.Verify(r.signed(to), r.Sign)
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
