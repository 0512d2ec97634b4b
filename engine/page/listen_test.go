package page

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestRenewedCertificateIsServed(t *testing.T) {
	dir := t.TempDir()
	w := Where{DataDir: dir, CertFile: filepath.Join(dir, "cert"), KeyFile: filepath.Join(dir, "key"), Address: "127.0.0.1:0"}
	write := func(path string, text []byte) {
		t.Helper()
		// Rename the new file into place, as programs that renew certificates do.
		if err := errors.Join(os.WriteFile(path+".new", text, 0o600), os.Rename(path+".new", path)); err != nil {
			t.Fatal(err)
		}
	}
	cert, key, err := newCertificate([]string{"first"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	write(w.CertFile, cert)
	write(w.KeyFile, key)
	p, err := Listen(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	served := func() string {
		t.Helper()
		accepted := make(chan error, 1)
		go func() {
			conn, err := p.Accept()
			if err == nil {
				err = errors.Join(conn.(*tls.Conn).Handshake(), conn.Close())
			}
			accepted <- err
		}()
		conn, err := tls.Dial("tcp", p.Addr().String(), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := <-accepted; err != nil && !errors.Is(err, net.ErrClosed) {
			t.Fatal(err)
		}
		return conn.ConnectionState().PeerCertificates[0].DNSNames[0]
	}
	if name := served(); name != "first" {
		t.Errorf("at first it serves the certificate of %s", name)
	}
	cert, key, err = newCertificate([]string{"renewed"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	write(w.CertFile, cert)
	if name := served(); name != "first" {
		t.Errorf("before the key is replaced it serves the certificate of %s", name)
	}
	write(w.KeyFile, key)
	if name := served(); name != "renewed" {
		t.Errorf("then it serves the certificate of %s", name)
	}
}

func TestListenRejectsCertificateInAPipe(t *testing.T) {
	dir := t.TempDir()
	w := Where{DataDir: dir, CertFile: filepath.Join(dir, "cert"), KeyFile: filepath.Join(dir, "key"), Address: "127.0.0.1:0"}
	if err := syscall.Mkfifo(w.CertFile, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(t.Context(), w); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("it says %v", err)
	}
}

func TestPageUsesPreviousPort(t *testing.T) {
	r := newRig(t, infoMux(), nil)
	dir := t.TempDir()
	first, err := Listen(t.Context(), Where{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, dir, first, r.page) }()
	for served := false; !served; {
		if _, served, err = Served(dir); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if s, served, err := Served(dir); served || err != nil {
		t.Errorf("it is served still: %+v, %v", s, err)
	}
	again, err := Listen(t.Context(), Where{DataDir: dir})
	if err != nil || again.Origin.Port != first.Origin.Port {
		t.Fatalf("it is served at %s, then at %s: %v", first.URL, again.URL, err)
	}
	defer again.Close()
	other, err := Listen(t.Context(), Where{DataDir: dir})
	if err != nil || other.Origin.Port == first.Origin.Port {
		t.Fatalf("while that port is taken: %s, %v", other.URL, err)
	}
	if port := strconv.Itoa(first.Origin.Port); again.Moved != "" || other.Moved != port {
		t.Errorf("moved from %q and then from %q, want only the second move, from %s", again.Moved, other.Moved, port)
	}
	other.Close()
}
