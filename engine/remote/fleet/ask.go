package fleet

import (
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// askTimeout limits how long the hub may take to answer.
const askTimeout = 5 * time.Second

// Ask sends a request over a new connection and returns the reply.
func Ask(c Config, creds Credentials, subject string, question []byte) ([]byte, error) {
	trust, err := readAuthority(c.Authority)
	if err != nil {
		return nil, err
	}
	seed, err := creds.key.Seed()
	if err != nil {
		return nil, err
	}
	nc, err := nats.Connect(c.Hub, nats.Name("verb"), nats.UserJWTAndSeed(creds.JWT, string(seed)), nats.Secure(trust), nats.Timeout(askTimeout),
		nats.MaxReconnects(0), nats.CustomInboxPrefix(Inbox(creds.Kind, creds.Name)))
	if err != nil {
		return nil, explainError(err)
	}
	defer nc.Close()
	reply, err := nc.Request(subject, question, askTimeout)
	if err != nil {
		return nil, fmt.Errorf("no answer: %w", explainError(err))
	}
	return reply.Data, nil
}
