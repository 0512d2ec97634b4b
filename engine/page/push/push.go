// Package push tells paired browsers that the person is needed, by web push (RFC 8030), also
// while they show no page. A push says which machine that is and nothing else: what is in it
// passes through the browser's maker, encrypted as it is (RFC 8291).
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
	// keep is how long a push service holds a push for a device that is off, in seconds.
	keep = 4 * 60 * 60
	// sendTime bounds a request to a push service.
	sendTime = 15 * time.Second
	// topic has a push service hold the latest push only.
	topic = "needs-you"
	// contact is whom a push service would write to (RFC 8292): it has to be an address, and
	// there is nobody who runs this server for others.
	contact = "tandem@example.com"
	// maxEndpoint bounds the address of a subscription.
	maxEndpoint = 2048
)

// A Sender sends pushes to the devices that want them.
type Sender struct {
	book *devices.Book
	keys keyFile
	log  io.Writer

	// HTTP reaches push services.
	HTTP *http.Client
}

// New is a sender with the keys of a data folder, which are made when they are needed first.
// It writes to log what a person should hear.
func New(dataDir string, book *devices.Book, log io.Writer) *Sender {
	return &Sender{
		book: book, log: log, keys: keyFile{path: filepath.Join(dataDir, datadir.Page, "push.json")},
		HTTP: &http.Client{Timeout: sendTime, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
}

// Key is the key that a browser subscribes with.
func (s *Sender) Key() (string, error) {
	k, err := s.keys.load()
	return k.Public, err
}

// Check refuses what is no subscription (W3C Push API, PushSubscription.toJSON).
func Check(subscription json.RawMessage) error {
	var s webpush.Subscription
	if err := json.Unmarshal(subscription, &s); err != nil {
		return fmt.Errorf("read the subscription: %w", err)
	}
	at, err := url.Parse(s.Endpoint)
	if err != nil || at.Scheme != "https" || at.Host == "" || len(s.Endpoint) > maxEndpoint {
		return errors.New("a push service has to be reached by https")
	}
	if len(decoded(s.Keys.P256dh)) != 65 || len(decoded(s.Keys.Auth)) != 16 {
		return errors.New("the subscription has no keys to encrypt for")
	}
	return nil
}

func decoded(key string) []byte {
	out, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(key, "="))
	if err != nil {
		return nil
	}
	return out
}

// Wanted reports whether a device wants pushes.
func (s *Sender) Wanted() bool {
	all, _ := s.book.List() // one that cannot be read is told of by whoever uses the page
	for _, d := range all {
		if wants(d) {
			return true
		}
	}
	return false
}

// wants reports whether a device is told; one that has to be paired again is not.
func wants(d devices.Device) bool { return d.Push != nil && !d.PairAgain() }

// Send tells all devices that want to hear it. A subscription that has ended is forgotten.
func (s *Sender) Send(ctx context.Context, text string) {
	all, err := s.book.List()
	if err != nil {
		fmt.Fprintf(s.log, "tandem: notify browsers: %v\n", err)
		return
	}
	var each sync.WaitGroup
	for _, d := range all {
		if !wants(d) {
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
	k, err := s.keys.load()
	if err != nil {
		return err
	}
	var to webpush.Subscription
	if err := json.Unmarshal(d.Push, &to); err != nil {
		return err
	}
	answer, err := webpush.SendNotificationWithContext(ctx, []byte(text), &to, &webpush.Options{
		HTTPClient: s.HTTP, Subscriber: contact, TTL: keep, Topic: topic, Urgency: webpush.UrgencyHigh,
		VAPIDPublicKey: k.Public, VAPIDPrivateKey: k.Private,
	})
	var asked *url.Error
	if errors.As(err, &asked) {
		return asked.Err // without the address: whoever knows that can send pushes
	}
	if err != nil {
		return err
	}
	answer.Body.Close()
	switch {
	case answer.StatusCode == http.StatusNotFound || answer.StatusCode == http.StatusGone:
		return s.book.Unsubscribe(d.ID, d.Push)
	case answer.StatusCode >= 300:
		return fmt.Errorf("its push service answers %s", answer.Status)
	}
	return nil
}
