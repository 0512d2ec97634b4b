package page

import (
	"context"
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
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"tandem/engine/api"
	"tandem/persist/datadir"
)

// ownHost is where the page is served when nobody says where: on the loopback interface.
const ownHost = "127.0.0.1"

// Where says where to listen.
type Where struct {
	Address  string   // host:port; "": this machine only, at the port of the last time or any
	Hosts    []string // names that this server goes by, beside the address
	CertFile string   // PEM; with KeyFile
	KeyFile  string
	DataDir  string // where a certificate of its own is kept
}

// A Place is a listener, and how the page is reached there.
type Place struct {
	net.Listener
	Origin      Origin
	URL         string // without a fragment
	Fingerprint string // SHA-256 of a certificate of its own, in hex; "" otherwise
	Moved       string // the previous port, if another program uses it now; "" otherwise
}

// Listen opens the address: in the clear on the loopback interface, over TLS elsewhere, with
// the certificate that was given or one of its own.
func Listen(ctx context.Context, w Where) (p Place, err error) {
	moved := ""
	if w.Address == "" {
		port := ""
		port, moved = freePort(ctx, w.DataDir)
		w.Address = net.JoinHostPort(ownHost, port)
	}
	host, port, err := net.SplitHostPort(w.Address)
	if err != nil {
		return p, api.Errorf(api.CodeInvalid, "listen on %q: not a host:port", w.Address).WithHint("for example 127.0.0.1:8800, or 0.0.0.0:8800 for the network")
	}
	if host == "" {
		host = ownHost // the network is not let in by leaving something out
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return p, api.Errorf(api.CodeUnavailable, "listen on %s: %v", w.Address, errors.Unwrap(err))
	}
	bound, _ := l.Addr().(*net.TCPAddr)
	p = Place{Listener: l, Origin: Origin{Port: bound.Port, Hosts: w.Hosts}, Moved: moved}
	if !bound.IP.IsLoopback() || w.CertFile != "" {
		if err := p.secure(w, bound.IP); err != nil {
			l.Close()
			return Place{}, err
		}
	}
	shown := host
	if bound.IP.IsLoopback() && !p.Origin.Secure {
		p.Origin.Loopback = bound.IP.String()
		shown = p.Origin.Loopback
	}
	switch {
	case len(w.Hosts) > 0:
		shown = w.Hosts[0]
	case bound.IP.IsUnspecified():
		own := addresses(bound.IP)
		p.Origin.Hosts = append(p.Origin.Hosts, own...)
		if len(own) > 0 {
			shown = own[0]
		}
	}
	p.Origin.Hosts = append(p.Origin.Hosts, host)
	p.URL = p.Origin.scheme() + "://" + net.JoinHostPort(shown, strconv.Itoa(bound.Port)) + "/"
	return p, nil
}

// freePort returns the previous port if it is free, because the keys of browsers are bound to it.
// Otherwise it returns "0", for any port. taken is the previous port if another program uses it.
func freePort(ctx context.Context, dataDir string) (port, taken string) {
	last, err := lastServed(dataDir)
	if err != nil {
		return "0", ""
	}
	at, err := url.Parse(last.URL)
	if err != nil || at.Port() == "" {
		return "0", ""
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(ownHost, at.Port()))
	if err != nil {
		return "0", at.Port()
	}
	l.Close()
	return at.Port(), ""
}

// secure puts TLS around the listener.
func (p *Place) secure(w Where, ip net.IP) error {
	certFile, keyFile := w.CertFile, w.KeyFile
	if certFile == "" {
		names := slices.Concat(w.Hosts, addresses(ip))
		var err error
		if certFile, keyFile, err = ownCertificate(w.DataDir, names); err != nil {
			return fmt.Errorf("make a certificate: %w", err)
		}
	}
	cert, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return api.Errorf(api.CodeInvalid, "read the certificate: %v", err)
	}
	if w.CertFile == "" {
		sum := sha256.Sum256(cert.Certificate[0])
		p.Fingerprint = strings.ToUpper(fmt.Sprintf("%x", sum))
	}
	p.Origin.Secure = true
	p.Listener = tls.NewListener(p.Listener, &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}})
	return nil
}

// addresses are those under which others reach what listens on ip, with this machine's name.
func addresses(ip net.IP) (all []string) {
	if !ip.IsUnspecified() {
		return []string{ip.String()}
	}
	found, _ := net.InterfaceAddrs() // without them the name is left
	for _, a := range found {
		n, ok := a.(*net.IPNet)
		if ok && !n.IP.IsLoopback() && !n.IP.IsLinkLocalUnicast() {
			all = append(all, n.IP.String())
		}
	}
	if name, err := os.Hostname(); err == nil {
		all = append(all, name)
	}
	return all
}

// certLife is how long a certificate of our own is good: Apple's systems take no longer one.
const certLife = 825 * 24 * time.Hour

// ownCertificate gives the files of a certificate for names, which is made when there is none
// that covers them or it is about to expire.
func ownCertificate(dataDir string, names []string) (certFile, keyFile string, err error) {
	dir := filepath.Join(dataDir, datadir.Page)
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	text, err := os.ReadFile(certFile)
	if err == nil && covers(text, names) {
		return certFile, keyFile, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", "", err
	}
	certText, keyText, err := newCertificate(names, time.Now())
	if err != nil {
		return "", "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", "", err
	}
	if err := renameio.WriteFile(keyFile, keyText, 0o600); err != nil {
		return "", "", err
	}
	return certFile, keyFile, renameio.WriteFile(certFile, certText, 0o600)
}

func covers(text []byte, names []string) bool {
	block, _ := pem.Decode(text)
	if block == nil {
		return false
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil || time.Until(cert.NotAfter) < 30*24*time.Hour {
		return false
	}
	return !slices.ContainsFunc(names, func(name string) bool { return cert.VerifyHostname(name) != nil })
}

func newCertificate(names []string, now time.Time) (certText, keyText []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, nil, err
	}
	cert := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "tandem"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certLife),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			cert.IPAddresses = append(cert.IPAddresses, ip)
		} else {
			cert.DNSNames = append(cert.DNSNames, name)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	if err != nil {
		return nil, nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), nil
}
