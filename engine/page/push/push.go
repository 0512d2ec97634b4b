// Package push notifies paired browsers that the user is needed, by web push (RFC 8030), even
// while they do not show the page. A push contains only the name of the machine: it passes through
// the browser vendor's servers, although encrypted (RFC 8291).
package push

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/SherClockHolmes/webpush-go"

	"tandem/engine/page/devices"
	"tandem/persist/datadir"
)

const (
	// pushTTL is how long a push service stores a push for an offline device, in seconds.
	pushTTL = 4 * 60 * 60
	// sendTimeout bounds a request to a push service.
	sendTimeout = 15 * time.Second
	// topic makes a push service store only the latest push.
	topic = "needs-you"
	// contact is the address for questions of push services (RFC 8292 requires one). It is a
	// placeholder, since users run this server for themselves.
	contact = "tandem@example.com"
	// maxEndpoint bounds the length of a subscription's URL.
	maxEndpoint = 2048
)

// A Sender sends pushes to subscribed devices.
type Sender struct {
	book *devices.Book
	keys keyFile
	log  io.Writer

	// HTTP is the client for requests to push services.
	HTTP *http.Client
}

// New returns a sender with the keys in the data directory dataDir, created on first use. It
// writes messages for the user to log.
func New(dataDir string, book *devices.Book, log io.Writer) *Sender {
	return &Sender{
		book: book, log: log, keys: keyFile{path: filepath.Join(dataDir, datadir.Page, "push.json")},
		HTTP: &http.Client{Timeout: sendTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
}

// Key returns the public key a browser subscribes with.
func (s *Sender) Key() (string, error) {
	k, err := s.keys.loadOrCreate()
	return k.Public, err
}

// Check rejects an invalid subscription (W3C Push API, PushSubscription.toJSON).
func Check(subscription json.RawMessage) error {
	var s webpush.Subscription
	if err := json.Unmarshal(subscription, &s); err != nil {
		return fmt.Errorf("read the subscription: %w", err)
	}
	at, err := url.Parse(s.Endpoint)
	if err != nil || at.Scheme != "https" || at.Host == "" || len(s.Endpoint) > maxEndpoint {
		return errors.New("a push service must use https")
	}
	if len(decodeKey(s.Keys.P256dh)) != 65 || len(decodeKey(s.Keys.Auth)) != 16 {
		return errors.New("the subscription has no encryption keys")
	}
	return nil
}

func decodeKey(key string) []byte {
	out, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(key, "="))
	if err != nil {
		return nil
	}
	return out
}

// Wanted reports whether any device wants pushes.
func (s *Sender) Wanted() bool {
	all, _ := s.book.List() // requests of the page report read errors
	for _, d := range all {
		if wantsPush(d) {
			return true
		}
	}
	return false
}

// wantsPush reports whether a device wants pushes. A device that must be paired again does not count.
func wantsPush(d devices.Device) bool { return d.Push != nil && !d.PairAgain() }

// Send sends a push to all subscribed devices. It removes expired subscriptions.
func (s *Sender) Send(ctx context.Context, text string) {
	all, err := s.book.List()
	if err != nil {
		fmt.Fprintf(s.log, "tandem: notify browsers: %v\n", err)
		return
	}
	var each sync.WaitGroup
	for _, d := range all {
		if !wantsPush(d) {
			continue
		}
		each.Go(func() {
			if err := s.sendTo(ctx, d, text); err != nil {
				fmt.Fprintf(s.log, "tandem: notify %s: %v\n", d.Name, err)
			}
		})
	}
	each.Wait()
}

func (s *Sender) sendTo(ctx context.Context, d devices.Device, text string) error {
	k, err := s.keys.loadOrCreate()
	if err != nil {
		return err
	}
	var to webpush.Subscription
	if err := json.Unmarshal(d.Push, &to); err != nil {
		return err
	}
	answer, err := webpush.SendNotificationWithContext(ctx, []byte(text), &to, &webpush.Options{
		HTTPClient: s.HTTP, Subscriber: contact, TTL: pushTTL, Topic: topic, Urgency: webpush.UrgencyHigh,
		VAPIDPublicKey: k.Public, VAPIDPrivateKey: k.Private,
	})
	var asked *url.Error
	if errors.As(err, &asked) {
		return asked.Err // without the URL, which would allow others to send pushes
	}
	if err != nil {
		return err
	}
	answer.Body.Close()
	switch {
	// The subscription has expired, see RFC 8030, section 7.3.
	case answer.StatusCode == http.StatusNotFound || answer.StatusCode == http.StatusGone:
		return s.book.Unsubscribe(d.ID, d.Push)
	case answer.StatusCode >= 300:
		return fmt.Errorf("its push service answered %s", answer.Status)
	}
	return nil
}
