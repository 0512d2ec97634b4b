// Package page serves the web page that shows the engine in a browser or on a phone, and the part
// of the API it needs. It is for the user, never for agents: a paired device may do anything the
// user may, unless its grant is limited.
//
// Except for the page's own files, each request must come from the page's own origin and carry a
// bearer token, which a paired browser gets in return for a signature with its key:
//
//	POST /pair        exchanges a one-time code and a new public key for a device
//	POST /session     returns a nonce, and a bearer token for its signature
//	POST /leave       removes this device
//	GET  /me          returns what this device may do
//	GET  /events      streams the engine's events, as server-sent events
//	GET  /usage       streams the resource use of processes, likewise
//	POST /call/NAME   executes an operation of the API available to the page
//	GET  /attach      connects to a session's terminal, as a WebSocket
//	GET  /push        returns how to notify this device while it shows no page
//	POST /push        subscribes the device to notifications, or unsubscribes it
//
// A link to one session has all of it below /link/ID/.
package page

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/base/httplimit"
	"tandem/engine/page/devices"
)

// Options configures a Page.
type Options struct {
	// Engine connects to an engine: this machine's, or another's.
	Engine func(ctx context.Context, machine string) (*client.Client, error)
	Book   *devices.Book
	Origin Origin
	Notify Notify

	NoClipboard func() bool // reports whether programs must not write to the clipboard; nil allows it

	ReadOnly  bool          // no device may change anything
	BodyTime  time.Duration // maximum time for a request's body to arrive; zero means a minute
	BodyPause time.Duration // maximum pause within a body; zero means 10 seconds

	Version string    // version of this program
	Log     io.Writer // messages for the user
}

// A Page is an http.Handler that serves the page.
type Page struct {
	o       Options
	mux     *http.ServeMux
	tries   limiter
	proofs  *proofs
	engines engines

	mu   sync.Mutex
	open map[*lifeline]struct{} // connections to end when their device is revoked
}

// New returns a page. The caller must close it.
func New(o Options) *Page {
	p := &Page{o: o, mux: http.NewServeMux(), tries: newLimiter(triesPerMinute, maxTriesPerMinute, time.Minute), proofs: newProofs(), open: map[*lifeline]struct{}{}}
	p.engines.dial = o.Engine
	p.o.BodyTime, p.o.BodyPause = cmp.Or(o.BodyTime, httplimit.BodyTime), cmp.Or(o.BodyPause, bodyPause)
	p.o.Notify.settle = cmp.Or(o.Notify.settle, settleTime)
	f := files()
	p.mux.Handle("GET /", f)
	p.mux.HandleFunc("GET /link/{session}/", func(w http.ResponseWriter, r *http.Request) {
		http.StripPrefix("/link/"+r.PathValue("session"), f).ServeHTTP(w, r)
	})
	for _, base := range []string{"", "/link/{session}"} {
		p.mux.HandleFunc("POST "+base+"/pair", p.refuseAgents(p.pair))
		p.mux.HandleFunc("POST "+base+"/session", p.refuseAgents(p.proveKey))
		p.mux.HandleFunc("POST "+base+"/leave", p.requireDevice(p.leavePage))
		p.mux.HandleFunc("GET "+base+"/me", p.requireDevice(p.me))
		p.mux.HandleFunc("GET "+base+"/events", p.requireDevice(p.events))
		p.mux.HandleFunc("GET "+base+"/usage", p.requireDevice(p.usage))
		p.mux.HandleFunc("POST "+base+"/call/{operation}", p.requireDevice(p.callOperation))
		p.mux.HandleFunc("GET "+base+"/attach", p.requireDevice(p.attach))
		p.mux.HandleFunc("GET "+base+"/push", p.requireDevice(p.servePushKey))
		p.mux.HandleFunc("POST "+base+"/push", p.requireDevice(p.subscribe))
	}
	return p
}

// LinkPath returns the path of a link to a session. The link has a key of its own, separate from
// that of a paired browser.
func LinkPath(session string) string { return "link/" + session + "/" }

// Server returns the page's HTTP server, with its limits.
func (p *Page) Server() *http.Server {
	return &http.Server{
		Handler: p, ReadHeaderTimeout: httplimit.HeaderTime, IdleTimeout: httplimit.IdleTime, MaxHeaderBytes: httplimit.MaxHeader,
		ConnContext: withConnection,
	}
}

// ServeHTTP implements http.Handler. Use it through Server.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Before anything reads the body.
	httplimit.LimitBody(w, r, p.o.BodyTime, p.o.BodyPause)
	setSecurityHeaders(w.Header())
	// Check the request before redirecting it: a request for a foreign name must get no answer.
	if err := p.o.Origin.checkRequest(r); err != nil {
		writeError(w, http.StatusForbidden, err)
		return
	}
	if to, ok := p.o.Origin.redirectFor(r); ok {
		http.Redirect(w, r, to, http.StatusTemporaryRedirect)
		return
	}
	p.mux.ServeHTTP(w, r)
}

// Close ends all open connections.
func (p *Page) Close() {
	p.mu.Lock()
	for l := range p.open {
		l.cancel()
	}
	p.mu.Unlock()
	p.engines.closeAll()
}

// A handler serves a request of a paired device.
type handler func(w http.ResponseWriter, r *http.Request, d devices.Device)

// errNotPaired rejects a request without a valid bearer token, or with that of a revoked device.
var errNotPaired = errors.New("this browser is not paired: open the link that `tandem web` prints")

// requireDevice serves only requests with the bearer token of a paired device.
func (p *Page) requireDevice(serve handler) http.HandlerFunc {
	return p.refuseAgents(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		d, ok, err := p.deviceOf(r)
		switch {
		case err != nil:
			writeError(w, http.StatusInternalServerError, err)
		case !ok:
			writeError(w, http.StatusUnauthorized, errNotPaired)
		default:
			serve(w, r, d)
		}
	})
}

func (p *Page) deviceOf(r *http.Request) (devices.Device, bool, error) {
	id, ok := p.proofs.deviceOf(bearerOf(r), p.o.Origin.originOf(r))
	if !ok {
		return devices.Device{}, false, nil
	}
	d, ok, err := p.device(id, r.PathValue("session"))
	if err != nil || !ok {
		return d, false, err
	}
	if err := p.o.Book.Saw(d); err != nil {
		fmt.Fprintf(p.o.Log, "tandem: record a device's visit: %v\n", err)
	}
	return d, true, nil
}

// device returns a paired device with its effective permissions. link is the session of a link, or
// "".
func (p *Page) device(id, link string) (devices.Device, bool, error) {
	d, ok, err := p.o.Book.Get(id)
	if err != nil || !ok || d.PairAgain() || d.Session != link {
		return d, false, err
	}
	d.ReadOnly = d.ReadOnly || p.o.ReadOnly || d.Session != ""
	return d, true, nil
}

// oldDevice returns the device under which release 0.2.0 paired a browser.
func (p *Page) oldDevice(r *http.Request) (devices.Device, bool, error) {
	for _, c := range r.Cookies() {
		if p.o.Origin.isOldCookie(c.Name) {
			if d, ok, err := p.o.Book.FindOld(c.Value); ok || err != nil {
				return d, ok, err
			}
		}
	}
	return devices.Device{}, false, nil
}

// pair exchanges a code for a device with a public key.
func (p *Page) pair(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	var in struct{ Code, Key string }
	if err := readJSON(w, r, &in, maxSecret); err != nil {
		writeError(w, http.StatusBadRequest, err)
		return
	}
	if _, err := devices.ParseKey(in.Key); err != nil {
		writeError(w, http.StatusBadRequest, err)
		return
	}
	sender := whoTries(r)
	if !p.tries.allow(sender, time.Now()) {
		w.Header().Set("Retry-After", "60")
		writeError(w, http.StatusTooManyRequests, errors.New("too many attempts: wait a minute"))
		return
	}
	d, err := p.o.Book.Pair(in.Code, browserName(r.UserAgent()), in.Key, p.o.Origin.originOf(r))
	switch {
	case errors.Is(err, devices.ErrNoCode):
		writeError(w, http.StatusForbidden, err)
		return
	case err != nil:
		writeError(w, http.StatusInternalServerError, err)
		return
	}
	// A valid code does not count as a guess.
	p.tries.giveBack(sender)
	p.forgetOld(w, r)
	clearCache(w)
	writeJSON(w, p.describe(d))
}

// forgetOld removes a browser's device and cookies of release 0.2.0, once it is paired again.
func (p *Page) forgetOld(w http.ResponseWriter, r *http.Request) {
	if d, ok, err := p.oldDevice(r); ok && err == nil {
		if _, err := p.o.Book.Revoke(d.ID); err != nil {
			fmt.Fprintf(p.o.Log, "tandem: remove %s, which was paired again: %v\n", d.Name, err)
		}
	}
	for _, c := range r.Cookies() {
		if p.o.Origin.isOldCookie(c.Name) {
			http.SetCookie(w, p.o.Origin.noCookie(c.Name, r.PathValue("session")))
		}
	}
}

func (p *Page) leavePage(w http.ResponseWriter, _ *http.Request, d devices.Device) {
	if _, err := p.o.Book.Revoke(d.ID); err != nil {
		writeError(w, http.StatusInternalServerError, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// Me is the response of /me and /pair, and part of the response of /session.
type Me struct {
	Device   string    `json:"device"` // id
	Name     string    `json:"name"`
	ReadOnly bool      `json:"read_only"`
	Session  string    `json:"session,omitempty"` // for a link: the only session shown
	Until    time.Time `json:"until,omitzero"`
	Version  string    `json:"version"`

	Clipboard bool `json:"clipboard"` // programs may write to the browser's clipboard
}

func (p *Page) me(w http.ResponseWriter, _ *http.Request, d devices.Device) {
	writeJSON(w, p.describe(d))
}

func (p *Page) describe(d devices.Device) Me {
	readOnly := d.ReadOnly || p.o.ReadOnly || d.Session != ""
	clipboard := !readOnly && (p.o.NoClipboard == nil || !p.o.NoClipboard())
	return Me{d.ID, d.Name, readOnly, d.Session, d.Until, p.o.Version, clipboard}
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the browser may have disconnected
}

const (
	// maxBody bounds a request's body, in bytes.
	maxBody = 4 << 20
	// maxSecret bounds the body of an unauthenticated request, in bytes.
	maxSecret = 1 << 10
	// bodyPause is the maximum pause within a request's body.
	bodyPause = 10 * time.Second
)

func readJSON(w http.ResponseWriter, r *http.Request, into any, limit int64) error {
	r.Body = http.MaxBytesReader(w, r.Body, limit)
	if err := json.NewDecoder(r.Body).Decode(into); err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	return nil
}

// A refusal is the response to a failed request.
type refusal struct {
	Error  string     `json:"error"`
	Code   api.Code   `json:"code,omitempty"`
	Reason api.Reason `json:"reason,omitempty"`
	Hint   string     `json:"hint,omitempty"`
}

func writeError(w http.ResponseWriter, status int, err error) {
	out := refusal{Error: err.Error()}
	var e *api.Error
	if errors.As(err, &e) {
		out = refusal{e.Message, e.Code, e.Reason, e.Hint}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(out) // the browser may have disconnected
}
