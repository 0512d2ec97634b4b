package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tandem/engine/base/panics"
	"tandem/engine/base/sleep"
	"tandem/engine/remote/fleet"
)

const (
	// hostTTL and processTTL are how long the hub keeps a row after its last write.
	hostTTL      = 90 * 24 * time.Hour
	processTTL   = 24 * time.Hour
	startTimeout = 10 * time.Second

	// MaxConsumers is how many consumers one member may have on a stream: one per engine that
	// reads it, and those of connections just lost.
	MaxConsumers = 16
	// maxConsumers is how many consumers all members together may have on a stream.
	maxConsumers = 1000
	// idleTimeout is how long the server keeps a consumer without a subscriber.
	idleTimeout = 30 * time.Second
	// sweepInterval is the minimum time between two sweeps of the consumers.
	sweepInterval = 100 * time.Millisecond
)

// createBuckets creates the streams of the buckets, or updates those of earlier releases. They are
// configured like a key-value bucket, but without rollups: with them, any machine's key could
// delete the rows of all others.
func (h *Hub) createBuckets(ctx context.Context) error {
	js, err := jetstream.New(h.nats)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for bucket, ttl := range map[string]time.Duration{fleet.HostsBucket: hostTTL, fleet.ProcessesBucket: processTTL} {
		if s, err := js.Stream(ctx, streamName(bucket)); err == nil {
			// The server rejects limits exceeded by existing consumers.
			sweepConsumers(ctx, s)
		}
		_, err := js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
			Name: streamName(bucket), Subjects: []string{"$KV." + bucket + ".>"},
			MaxMsgsPerSubject: 1, MaxAge: ttl, MaxMsgSize: 16 << 10, MaxMsgs: -1, MaxBytes: -1, MaxConsumers: -1,
			Discard: jetstream.DiscardNew, DenyDelete: true, AllowDirect: true, Duplicates: 2 * time.Minute, Replicas: 1,
			ConsumerLimits: jetstream.StreamConsumerLimits{InactiveThreshold: idleTimeout},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func streamName(bucket string) string { return "KV_" + bucket }

// guardConsumers deletes disallowed consumers until ctx is done. NATS permissions let a member
// create a consumer with any name and settings.
func (h *Hub) guardConsumers(ctx context.Context) error {
	js, err := jetstream.New(h.nats)
	if err != nil {
		return err
	}
	// One pending sweep covers any number of new consumers.
	made := make(chan struct{}, 1)
	_, err = h.nats.Subscribe("$JS.EVENT.ADVISORY.CONSUMER.CREATED.>", func(*nats.Msg) {
		select {
		case made <- struct{}{}:
		default:
		}
	})
	if err != nil {
		return err
	}
	h.running.Go(panics.Restarted(ctx, slog.Default(), "consumers", func() {
		for {
			select {
			case <-made:
			case <-ctx.Done():
				return
			}
			for _, bucket := range []string{fleet.HostsBucket, fleet.ProcessesBucket} {
				if s, err := js.Stream(ctx, streamName(bucket)); err == nil {
					sweepConsumers(ctx, s)
				}
			}
			_ = sleep.For(ctx, sweepInterval)
		}
	}))
	return nil
}

// sweepConsumers deletes the consumers of a stream that are durable or do not deliver to a user's
// inbox with a subscriber, and, oldest first, those over a member's limit. Errors mean that the
// connection failed; the next sweep retries.
func sweepConsumers(ctx context.Context, s jetstream.Stream) {
	of := map[string][]*jetstream.ConsumerInfo{}
	for info := range s.ListConsumers(ctx).Info() {
		owner, ok := consumerOwner(info.Config)
		// Without a subscriber, the owner of the inbox is unverified.
		if !ok || !info.PushBound {
			_ = s.DeleteConsumer(ctx, info.Name)
			continue
		}
		of[owner] = append(of[owner], info)
	}
	for _, all := range of {
		slices.SortFunc(all, func(a, b *jetstream.ConsumerInfo) int {
			return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.Name, b.Name))
		})
		for _, info := range all[:max(len(all)-MaxConsumers, 0)] {
			_ = s.DeleteConsumer(ctx, info.Name)
		}
	}
}

// consumerOwner returns the user's inbox to which a consumer delivers. ok is false if members may
// not have such a consumer.
func consumerOwner(c jetstream.ConsumerConfig) (inbox string, ok bool) {
	inbox, rest, ok := strings.Cut(c.DeliverSubject, ".")
	return inbox, ok && rest != "" && c.Durable == "" && strings.HasPrefix(inbox, fleet.Inbox(fleet.KindPerson, ""))
}

// serveSubject answers requests on a subject. It ignores messages that members can make the server
// publish there: rows delivered by a consumer, which keep their own subject, and the server's
// replies to requests naming this subject, which have no reply subject.
func (h *Hub) serveSubject(subject string, answer func(*nats.Msg) any) error {
	_, err := h.nats.Subscribe(subject, func(m *nats.Msg) {
		panics.Log(slog.Default(), m.Subject, func() {
			if !fleet.Covers(subject, m.Subject) || !strings.HasPrefix(m.Reply, fleet.InboxPrefix) {
				return
			}
			text, err := json.Marshal(answer(m))
			if err == nil {
				_ = m.Respond(text) // a client without a reply times out
			}
		})
	})
	if err != nil {
		return fmt.Errorf("serve %s: %w", subject, err)
	}
	return nil
}
