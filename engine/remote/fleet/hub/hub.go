package hub

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"tandem/engine/api"
	"tandem/engine/remote/fleet"
)

// DefaultListen is the default address of a hub.
const DefaultListen = ":4222"

// A Hub is a running hub.
type Hub struct {
	o         Options
	lock      *flock.Flock
	authority authority
	account   nkeys.KeyPair
	operator  nkeys.KeyPair
	server    Server
	nats      *nats.Conn
	cancel    context.CancelFunc // stops the background goroutines
	running   sync.WaitGroup

	certMu sync.Mutex
	cert   *tls.Certificate

	mu       sync.Mutex // held while hub.json is written
	state    hubState   // as saved
	renewDue bool       // the server does not know the last revocations
}

// Open starts the hub of a folder. The first start creates everything.
func Open(o Options) (h *Hub, err error) {
	if o.Start == nil {
		return nil, api.Errorf(api.CodeNotSupported, "start hub: this tandem was built without the server").
			WithHint("released packages have it; from source, `go run -tags hub . hub`")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	keys := filepath.Join(o.Folder, "keys")
	if err := os.MkdirAll(keys, 0o700); err != nil {
		return nil, fmt.Errorf("make the hub's folder: %w", err)
	}
	h = &Hub{o: o, lock: flock.New(filepath.Join(o.Folder, "lock"))}
	// Two hubs in one folder would overwrite each other's members.
	if free, err := h.lock.TryLock(); err != nil || !free {
		return nil, api.Errorf(api.CodeConflict, "start hub: one is already running in %s", o.Folder)
	}
	defer func() {
		if err != nil {
			h.Close()
		}
	}()
	if err = h.loadState(); err != nil {
		return nil, err
	}
	if h.authority, err = openAuthority(keys, o.Now()); err != nil {
		return nil, err
	}
	if h.account, err = openKey(filepath.Join(keys, "account.nk"), nkeys.PrefixByteAccount); err != nil {
		return nil, err
	}
	if h.operator, err = openKey(filepath.Join(keys, "operator.nk"), nkeys.PrefixByteOperator); err != nil {
		return nil, err
	}
	return h, h.start(keys)
}

// start starts the server and answers requests to the hub.
func (h *Hub) start(keys string) error {
	c, err := h.serverConfig(keys)
	if err != nil {
		return err
	}
	if h.server, err = h.o.Start(c); err != nil {
		return fmt.Errorf("start hub: %w", err)
	}
	h.state.Listen = c.Listen
	if _, port, err := net.SplitHostPort(c.Listen); err == nil && port == "0" {
		h.state.Listen = h.server.Addr().String()
	}
	h.state.Address = cmp.Or(h.o.Address, h.state.Address, reachableAddress(h.state.Listen))
	if h.nats, err = h.server.Connect(h.userOption(fleet.User{Kind: fleet.KindHub, Name: "hub"})); err != nil {
		return fmt.Errorf("start hub: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	h.cancel = cancel
	if err := h.createBuckets(ctx); err != nil {
		return fmt.Errorf("start hub: make the buckets: %w", err)
	}
	if err := h.guardConsumers(ctx); err != nil {
		return fmt.Errorf("start hub: %w", err)
	}
	for subject, answer := range map[string]func(*nats.Msg) any{
		fleet.JoinSubject:                h.serveJoin,
		fleet.HubSubject("*", "invite"):  h.serveInvite,
		fleet.HubSubject("*", "members"): func(*nats.Msg) any { return Answer{Members: h.listMembers()} },
		fleet.HubSubject("*", "status"):  func(*nats.Msg) any { s := h.Status(); return Answer{Status: &s} },
		fleet.HubSubject("*", "revoke"):  h.serveRevoke,
	} {
		if err := h.serveSubject(subject, answer); err != nil {
			return fmt.Errorf("start hub: %w", err)
		}
	}
	// Until the server has the subscriptions, requests fail with "no responders".
	if err := h.nats.FlushTimeout(startTimeout); err != nil {
		return fmt.Errorf("start hub: %w", err)
	}
	if err := h.writeOwner(); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	// Save the state only now, so that a hub that fails to start keeps its previous address.
	return h.saveState(h.state)
}

// serverConfig returns the configuration of the server.
func (h *Hub) serverConfig(keys string) (c Config, err error) {
	system, err := openKey(filepath.Join(keys, "system.nk"), nkeys.PrefixByteAccount)
	if err != nil {
		return c, err
	}
	if c.System.Key, err = system.PublicKey(); err != nil {
		return c, err
	}
	claims := jwt.NewAccountClaims(c.System.Key)
	claims.Name = "system"
	if c.System.JWT, err = claims.Encode(h.operator); err != nil {
		return c, err
	}
	operator, err := h.operator.PublicKey()
	if err != nil {
		return c, err
	}
	op := jwt.NewOperatorClaims(operator)
	op.Name, op.SystemAccount = "tandem", c.System.Key
	if c.Operator, err = op.Encode(h.operator); err != nil {
		return c, err
	}
	if c.Fleet.Key, err = h.account.PublicKey(); err != nil {
		return c, err
	}
	if c.Fleet.JWT, err = h.accountJWT(); err != nil {
		return c, err
	}
	if c.Joiner, err = h.joinerJWT(); err != nil {
		return c, err
	}
	c.Listen = cmp.Or(h.o.Listen, h.state.Listen, DefaultListen)
	c.Store = filepath.Join(h.o.Folder, "store")
	c.TLS = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: h.currentCertificate}
	return c, nil
}

// currentCertificate returns the hub's certificate, and renews it before it expires.
func (h *Hub) currentCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	h.certMu.Lock()
	defer h.certMu.Unlock()
	if now := h.o.Now(); h.cert == nil || now.Add(renewBefore).After(h.cert.Leaf.NotAfter) {
		cert, err := h.authority.newCertificate(now)
		if err != nil {
			return nil, err
		}
		h.cert = cert
	}
	return h.cert, nil
}

// accountJWT returns the JWT of the fleet's account, with its limits and the revoked keys.
func (h *Hub) accountJWT() (string, error) {
	key, err := h.account.PublicKey()
	if err != nil {
		return "", err
	}
	claims := jwt.NewAccountClaims(key)
	claims.Name = "fleet"
	claims.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: jwt.NoLimit, DiskStorage: jwt.NoLimit, Streams: jwt.NoLimit, Consumer: maxConsumers}
	for public, at := range h.state.Revoked {
		claims.RevokeAt(public, at)
	}
	return claims.Encode(h.operator)
}

// joinerJWT returns the JWT for redeeming invitations. It works without a private key and permits
// nothing else.
func (h *Hub) joinerJWT() (string, error) {
	key, err := nkeys.CreateUser()
	if err != nil {
		return "", err
	}
	public, err := key.PublicKey()
	if err != nil {
		return "", err
	}
	return fleet.IssueJoiner(h.account, public)
}

// userOption returns an option to connect as an internal user, with a new key kept only in memory.
func (h *Hub) userOption(u fleet.User) nats.Option {
	key, err := nkeys.CreateUser()
	var public, token string
	if err == nil {
		public, err = key.PublicKey()
	}
	if err == nil {
		token, err = fleet.Issue(h.account, u, public)
	}
	return nats.UserJWT(func() (string, error) { return token, err }, func(nonce []byte) ([]byte, error) { return key.Sign(nonce) })
}

// Close stops the hub.
func (h *Hub) Close() {
	if h.cancel != nil {
		h.cancel()
		h.running.Wait()
	}
	if h.nats != nil {
		h.nats.Close()
	}
	if h.server != nil {
		h.server.Close()
	}
	_ = h.lock.Unlock() // released with the process at the latest
}

// reachableAddress returns the address for others of a hub that may listen on all interfaces.
func reachableAddress(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil || host != "" && !net.ParseIP(host).IsUnspecified() {
		return listen
	}
	if host, err = os.Hostname(); err != nil {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}

// Status returns the state of the hub.
func (h *Hub) Status() Status {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dropExpired()
	s := Status{Address: h.state.Address, Invitations: len(h.state.Invitations), Load: h.server.Load()}
	for _, m := range h.state.Members {
		if m.Kind == fleet.KindMachine {
			s.Machines++
		} else {
			s.People++
		}
	}
	return s
}

func (h *Hub) listMembers() []Member {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.state.Members)
}

// dropExpired deletes invitations that expired more than a day ago; later ones are kept to explain
// the rejection. h.mu is held.
func (h *Hub) dropExpired() {
	for id, i := range h.state.Invitations {
		if h.o.Now().After(i.Expires.Add(24 * time.Hour)) {
			delete(h.state.Invitations, id)
		}
	}
}

// Invite creates an invitation and returns its token.
func (h *Hub) Invite(r InviteRequest, by string) (string, error) {
	if err := r.validate(); err != nil {
		return "", err
	}
	i := fleet.Invitation{Kind: r.Kind, Authority: h.authority.certHash()}
	_, _ = rand.Read(i.ID[:]) // never fails
	_, _ = rand.Read(i.Secret[:])
	sum := sha256.Sum256(i.Secret[:])
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.Kind == fleet.KindMachine && h.state.hasMachine(r.Name) {
		return "", errMachineExists("invite", r.Name)
	}
	h.dropExpired()
	i.Address = h.state.Address
	next := h.state.clone()
	next.Invitations[hex.EncodeToString(i.ID[:])] = invitation{
		Secret: sum[:], Expires: h.o.Now().Add(cmp.Or(r.Life, defaultLife)),
		Member: Member{Name: r.Name, Kind: r.Kind, Role: r.Role, Labels: r.Labels, Invited: by},
	}
	return i.Token(), h.saveState(next)
}

// Join certifies a key for the invited user. The invitation is used up if that succeeds.
func (h *Hub) Join(r fleet.JoinRequest) (fleet.JoinAnswer, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	id, sum := hex.EncodeToString(r.ID), sha256.Sum256(r.Secret)
	i, ok := h.state.Invitations[id]
	switch {
	case !ok || subtle.ConstantTimeCompare(i.Secret, sum[:]) != 1:
		return fleet.JoinAnswer{}, api.Errorf(api.CodeForbidden, "join: unknown invitation, or already used").WithHint(hintInvite)
	case h.o.Now().After(i.Expires):
		return fleet.JoinAnswer{}, api.Errorf(api.CodeForbidden, "join: the invitation expired %v ago, by the hub's clock", h.o.Now().Sub(i.Expires).Round(time.Second)).WithHint(hintInvite)
	}
	m := i.Member
	if m.Kind == fleet.KindMachine && h.state.hasMachine(m.Name) {
		return fleet.JoinAnswer{}, errMachineExists("join as", m.Name)
	}
	token, err := fleet.Issue(h.account, fleet.User{Kind: m.Kind, Name: m.Name, Role: m.Role, Labels: m.Labels}, r.Key)
	if err != nil {
		return fleet.JoinAnswer{}, api.Errorf(api.CodeInvalid, "join: %v", err)
	}
	// One write uses up the invitation and adds the member, so a crash cannot leave it usable.
	m.Key, m.Joined = r.Key, h.o.Now()
	next := h.state.clone()
	delete(next.Invitations, id)
	next.Members = append(next.Members, m)
	if err := h.saveState(next); err != nil {
		return fleet.JoinAnswer{}, err
	}
	return fleet.JoinAnswer{JWT: token, Authority: h.authority.pem}, nil
}

func errMachineExists(doing, name string) error {
	return api.Errorf(api.CodeConflict, "%s machine %s: a machine with this name exists", doing, name).
		WithHint("`tandem hub revoke " + name + "` takes it out")
}

const hintInvite = "`tandem hub invite` on the hub makes another one"

// Revoke removes a machine or person: all keys of this name are disconnected and rejected from then
// on. After an error it can be called again.
func (h *Hub) Revoke(name string) (count int, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	next := h.state.clone()
	next.Members = slices.DeleteFunc(next.Members, func(m Member) bool { return m.Name == name })
	maps.DeleteFunc(next.Invitations, func(_ string, i invitation) bool { return i.Member.Name == name })
	count = len(h.state.Members) - len(next.Members) + len(h.state.Invitations) - len(next.Invitations)
	if count == 0 && !h.renewDue {
		return 0, api.Errorf(api.CodeNotFound, "revoke %s: nobody with this name was invited or has joined", name)
	}
	machine := h.state.hasMachine(name)
	for _, m := range h.state.Members {
		if m.Name == name { // Allow for clocks that are up to a minute ahead.
			next.Revoked[m.Key] = h.o.Now().Add(time.Minute)
		}
	}
	if err := h.saveState(next); err != nil {
		return 0, err
	}
	h.renewDue = true
	if machine {
		h.deleteHostRow(name)
	}
	account, err := h.accountJWT()
	if err == nil {
		err = h.server.Renew(account)
	}
	h.renewDue = err != nil
	return count, err
}

// deleteHostRow deletes a machine from the bucket of hosts.
func (h *Hub) deleteHostRow(name string) {
	m := nats.NewMsg("$KV." + fleet.HostsBucket + "." + name)
	m.Header.Set("KV-Operation", "DEL")
	_ = h.nats.PublishMsg(m) // otherwise the row expires
}
