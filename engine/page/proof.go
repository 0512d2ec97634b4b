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

// A browser's key never leaves it, and belongs to an origin: scheme, host and port. The page
// signs a nonce of this server together with the origin that the browser says it is at, and gets
// a bearer for some minutes, which it keeps in memory. So nothing of use goes to servers on
// other ports, as a cookie would. A server that uses this port while the page is stopped gets only
// signatures of nonces that the page will not accept later. A key is valid only at the origin of its
// pairing, so a server on the page's old port cannot relay signatures to the new one.

const (
	// nonceTime is how long a nonce can be signed.
	nonceTime = time.Minute
	// bearerTime is how long a bearer is good.
	bearerTime = 10 * time.Minute
	// maxBearers is how many bearers one device has at a time: one for each of its tabs.
	maxBearers = 64
	// proofScheme begins what is signed: a key is for this alone.
	proofScheme = "tandem page 1"
	// subprotocol is that of a WebSocket; the bearer is another one that the page offers.
	subprotocol  = "tandem"
	bearerPrefix = "bearer."
)

// proofs are what browsers have proven to this server.
type proofs struct {
	now    func() time.Time
	secret [32]byte // of nonces; each server has its own

	mu      sync.Mutex
	used    map[string]time.Time   // nonces that were signed, until when they would be good
	bearers map[[32]byte]admission // by hash
	seen    map[string]bool        // ids of devices that have proven themselves since the start
}

// An admission is what a bearer is good for.
type admission struct {
	device string // id
	origin string
	until  time.Time
}

func newProofs() *proofs {
	s := &proofs{now: time.Now, used: map[string]time.Time{}, bearers: map[[32]byte]admission{}, seen: map[string]bool{}}
	_, _ = rand.Read(s.secret[:]) // it never fails
	return s
}

// nonce makes a nonce for an origin. Nothing is kept of it until it comes back signed.
func (s *proofs) nonce(origin string) string {
	raw := binary.BigEndian.AppendUint64(nil, uint64(s.now().Add(nonceTime).Unix()))
	raw = append(raw, make([]byte, 16)...)
	_, _ = rand.Read(raw[8:])
	return hex.EncodeToString(append(raw, s.mac(raw, origin)...))
}

func (s *proofs) mac(raw []byte, origin string) []byte {
	h := hmac.New(sha256.New, s.secret[:])
	h.Write(raw)
	h.Write([]byte(origin))
	return h.Sum(nil)
}

// expiry returns until when a nonce is good; false if it is not this server's for origin.
func (s *proofs) expiry(nonce, origin string) (time.Time, bool) {
	raw, err := hex.DecodeString(nonce)
	if err != nil || len(raw) != 8+16+sha256.Size || !hmac.Equal(raw[24:], s.mac(raw[:24], origin)) {
		return time.Time{}, false
	}
	until := time.Unix(int64(binary.BigEndian.Uint64(raw)), 0)
	return until, s.now().Before(until)
}

// toSign is what the page signs.
func toSign(origin, device, nonce string) string {
	return strings.Join([]string{proofScheme, origin, device, nonce}, "\n")
}

// admit gives a bearer to a device that has signed a nonce. first says that the device had none of
// this server before.
func (s *proofs) admit(d devices.Device, origin, nonce string, signature []byte) (bearer string, first, ok bool) {
	until, ok := s.expiry(nonce, origin)
	if !ok || d.At != origin || !d.Signed(toSign(origin, d.ID, nonce), signature) {
		return "", false, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep(d.ID)
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

// sweep forgets what has expired, and the oldest bearer of a device that has too many. The lock is held.
func (s *proofs) sweep(device string) {
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

// deviceOf returns the id of the device that a bearer belongs to, at an origin.
func (s *proofs) deviceOf(bearer, origin string) (id string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.bearers[sha256.Sum256([]byte(bearer))]
	return a.device, ok && a.origin == origin && s.now().Before(a.until)
}

// bearerOf returns what a request shows: in a header or, of a WebSocket, for which a page cannot
// set headers, as a subprotocol.
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

// A challenge is the answer of POST /session without a signature.
type challenge struct {
	Nonce string `json:"nonce"`
	// PairAgain says that this browser was paired with release 0.2.0, before browsers had keys.
	PairAgain bool `json:"pair_again,omitempty"`
}

// A session is the answer of POST /session with a signature.
type session struct {
	Bearer  string  `json:"bearer"`
	Seconds float64 `json:"seconds"` // that it is good for
	Me      Me      `json:"me"`
}

// prove gives a browser a nonce and, for its signature, a bearer.
func (p *Page) prove(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	var in struct{ Device, Nonce, Signature string }
	if err := readJSON(w, r, &in, maxSecret); err != nil {
		refuse(w, http.StatusBadRequest, err)
		return
	}
	origin := p.o.Origin.of(r)
	if in.Signature == "" {
		_, old, err := p.oldDevice(r)
		if err != nil {
			refuse(w, http.StatusInternalServerError, err)
			return
		}
		answer(w, challenge{p.proofs.nonce(origin), old})
		return
	}
	d, ok, err := p.device(in.Device, r.PathValue("session"))
	if err != nil {
		refuse(w, http.StatusInternalServerError, err)
		return
	}
	signature, wrong := base64.StdEncoding.DecodeString(in.Signature)
	if !ok || wrong != nil {
		refuse(w, http.StatusUnauthorized, errNotPaired)
		return
	}
	bearer, first, ok := p.proofs.admit(d, origin, in.Nonce, signature)
	if !ok {
		refuse(w, http.StatusUnauthorized, errors.New("the proof is not this browser's, or too old"))
		return
	}
	if first {
		clearCache(w)
	}
	answer(w, session{bearer, bearerTime.Seconds(), p.tell(d)})
}

// clearCache has a browser forget what another server at this address may have had it keep while
// this one was stopped, pages included that it would show without asking.
func clearCache(w http.ResponseWriter) { w.Header().Set("Clear-Site-Data", `"cache"`) }
