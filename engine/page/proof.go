package page

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"tandem/engine/page/devices"
)

// A browser's key never leaves the browser, and belongs to an origin: scheme, host and port. The
// page signs a nonce from this server together with the origin the browser reports, and gets a
// bearer token valid for a few minutes, which it keeps in memory. So servers on other ports
// receive nothing useful, unlike with cookies. A server that uses this port while the page is
// stopped gets only signatures of nonces the page will not accept later. A key is valid only at
// the origin of its pairing, so a server on the page's old port cannot relay signatures to the new
// one.

const (
	// nonceTime is how long a nonce may be signed.
	nonceTime = time.Minute
	// bearerTime is the lifetime of a bearer token.
	bearerTime = 10 * time.Minute
	// maxBearers is the maximum number of bearer tokens per device: one for each of its tabs.
	maxBearers = 64
	// proofScheme prefixes the signed text, so that signatures are valid for this purpose only.
	proofScheme = "tandem page 1"
	// subprotocol is the WebSocket subprotocol. The page offers its bearer token as another one.
	subprotocol  = "tandem"
	bearerPrefix = "bearer."
)

// proofs holds the nonces and bearer tokens of this server.
type proofs struct {
	now    func() time.Time
	secret [32]byte // signs nonces; each server has its own

	mu      sync.Mutex
	used    map[string]time.Time   // signed nonces, with their expiry
	bearers map[[32]byte]admission // by hash
	seen    map[string]bool        // ids of devices that have authenticated since the start
}

// An admission is what a bearer token grants.
type admission struct {
	device string // id
	origin string
	until  time.Time
}

func newProofs() *proofs {
	s := &proofs{now: time.Now, used: map[string]time.Time{}, bearers: map[[32]byte]admission{}, seen: map[string]bool{}}
	_, _ = rand.Read(s.secret[:]) // never fails
	return s
}

// newNonce returns a nonce for an origin. The server keeps no state for it until it comes back
// signed.
func (s *proofs) newNonce(origin string) string {
	raw := binary.BigEndian.AppendUint64(nil, uint64(s.now().Add(nonceTime).Unix()))
	// Random bytes keep nonces of the same second distinct.
	raw = append(raw, make([]byte, 16)...)
	_, _ = rand.Read(raw[8:])
	return hex.EncodeToString(append(raw, s.signNonce(raw, origin)...))
}

func (s *proofs) signNonce(raw []byte, origin string) []byte {
	h := hmac.New(sha256.New, s.secret[:])
	h.Write(raw)
	h.Write([]byte(origin))
	return h.Sum(nil)
}

// nonceExpiry returns when a nonce expires. ok is false if it has expired or is not this server's nonce
// for origin.
func (s *proofs) nonceExpiry(nonce, origin string) (time.Time, bool) {
	raw, err := hex.DecodeString(nonce)
	if err != nil || len(raw) != 8+16+sha256.Size || !hmac.Equal(raw[24:], s.signNonce(raw[:24], origin)) {
		return time.Time{}, false
	}
	until := time.Unix(int64(binary.BigEndian.Uint64(raw)), 0)
	return until, s.now().Before(until)
}

// toSign returns the text the page signs.
func toSign(origin, device, nonce string) string {
	return strings.Join([]string{proofScheme, origin, device, nonce}, "\n")
}

// issueBearer returns a bearer token for a device that has signed a nonce. first is true if it is the
// device's first from this server.
func (s *proofs) issueBearer(d devices.Device, origin, nonce string, signature []byte) (bearer string, first, ok bool) {
	until, ok := s.nonceExpiry(nonce, origin)
	if !ok || d.At != origin || !d.Signed(toSign(origin, d.ID, nonce), signature) {
		return "", false, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeExpired(d.ID)
	// A recorded signature must not yield a second token.
	nonce = strings.ToLower(nonce) // hex digits may be capitals
	if _, again := s.used[nonce]; again {
		return "", false, false
	}
	s.used[nonce] = until
	bearer = rand.Text()
	s.bearers[sha256.Sum256([]byte(bearer))] = admission{d.ID, origin, s.now().Add(bearerTime)}
	first = !s.seen[d.ID]
	s.seen[d.ID] = true
	return bearer, first, true
}

// removeExpired removes expired entries, and a device's oldest token if it has too many. The caller holds
// s.mu.
func (s *proofs) removeExpired(device string) {
	now := s.now()
	for nonce, until := range s.used {
		if !now.Before(until) {
			delete(s.used, nonce)
		}
	}
	var oldest [32]byte
	own := 0
	for hash, a := range s.bearers {
		switch {
		case !now.Before(a.until):
			delete(s.bearers, hash)
		case a.device == device:
			if own++; own == 1 || a.until.Before(s.bearers[oldest].until) {
				oldest = hash
			}
		}
	}
	if own >= maxBearers {
		delete(s.bearers, oldest)
	}
}

// deviceOf returns the id of the device with a bearer token at an origin.
func (s *proofs) deviceOf(bearer, origin string) (id string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.bearers[sha256.Sum256([]byte(bearer))]
	return a.device, ok && a.origin == origin && s.now().Before(a.until)
}

// bearerOf returns the bearer token of a request. It is in a header or, for a WebSocket, where
// pages cannot set headers, in a subprotocol.
func bearerOf(r *http.Request) string {
	if text, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return text
	}
	for offered := range strings.SplitSeq(r.Header.Get("Sec-WebSocket-Protocol"), ",") {
		if text, ok := strings.CutPrefix(strings.TrimSpace(offered), bearerPrefix); ok {
			return text
		}
	}
	return ""
}

// A challenge is the response to POST /session without a signature.
type challenge struct {
	Nonce string `json:"nonce"`
	// PairAgain is set if release 0.2.0 paired this browser, before browsers had keys.
	PairAgain bool `json:"pair_again,omitempty"`
}

// A session is the response to POST /session with a signature.
type session struct {
	Bearer  string  `json:"bearer"`
	Seconds float64 `json:"seconds"` // lifetime of the bearer token
	Me      Me      `json:"me"`
}

// proveKey returns a nonce to a browser and, for its signature, a bearer token.
func (p *Page) proveKey(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	var in struct{ Device, Nonce, Signature string }
	if err := readJSON(w, r, &in, maxSecret); err != nil {
		writeError(w, http.StatusBadRequest, err)
		return
	}
	origin := p.o.Origin.originOf(r)
	if in.Signature == "" {
		_, old, err := p.oldDevice(r)
		if err != nil {
			writeError(w, http.StatusInternalServerError, err)
			return
		}
		writeJSON(w, challenge{p.proofs.newNonce(origin), old})
		return
	}
	d, ok, err := p.device(in.Device, r.PathValue("session"))
	if err != nil {
		writeError(w, http.StatusInternalServerError, err)
		return
	}
	signature, wrong := base64.StdEncoding.DecodeString(in.Signature)
	if !ok || wrong != nil {
		writeError(w, http.StatusUnauthorized, errNotPaired)
		return
	}
	bearer, first, ok := p.proofs.issueBearer(d, origin, in.Nonce, signature)
	if !ok {
		writeError(w, http.StatusUnauthorized, errors.New("the proof belongs to another browser, or is too old"))
		return
	}
	if first {
		clearCache(w)
	}
	writeJSON(w, session{bearer, bearerTime.Seconds(), p.describe(d)})
}

// clearCache makes a browser drop files cached from another server at this address while this one
// was stopped, including pages it would show without a request.
func clearCache(w http.ResponseWriter) { w.Header().Set("Clear-Site-Data", `"cache"`) }
