package push

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"tandem/engine/page/devices"
)

// A service is the push service of one browser. It records the requests that it receives.
type service struct {
	*httptest.Server
	private *ecdh.PrivateKey
	auth    []byte

	mu      sync.Mutex
	status  int
	headers []http.Header
	bodies  [][]byte
}

func newService(t *testing.T) *service {
	t.Helper()
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := &service{private: private, auth: make([]byte, 16), status: http.StatusCreated}
	_, _ = rand.Read(s.auth) // it never fails
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // one that is cut fails to be decrypted
		s.mu.Lock()
		defer s.mu.Unlock()
		s.headers, s.bodies = append(s.headers, r.Header), append(s.bodies, body)
		w.WriteHeader(s.status)
	}))
	t.Cleanup(s.Close)
	return s
}

// subscription returns the subscription that the browser passes to the page.
func (s *service) subscription(t *testing.T, path string) json.RawMessage {
	t.Helper()
	text, err := json.Marshal(map[string]any{"endpoint": s.URL + path, "expirationTime": nil, "keys": map[string]string{
		"p256dh": base64.RawURLEncoding.EncodeToString(s.private.PublicKey().Bytes()), "auth": base64.RawURLEncoding.EncodeToString(s.auth),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// open decrypts a message as a browser does (RFC 8188 and 8291).
func (s *service) open(t *testing.T, body []byte) string {
	t.Helper()
	salt, rest := body[:16], body[20:] // the record's size is between them
	sender, sealed := rest[1:1+rest[0]], rest[1+rest[0]:]
	from, err := ecdh.P256().NewPublicKey(sender)
	if err != nil {
		t.Fatal(err)
	}
	shared, err := s.private.ECDH(from)
	if err != nil {
		t.Fatal(err)
	}
	derive := func(secret, salt []byte, info string, n int) []byte {
		out, err := hkdf.Key(sha256.New, secret, salt, info, n)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	input := derive(shared, s.auth, "WebPush: info\x00"+string(s.private.PublicKey().Bytes())+string(sender), 32)
	block, err := aes.NewCipher(derive(input, salt, "Content-Encoding: aes128gcm\x00", 16))
	if err != nil {
		t.Fatal(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	text, err := gcm.Open(nil, derive(input, salt, "Content-Encoding: nonce\x00", 12), sealed, nil)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(strings.TrimRight(string(text), "\x00"), "\x02")
}

// told pairs a browser that wants pushes.
func told(t *testing.T, book *devices.Book, push json.RawMessage) devices.Device {
	t.Helper()
	code, err := book.NewCode(devices.Grant{})
	if err != nil {
		t.Fatal(err)
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public, err := private.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	d, err := book.Pair(code, "Chrome on Android", base64.StdEncoding.EncodeToString(public), "https://phone.example")
	if err != nil {
		t.Fatal(err)
	}
	if err := book.Subscribe(d.ID, push); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestPushContainsOnlyTheMachineName(t *testing.T) {
	s, dir := newService(t), t.TempDir()
	book := devices.Open(dir)
	var log bytes.Buffer
	sender := New(dir, book, &log)
	sender.HTTP.Transport = s.Client().Transport
	if sender.Wanted() {
		t.Error("nobody is paired, and somebody wants pushes")
	}
	told(t, book, s.subscription(t, "/secret-address"))
	if !sender.Wanted() {
		t.Error("a browser that has subscribed wants no pushes")
	}
	sender.Send(t.Context(), "box needs you")
	if len(s.bodies) != 1 {
		t.Fatalf("%d pushes; %s", len(s.bodies), log.String())
	}
	if got := s.open(t, s.bodies[0]); got != "box needs you" {
		t.Errorf("the browser reads %q", got)
	}
	h := s.headers[0]
	if h.Get("Topic") != topic || h.Get("Urgency") != "high" || h.Get("TTL") != "14400" || h.Get("Content-Encoding") != "aes128gcm" {
		t.Errorf("it is sent with %v", h)
	}
	for name, values := range h {
		if name != "Authorization" && strings.Contains(strings.Join(values, " "), "box") {
			t.Errorf("%s says %v", name, values)
		}
	}
	signedFor(t, sender, h.Get("Authorization"), s.URL)
	sender.Send(t.Context(), "a machine with a longer name needs you")
	if len(s.bodies[0]) != len(s.bodies[1]) {
		t.Errorf("its length tells of the text: %d and %d bytes", len(s.bodies[0]), len(s.bodies[1]))
	}
	if log.Len() > 0 {
		t.Errorf("it complains: %s", log.String())
	}
}

// signedFor checks that the header of a push is signed for service, with the key that browsers
// subscribe with.
func signedFor(t *testing.T, sender *Sender, header, service string) {
	t.Helper()
	public, err := sender.Key()
	if err != nil {
		t.Fatal(err)
	}
	rest, key, _ := strings.Cut(strings.TrimPrefix(header, "vapid t="), ", k=")
	if key != public {
		t.Errorf("it is signed by %s, not %s", key, public)
	}
	known, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), decodeKey(public))
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(rest, ".")
	if len(parts) != 3 {
		t.Fatalf("it is authorised by %q", header)
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	signature := decodeKey(parts[2])
	if !ecdsa.Verify(known, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
		t.Error("its signature is wrong")
	}
	var claims struct{ Aud, Sub string }
	if err := json.Unmarshal(decodeKey(parts[1]), &claims); err != nil || claims.Aud != service || claims.Sub != "mailto:"+contact {
		t.Errorf("it claims %+v, %v", claims, err)
	}
}

func TestExpiredSubscriptionIsRemoved(t *testing.T) {
	for _, test := range []struct {
		status int
		kept   bool
		says   string
	}{
		{http.StatusGone, false, ""},
		{http.StatusNotFound, false, ""},
		{http.StatusTooManyRequests, true, "429"},
		{http.StatusMovedPermanently, true, "301"},
	} {
		s, dir := newService(t), t.TempDir()
		book := devices.Open(dir)
		var log bytes.Buffer
		sender := New(dir, book, &log)
		sender.HTTP.Transport = s.Client().Transport
		d := told(t, book, s.subscription(t, "/secret-address"))
		s.status = test.status
		sender.Send(t.Context(), "box needs you")
		all, err := book.List()
		if err != nil || len(all) != 1 || (all[0].Push != nil) != test.kept || all[0].ID != d.ID {
			t.Errorf("%d: %+v, %v", test.status, all, err)
		}
		if !strings.Contains(log.String(), test.says) || strings.Contains(log.String(), "secret-address") || test.says == "" && log.Len() > 0 {
			t.Errorf("%d: it says %q", test.status, log.String())
		}
	}
}

func TestUnreachablePushServiceIsReportedWithoutURL(t *testing.T) {
	s, dir := newService(t), t.TempDir()
	book := devices.Open(dir)
	var log bytes.Buffer
	sender := New(dir, book, &log)
	told(t, book, s.subscription(t, "/secret-address"))
	s.Close()
	sender.Send(t.Context(), "box needs you")
	if !strings.Contains(log.String(), "notify Chrome on Android: ") || strings.Contains(log.String(), "secret-address") {
		t.Errorf("it says %q", log.String())
	}
}

func TestPushKeysPersist(t *testing.T) {
	dir := t.TempDir()
	first, err := New(dir, nil, io.Discard).Key()
	if err != nil || len(decodeKey(first)) != 65 {
		t.Fatal(first, err)
	}
	if second, err := New(dir, nil, io.Discard).Key(); err != nil || second != first {
		t.Errorf("another time the key is %s, %v", second, err)
	}
	info, err := os.Stat(filepath.Join(dir, "page", "push.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the keys are kept with %v, %v", info.Mode(), err)
	}
}

func TestCheckRejectsInvalidSubscriptions(t *testing.T) {
	s := newService(t)
	good := string(s.subscription(t, "/x"))
	if err := Check(json.RawMessage(good)); err != nil {
		t.Errorf("%s: %v", good, err)
	}
	for _, wrong := range []string{
		`{}`, `[]`, `"x"`,
		strings.Replace(good, "https:", "http:", 1),
		strings.Replace(good, "https:", "file:", 1),
		strings.Replace(good, "/x", "/"+strings.Repeat("x", maxEndpoint), 1),
		strings.Replace(good, `"auth":"`, `"auth":"A`, 1),
		strings.Replace(good, `"p256dh"`, `"other"`, 1),
	} {
		if err := Check(json.RawMessage(wrong)); err == nil {
			t.Errorf("%.100s is taken", wrong)
		}
	}
}
