// Package page serves the page: what a browser or a phone shows of the engine, and the part
// of its API that the page needs. It is a person's device, never an agent's: whoever pairs
// one may do what the person may, unless it was given less.
//
// Everything but the files of the page itself comes from the page's own origin and shows a
// bearer, which a paired browser gets for a signature of its key:
//
//	POST /pair        trades a one-time code and a new public key for a device
//	POST /session     gives a nonce, and a bearer for its signature
//	POST /leave       forgets this device
//	GET  /me          what this device may do
//	GET  /events      the engine's events, as server-sent events
//	GET  /usage       what processes use now, likewise
//	POST /call/NAME   one operation of the API, if the page has it
//	GET  /attach      a session's terminal, as a WebSocket
//	GET  /push        how this device is notified while it shows no page
//	POST /push        subscribes it to that, or ends it
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
	"tandem/engine/httplimit"
	"tandem/engine/page/devices"
)

// Options say what is served, and to whom.
type Options struct {
	// Engine gives a connection to this machine's engine, or to another machine's.
	Engine func(ctx context.Context, machine string) (*client.Client, error)
	Book   *devices.Book
	Origin Origin
	Notify Notify

	NoClipboard func() bool // reports whether programs must not write to the clipboard; nil: they may

	ReadOnly  bool          // nobody changes anything
	BodyTime  time.Duration // that a request's body may take to arrive; zero: a minute
	BodyPause time.Duration // without a byte of it; zero: 10 seconds

	Version string    // of this program
	Log     io.Writer // what a person should hear
}

// A Page is the server. It is an http.Handler.
type Page struct {
	o       Options
	mux     *http.ServeMux
	tries   limiter
	proofs  *proofs
	engines engines

	mu   sync.Mutex
	open map[*lifeline]struct{} // what goes on until its device is revoked
}

// New is a page that nobody sees yet. Close it.
func New(o Options) *Page {
	p := &Page{o: o, mux: http.NewServeMux(), tries: newLimiter(triesPerMinute, maxTriesPerMinute, time.Minute), proofs: newProofs(), open: map[*lifeline]struct{}{}}
	p.engines.connect = o.Engine
	p.o.BodyTime, p.o.BodyPause = cmp.Or(o.BodyTime, httplimit.BodyTime), cmp.Or(o.BodyPause, bodyPause)
	p.o.Notify.settle = cmp.Or(o.Notify.settle, settleTime)
	f := files()
	p.mux.Handle("GET /", f)
	p.mux.HandleFunc("GET /link/{session}/", func(w http.ResponseWriter, r *http.Request) {
		http.StripPrefix("/link/"+r.PathValue("session"), f).ServeHTTP(w, r)
	})
	for _, base := range []string{"", "/link/{session}"} {
		p.mux.HandleFunc("POST "+base+"/pair", p.refuseAgents(p.pair))
		p.mux.HandleFunc("POST "+base+"/session", p.refuseAgents(p.prove))
		p.mux.HandleFunc("POST "+base+"/leave", p.known(p.leave))
		p.mux.HandleFunc("GET "+base+"/me", p.known(p.me))
		p.mux.HandleFunc("GET "+base+"/events", p.known(p.events))
		p.mux.HandleFunc("GET "+base+"/usage", p.known(p.usage))
		p.mux.HandleFunc("POST "+base+"/call/{operation}", p.known(p.call))
		p.mux.HandleFunc("GET "+base+"/attach", p.known(p.attach))
		p.mux.HandleFunc("GET "+base+"/push", p.known(p.pushKey))
		p.mux.HandleFunc("POST "+base+"/push", p.known(p.subscribe))
	}
	return p
}

// LinkPath is where a link to a session is opened: with a key of its own, beside that of a
// browser that is paired.
func LinkPath(session string) string { return "link/" + session + "/" }

// Server returns the HTTP server of the page, with its limits.
func (p *Page) Server() *http.Server {
	return &http.Server{
		Handler: p, ReadHeaderTimeout: httplimit.HeaderTime, IdleTimeout: httplimit.IdleTime, MaxHeaderBytes: httplimit.MaxHeader,
		ConnContext: withConnection,
	}
}

// ServeHTTP implements http.Handler, for Server.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	httplimit.Body(w, r, p.o.BodyTime, p.o.BodyPause)
	protect(w.Header())
	if err := p.o.Origin.check(r); err != nil {
		refuse(w, http.StatusForbidden, err)
		return
	}
	if to, ok := p.o.Origin.elsewhere(r); ok {
		http.Redirect(w, r, to, http.StatusTemporaryRedirect)
		return
	}
	p.mux.ServeHTTP(w, r)
}

// Close ends what is open.
func (p *Page) Close() {
	p.mu.Lock()
	for l := range p.open {
		l.cut()
	}
	p.mu.Unlock()
	p.engines.close()
}

// A handler serves a device that is paired.
type handler func(w http.ResponseWriter, r *http.Request, d devices.Device)

// errNotPaired refuses who shows no bearer, or that of a device that was revoked.
var errNotPaired = errors.New("this browser is not paired: open the link that `tandem web` prints")

// known serves requests that show the bearer of a paired device.
func (p *Page) known(serve handler) http.HandlerFunc {
	return p.refuseAgents(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		d, ok, err := p.deviceOf(r)
		switch {
		case err != nil:
			refuse(w, http.StatusInternalServerError, err)
		case !ok:
			refuse(w, http.StatusUnauthorized, errNotPaired)
		default:
			serve(w, r, d)
		}
	})
}

func (p *Page) deviceOf(r *http.Request) (devices.Device, bool, error) {
	id, ok := p.proofs.deviceOf(bearerOf(r), p.o.Origin.of(r))
	if !ok {
		return devices.Device{}, false, nil
	}
	d, ok, err := p.device(id, r.PathValue("session"))
	if err != nil || !ok {
		return d, false, err
	}
	if err := p.o.Book.Saw(d); err != nil {
		fmt.Fprintf(p.o.Log, "tandem: note that a device was here: %v\n", err)
	}
	return d, true, nil
}

// device returns a device with what it may do, if it is one of a link's, or of no link.
func (p *Page) device(id, link string) (devices.Device, bool, error) {
	d, ok, err := p.o.Book.Get(id)
	if err != nil || !ok || d.PairAgain() || d.Session != link {
		return d, false, err
	}
	d.ReadOnly = d.ReadOnly || p.o.ReadOnly || d.Session != ""
	return d, true, nil
}

// oldDevice returns the device that a browser was paired as with release 0.2.0.
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

// pair trades a code for a device that is known by a key.
func (p *Page) pair(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	var in struct{ Code, Key string }
	if err := readJSON(w, r, &in, maxSecret); err != nil {
		refuse(w, http.StatusBadRequest, err)
		return
	}
	if _, err := devices.ParseKey(in.Key); err != nil {
		refuse(w, http.StatusBadRequest, err)
		return
	}
	who := whoTries(r)
	if !p.tries.take(who, time.Now()) {
		w.Header().Set("Retry-After", "60")
		refuse(w, http.StatusTooManyRequests, errors.New("too many codes were tried: wait a minute"))
		return
	}
	d, err := p.o.Book.Pair(in.Code, browserName(r.UserAgent()), in.Key, p.o.Origin.of(r))
	switch {
	case errors.Is(err, devices.ErrNoCode):
		refuse(w, http.StatusForbidden, err)
		return
	case err != nil:
		refuse(w, http.StatusInternalServerError, err)
		return
	}
	p.tries.giveBack(who)
	p.forgetOld(w, r)
	clearCache(w)
	answer(w, p.tell(d))
}

// forgetOld ends what a browser had of release 0.2.0, once it is paired again.
func (p *Page) forgetOld(w http.ResponseWriter, r *http.Request) {
	if d, ok, err := p.oldDevice(r); ok && err == nil {
		if _, err := p.o.Book.Revoke(d.ID); err != nil {
			fmt.Fprintf(p.o.Log, "tandem: forget %s, which was paired again: %v\n", d.Name, err)
		}
	}
	for _, c := range r.Cookies() {
		if p.o.Origin.isOldCookie(c.Name) {
			http.SetCookie(w, p.o.Origin.noCookie(c.Name, r.PathValue("session")))
		}
	}
}

func (p *Page) leave(w http.ResponseWriter, _ *http.Request, d devices.Device) {
	if _, err := p.o.Book.Revoke(d.ID); err != nil {
		refuse(w, http.StatusInternalServerError, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// Me is the answer of /me and /pair, and a part of that of /session.
type Me struct {
	Device   string    `json:"device"` // id
	Name     string    `json:"name"`
	ReadOnly bool      `json:"read_only"`
	Session  string    `json:"session,omitempty"` // of a link: all that it shows
	Until    time.Time `json:"until,omitzero"`
	Version  string    `json:"version"`

	Clipboard bool `json:"clipboard"` // programs may write to the browser's
}

func (p *Page) me(w http.ResponseWriter, _ *http.Request, d devices.Device) { answer(w, p.tell(d)) }

func (p *Page) tell(d devices.Device) Me {
	readOnly := d.ReadOnly || p.o.ReadOnly || d.Session != ""
	clipboard := !readOnly && (p.o.NoClipboard == nil || !p.o.NoClipboard())
	return Me{d.ID, d.Name, readOnly, d.Session, d.Until, p.o.Version, clipboard}
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the browser may have gone
}

const (
	// maxBody bounds a request, in bytes.
	maxBody = 4 << 20
	// maxSecret bounds one of somebody who is not known yet.
	maxSecret = 1 << 10
	// bodyPause is how long a request's body may make no progress.
	bodyPause = 10 * time.Second
)

func readJSON(w http.ResponseWriter, r *http.Request, into any, most int64) error {
	r.Body = http.MaxBytesReader(w, r.Body, most)
	if err := json.NewDecoder(r.Body).Decode(into); err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	return nil
}

// A refusal is what is sent instead of an answer.
type refusal struct {
	Error string `json:"error"`
	Code  string `json:"code,omitempty"`
	Hint  string `json:"hint,omitempty"`
}

func refuse(w http.ResponseWriter, status int, err error) {
	out := refusal{Error: err.Error()}
	var e *api.Error
	if errors.As(err, &e) {
		out = refusal{e.Message, string(e.Code), e.Hint}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(out) // the browser may have gone
}
