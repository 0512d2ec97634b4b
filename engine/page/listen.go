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
	"tandem/persist/regular"
)

// ownHost is the default address, on the loopback interface.
const ownHost = "127.0.0.1"

// Where configures where to listen.
type Where struct {
	Address  string   // host:port; "" means this machine only, on the previous port or any
	Hosts    []string // names of this server, in addition to the address
	CertFile string   // PEM; requires KeyFile
	KeyFile  string
	DataDir  string // where to store a self-signed certificate
}

// A Place is a listener with its address for browsers.
type Place struct {
	net.Listener
	Origin      Origin
	URL         string // without a fragment
	Fingerprint string // SHA-256 of a self-signed certificate, in hex; "" otherwise
	Moved       string // the previous port, if another program uses it now; "" otherwise
}

// Listen listens at the address: without TLS on the loopback interface, with TLS elsewhere, using
// the given certificate or a self-signed one.
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
		host = ownHost // an omitted host must not open the page to the network
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return p, api.Errorf(api.CodeUnavailable, "listen on %s: %v", w.Address, errors.Unwrap(err))
	}
	bound, _ := l.Addr().(*net.TCPAddr)
	p = Place{Listener: l, Origin: Origin{Port: bound.Port, Hosts: w.Hosts}, Moved: moved}
	if !bound.IP.IsLoopback() || w.CertFile != "" {
		if err := p.addTLS(w, bound.IP); err != nil {
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
		own := ownAddresses(bound.IP)
		p.Origin.Hosts = append(p.Origin.Hosts, own...)
		if len(own) > 0 {
			shown = own[0]
		}
	}
	p.Origin.Hosts = append(p.Origin.Hosts, host)
	p.URL = p.Origin.scheme() + "://" + net.JoinHostPort(shown, strconv.Itoa(bound.Port)) + "/"
	return p, nil
}

// freePort returns the previous port if it is free, because browsers' keys are bound to it, and
// otherwise "0" for any. taken is the previous port if another program uses it.
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

// addTLS adds TLS to the listener.
func (p *Place) addTLS(w Where, ip net.IP) error {
	certFile, keyFile := w.CertFile, w.KeyFile
	if certFile == "" {
		names := slices.Concat(w.Hosts, ownAddresses(ip))
		var err error
		if certFile, keyFile, err = ownCertificate(w.DataDir, names); err != nil {
			return fmt.Errorf("make a certificate: %w", err)
		}
	}
	files := &certFiles{cert: certFile, key: keyFile}
	cert, err := files.current()
	if err != nil {
		return api.Errorf(api.CodeInvalid, "read the certificate: %v", err)
	}
	if w.CertFile == "" {
		sum := sha256.Sum256(cert.Certificate[0])
		p.Fingerprint = strings.ToUpper(fmt.Sprintf("%x", sum))
	}
	p.Origin.Secure = true
	p.Listener = tls.NewListener(p.Listener, &tls.Config{
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return files.current() },
		MinVersion:     tls.VersionTLS12, NextProtos: []string{"http/1.1"},
	})
	return nil
}

// ownAddresses returns the names and addresses under which others reach a listener on ip.
func ownAddresses(ip net.IP) (all []string) {
	if !ip.IsUnspecified() {
		return []string{ip.String()}
	}
	found, _ := net.InterfaceAddrs() // on an error, the host name remains
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

// certLife is the validity of a self-signed certificate: Apple's systems reject longer ones.
const certLife = 825 * 24 * time.Hour

// ownCertificate returns the files of a self-signed certificate for names. It creates a new one if
// there is none, it lacks a name, or it expires soon.
func ownCertificate(dataDir string, names []string) (certFile, keyFile string, err error) {
	dir := filepath.Join(dataDir, datadir.Page)
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	text, err := regular.ReadFile(certFile)
	if err == nil && coversNames(text, names) {
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
	// Write the key first, because a certificate without its key could not be used.
	if err := renameio.WriteFile(keyFile, keyText, 0o600); err != nil {
		return "", "", err
	}
	return certFile, keyFile, renameio.WriteFile(certFile, certText, 0o600)
}

func coversNames(text []byte, names []string) bool {
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
