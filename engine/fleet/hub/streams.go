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

	"tandem/engine/fleet"
	"tandem/engine/panics"
)

const (
	// hostsLife is how long a machine is known that says nothing any more, processesLife
	// how long a row that nobody writes again.
	hostsLife     = 90 * 24 * time.Hour
	processesLife = 24 * time.Hour
	startTimeout  = 10 * time.Second

	// MaxConsumers is how many consumers one member may have of a stream: one for each
	// engine that looks, and those of connections that were just lost.
	MaxConsumers = 16
	// maxConsumers is how many all members may have of a stream together.
	maxConsumers = 1000
	// consumerIdle is how long a consumer stays that nobody hears.
	consumerIdle = 30 * time.Second
	// sweepPause is the least time between two looks at the consumers.
	sweepPause = 100 * time.Millisecond
)

// buckets makes the streams of the buckets, as those of earlier releases too shall be. They
// are those of a key-value bucket without rollups: with one, a machine's key could delete the
// rows of all others.
func (h *Hub) buckets(ctx context.Context) error {
	js, err := jetstream.New(h.nats)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for bucket, life := range map[string]time.Duration{fleet.HostsBucket: hostsLife, fleet.ProcessesBucket: processesLife} {
		if s, err := js.Stream(ctx, streamOf(bucket)); err == nil {
			sweep(ctx, s) // what is beyond the limits would keep them from being set
		}
		_, err := js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
			Name: streamOf(bucket), Subjects: []string{"$KV." + bucket + ".>"},
			MaxMsgsPerSubject: 1, MaxAge: life, MaxMsgSize: 16 << 10, MaxMsgs: -1, MaxBytes: -1, MaxConsumers: -1,
			Discard: jetstream.DiscardNew, DenyDelete: true, AllowDirect: true, Duplicates: 2 * time.Minute, Replicas: 1,
			ConsumerLimits: jetstream.StreamConsumerLimits{InactiveThreshold: consumerIdle},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func streamOf(bucket string) string { return "KV_" + bucket }

// guardConsumers deletes consumers that members may not have, until ctx ends. Their
// permissions let them make one with a name and settings of their choice.
func (h *Hub) guardConsumers(ctx context.Context) error {
	js, err := jetstream.New(h.nats)
	if err != nil {
		return err
	}
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
				if s, err := js.Stream(ctx, streamOf(bucket)); err == nil {
					sweep(ctx, s)
				}
			}
			select {
			case <-time.After(sweepPause):
			case <-ctx.Done():
			}
		}
	}))
	return nil
}

// sweep deletes the consumers of a stream that are durable, deliver to anything but a
// person's inbox where somebody listens, or are more than one member may have, the oldest
// first. An error is one of the connection; the next look sees them again.
func sweep(ctx context.Context, s jetstream.Stream) {
	of := map[string][]*jetstream.ConsumerInfo{}
	for info := range s.ListConsumers(ctx).Info() {
		owner, ok := consumerOwner(info.Config)
		if !ok || !info.PushBound { // whose inbox it is cannot be known of one that nobody hears
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

// consumerOwner gives the inbox of the person that a consumer delivers to; ok is false for
// one that no member may have.
func consumerOwner(c jetstream.ConsumerConfig) (inbox string, ok bool) {
	inbox, rest, ok := strings.Cut(c.DeliverSubject, ".")
	return inbox, ok && rest != "" && c.Durable == "" && strings.HasPrefix(inbox, fleet.Inbox(fleet.KindPerson, ""))
}

// serve answers requests on a subject. Members can have the server write there too: rows,
// under their own subject, by a consumer, and its answers, which want none, by naming the
// subject as where to answer.
func (h *Hub) serve(subject string, answer func(*nats.Msg) any) error {
	_, err := h.nats.Subscribe(subject, func(m *nats.Msg) {
		panics.Log(slog.Default(), m.Subject, func() {
			if !fleet.Covers(subject, m.Subject) || !strings.HasPrefix(m.Reply, fleet.InboxPrefix) {
				return
			}
			text, err := json.Marshal(answer(m))
			if err == nil {
				_ = m.Respond(text) // who asked has a time limit
			}
		})
	})
	if err != nil {
		return fmt.Errorf("serve %s: %w", subject, err)
	}
	return nil
}
