package fleet_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"tandem/engine/api"
	"tandem/engine/remote/fleet"
	"tandem/engine/remote/hosts/transport"
	"tandem/tests/needs"
	"tandem/tests/wait"
)

// A cluster is three plain NATS servers with their own operator, account and certificate.
type cluster struct {
	*rig
	servers  []*server.Server
	account  nkeys.KeyPair
	operator nkeys.KeyPair
	config   fleet.Config
}

func must[T any](t testing.TB, value T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{rig: &rig{T: t, retry: 100 * time.Millisecond}}
	var err error
	c.operator, err = nkeys.CreateOperator()
	must(t, 0, err)
	c.account, err = nkeys.CreateAccount()
	must(t, 0, err)
	system, err := nkeys.CreateAccount()
	must(t, 0, err)
	accounts := &server.MemAccResolver{}
	systemKey := c.store(accounts, system, false)
	c.store(accounts, c.account, true)
	operator := jwt.NewOperatorClaims(must1(t, c.operator.PublicKey))
	operator.SystemAccount = systemKey
	operator, err = jwt.DecodeOperatorClaims(must1(t, func() (string, error) { return operator.Encode(c.operator) }))
	must(t, 0, err)
	trust := c.certificate()
	var routes []*url.URL
	var ports []int
	for range 3 {
		port := freePort(t)
		ports = append(ports, port)
		routes = append(routes, &url.URL{Scheme: "nats", Host: fmt.Sprintf("127.0.0.1:%d", port)})
	}
	var hubs []string
	for i := range 3 {
		s, err := server.NewServer(&server.Options{
			ServerName: fmt.Sprint("n", i), Host: "127.0.0.1", Port: server.RANDOM_PORT, TLS: true, TLSConfig: trust, NoSigs: true, NoLog: true,
			TrustedOperators: []*jwt.OperatorClaims{operator}, SystemAccount: systemKey, AccountResolver: accounts,
			JetStream: true, StoreDir: t.TempDir(), Cluster: server.ClusterOpts{Name: "theirs", Host: "127.0.0.1", Port: ports[i]}, Routes: routes,
		})
		must(t, 0, err)
		s.Start()
		t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
		c.servers = append(c.servers, s)
	}
	for _, s := range c.servers {
		if !s.ReadyForConnections(wait.Timeout) {
			t.Fatal("a server does not start")
		}
		hubs = append(hubs, "tls://"+s.Addr().String())
	}
	wait.Poll(c, "a leader of the cluster", func() (leader int, done bool) { // it answers requests to create a bucket
		leader = slices.IndexFunc(c.servers, (*server.Server).JetStreamIsLeader)
		return leader, leader >= 0
	})
	c.config.Hub = strings.Join(hubs, ",")
	return c
}

func must1[T any](t testing.TB, get func() (T, error)) T {
	t.Helper()
	value, err := get()
	return must(t, value, err)
}

func freePort(t *testing.T) int {
	t.Helper()
	l := must1(t, func() (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") })
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// store adds an account to the resolver.
func (c *cluster) store(to *server.MemAccResolver, account nkeys.KeyPair, streams bool) (key string) {
	c.Helper()
	key = must1(c, account.PublicKey)
	claims := jwt.NewAccountClaims(key)
	if streams {
		claims.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: jwt.NoLimit, DiskStorage: jwt.NoLimit, Streams: jwt.NoLimit, Consumer: jwt.NoLimit}
	}
	must(c, 0, to.Store(key, must1(c, func() (string, error) { return claims.Encode(c.operator) })))
	return key
}

// certificate creates a self-signed certificate for loopback and trusts it in c.config.
func (c *cluster) certificate() *tls.Config {
	c.Helper()
	key := must1(c, func() (*ecdsa.PrivateKey, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) })
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "somebody's"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	raw := must1(c, func() ([]byte, error) {
		return x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	})
	c.config.Authority = filepath.Join(c.TempDir(), "authority.pem")
	must(c, 0, os.WriteFile(c.config.Authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), 0o600))
	return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}}}
}

// user creates a user with the permissions of the nsc command in the documentation.
func (c *cluster) user(name string) fleet.Credentials {
	c.Helper()
	text := must1(c, func() ([]byte, error) { return os.ReadFile("../../../docs/fleet-nats.md") })
	line := regexp.MustCompile(`nsc add user --name ` + name + ` (?:.*\\\n)+.*`).FindString(string(text))
	key := must1(c, nkeys.CreateUser)
	claims := jwt.NewUserClaims(must1(c, key.PublicKey))
	claims.Name = name
	for _, m := range regexp.MustCompile(`--(tag|allow-pub|allow-sub) '?([^' ]+(?: any)?)'?`).FindAllStringSubmatch(line, -1) {
		switch values := strings.Split(m[2], ","); m[1] {
		case "tag":
			claims.Tags.Add(values...)
		case "allow-pub":
			claims.Pub.Allow.Add(values...)
		case "allow-sub":
			claims.Sub.Allow.Add(values...)
		}
	}
	creds := must1(c, func() ([]byte, error) {
		return jwt.FormatUserConfig(must1(c, func() (string, error) { return claims.Encode(c.account) }), must1(c, key.Seed))
	})
	return must1(c, func() (fleet.Credentials, error) { return fleet.ParseCredentials(creds) })
}

// createBuckets creates the buckets as described in the documentation, and returns the server
// leading the stream of processes.
func (c *cluster) createBuckets() (leader *server.Server) {
	c.Helper()
	key := must1(c, nkeys.CreateUser)
	claims := jwt.NewUserClaims(must1(c, key.PublicKey))
	token := must1(c, func() (string, error) { return claims.Encode(c.account) })
	nc := must1(c, func() (*nats.Conn, error) {
		return nats.Connect(c.config.Hub, nats.UserJWTAndSeed(token, string(must1(c, key.Seed))), nats.RootCAs(c.config.Authority))
	})
	defer nc.Close()
	js := must1(c, func() (jetstream.JetStream, error) { return jetstream.New(nc) })
	for _, bucket := range []string{fleet.HostsBucket, fleet.ProcessesBucket} {
		wait.Poll(c, "a bucket in three places", func() (error, bool) {
			ctx, cancel := context.WithTimeout(c.Context(), 20*time.Second)
			defer cancel()
			_, err := js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: bucket, History: 1, Replicas: 3})
			return err, err == nil
		})
	}
	return wait.Poll(c, "a leader", func() (leader *server.Server, done bool) {
		stream, err := js.Stream(c.Context(), "KV_"+fleet.ProcessesBucket)
		for _, s := range c.servers {
			if err == nil && s.Name() == stream.CachedInfo().Cluster.Leader {
				leader = s
			}
		}
		return leader, leader != nil
	})
}

// The loss of one of three servers costs only its connections: rows written while the others elect
// a leader are sent again.
func TestNATSClusterServesAsHub(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	c := newCluster(t)
	leader := c.createBuckets()
	web, ann := c.user("web-1"), c.user("ann")
	if ann.Role != api.RoleOperate || !slices.Equal(web.Labels, []string{"role=web"}) {
		t.Fatalf("the documentation makes %+v and %+v", ann.User, web.User)
	}
	elsewhere := c.config
	for _, s := range c.servers {
		if s != leader {
			elsewhere.Hub = "tls://" + s.Addr().String() // so the machine keeps its connection
		}
	}
	box, person := c.run(elsewhere, web), c.connect(c.config, ann)
	starts := func(id string) {
		box.events <- api.Event{Type: api.EventProcess, Process: &api.Process{ID: id, Name: id, State: api.StateRunning}}
	}
	shows := func(when, prefix string, count int) {
		t.Helper()
		wait.Poll(c, fmt.Sprintf("%d processes %s %s", count, prefix, when), func() (int, bool) {
			all, err := person.List(t.Context(), api.FleetListInput{Rows: true})
			if err != nil || len(all) != 1 {
				return 0, false
			}
			shown := 0
			for _, p := range all[0].Rows {
				if strings.HasPrefix(p.Name, prefix) {
					shown++
				}
			}
			return shown, shown == count && all[0].State == api.FleetConnected
		})
	}
	works := func(when, id string) {
		t.Helper()
		starts(id)
		shows(when, id, 1)
		wait.Poll(c, "a connection "+when, func() (error, bool) {
			conn, _, err := person.Open(t.Context(), "web-1", transport.Preface{})
			if err == nil {
				conn.Close()
			}
			return err, err == nil
		})
		wait.Poll(c, "any with a label "+when, func() (transport.Hello, bool) {
			conn, hello, err := person.OpenAny(t.Context(), "role=web", transport.Preface{})
			if err == nil {
				conn.Close()
			}
			return hello, err == nil && hello.Machine == "web-1"
		})
	}
	works("at first", "first")
	pace := time.NewTicker(5 * time.Millisecond)
	defer pace.Stop()
	var ended sync.WaitGroup
	ended.Go(func() {
		leader.Shutdown()
		leader.WaitForShutdown()
	})
	const meanwhile = 400
	for n := range meanwhile {
		starts(fmt.Sprint("meanwhile-", n))
		<-pace.C
	}
	ended.Wait()
	shows("without one of three", "meanwhile", meanwhile)
	works("without one of three", "second")
}
